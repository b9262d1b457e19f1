/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: protobuf-c walks each message three times, by descriptors: sizes,
 * sizes of nested messages again, bytes. For a band's definition, seven texts
 * in two messages, that is 2,500 instructions; for the two arrays of a census
 * 10 ns per row. By hand it is 830 and 4 ns. Only what comes by the thousand is
 * packed here; everything else is left to protobuf-c.
 *
 * The room doubles when it is full; the old one stays in the arena until it is
 * reset. 64 bits take at most 10 bytes, with seven bits in each.
 */
#include "daemon/publish/packer.h"

#include <string.h>

#include "proto/base/ckd.h"
#include "heapwatch/text.h"

#define ROOM_LEAST  256u
#define VARINT_MAX  PACKER_INTEGER_MAX
#define TYPE_VARINT 0u

void packer_init(struct packer *p, struct encoder *e, size_t room)
{
        *p = (struct packer){ .encoder = e, .size = room > ROOM_LEAST ? room : ROOM_LEAST };
}

static bool grow(struct packer *p, size_t n)
{
        size_t used = packer_used(p), size = p->size, need;

        if (ckd_add(&need, used, n)) {
                p->encoder->failed = true;
                return false;
        }
        while (size < need && size <= SIZE_MAX / 2)
                size *= 2;
        uint8_t *room = size < need ? NULL : arena_alloc(&p->encoder->arena, size);
        if (!room) {
                p->encoder->failed = true;
                return false;
        }
        if (used)
                memcpy(room + size - used, p->room + p->at, used);
        p->room = room;
        p->at = size - used;
        p->size = size;
        return true;
}

/* Room for n more bytes in front; false when out of memory. */
static inline bool ensure(struct packer *p, size_t n)
{
        return n <= p->at || grow(p, n);
}

/* An integer that ends at `end`; returns where it begins. Most are tags and lengths of one byte. */
static inline uint8_t *put_integer(uint8_t *end, uint64_t v)
{
        if (v > 0x7f) {
                end -= (unsigned)(63 - __builtin_clzll(v)) / 7 + 1;
                (void)packer_put_bytewise(end, v);
                return end;
        }
        *--end = (uint8_t)v;
        return end;
}

/* The tag of a field and an integer. There must be room. */
static inline void put_tagged(struct packer *p, unsigned field, unsigned type, uint64_t v)
{
        uint8_t *begin = put_integer(p->room + p->at, v);

        p->at = (size_t)(put_integer(begin, (uint64_t)field << 3 | type) - p->room);
}

void packer_u64(struct packer *p, unsigned field, uint64_t value)
{
        if (!ensure(p, 2 * VARINT_MAX))
                return;
        put_tagged(p, field, TYPE_VARINT, value);
}

void packer_known_u64(struct packer *p, unsigned field, uint64_t value)
{
        if (value != UNKNOWN_U64)
                packer_u64(p, field, value);
}

/* Bytes that are valid UTF-8. */
static void put_text(struct packer *p, unsigned field, const char *text, size_t size)
{
        if (size > SIZE_MAX - 2 * VARINT_MAX || !ensure(p, size + 2 * VARINT_MAX))
                return;
        p->at -= size;
        memcpy(p->room + p->at, text, size);
        put_tagged(p, field, PACKER_BYTES, size);
}

void packer_text(struct packer *p, unsigned field, const char *text)
{
        text = encoder_text(p->encoder, text);
        if (text)
                put_text(p, field, text, strlen(text));
}

void packer_sized_text(struct packer *p, unsigned field, const char *text, size_t size)
{
        if (hw_utf8_valid(text, size))
                put_text(p, field, text, size);
        else
                packer_text(p, field, text);
}

void packer_message(struct packer *p, unsigned field, size_t since)
{
        if (!ensure(p, 2 * VARINT_MAX))
                return;
        put_tagged(p, field, PACKER_BYTES, packer_used(p) - since);
}

/* Written at the front of the room, then moved to where it belongs, so that its length need not be guessed. */
uint8_t *packer_array(struct packer *p, size_t n)
{
        size_t bytes;

        if (ckd_mul(&bytes, n, VARINT_MAX) || !ensure(p, bytes)) {
                p->encoder->failed = true;
                return NULL;
        }
        return p->room;
}

void packer_array_end(struct packer *p, unsigned field, const uint8_t *end)
{
        size_t since = packer_used(p), size = (size_t)(end - p->room);

        p->at -= size;
        memmove(p->room + p->at, p->room, size);
        packer_message(p, field, since);
}

bool packer_attach(const struct packer *p, unsigned field, ProtobufCMessage *message)
{
        const uint8_t *bytes = p->room + p->at;
        size_t tag_size = 1;

        if (p->encoder->failed)
                return false;
        if (!packer_used(p))
                return true;
        ProtobufCMessageUnknownField *unknown = encoder_calloc(p->encoder, 1, sizeof(*unknown));
        if (!unknown)
                return false;
        while (bytes[tag_size - 1] & 0x80)
                tag_size++;
        *unknown = (ProtobufCMessageUnknownField){
                .tag = field,
                .wire_type = (ProtobufCWireType)(bytes[0] & 7),
                .len = packer_used(p) - tag_size,
                .data = (uint8_t *)bytes + tag_size, /* packing only reads */
        };
        message->n_unknown_fields = 1;
        message->unknown_fields = unknown;
        return true;
}
