/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * packer.h - a hand-written packer for messages of many rows, into the
 * encoder's arena.
 *
 * Bytes are written from the last to the first, so that a length is known when
 * it is written in front of its content: fields are put in descending order.
 * The result goes into a message of protobuf-c as an unknown field: those are
 * packed as they are, and readers of the message see the real field.
 *
 * Out of memory is reported in encoder->failed; the bytes are then useless.
 */
#ifndef HW_DAEMON_PUBLISH_PACKER_H
#define HW_DAEMON_PUBLISH_PACKER_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "proto/base/strings.h"
#include "daemon/publish/encode.h"

#define PACKER_BYTES       2u  /* of a field: texts, messages, arrays */
#define PACKER_INTEGER_MAX 10u /* bytes of an integer without its tag */

struct packer {
        struct encoder *encoder;
        uint8_t *room;   /* in the arena; the bytes are room[at..size) */
        size_t at, size; /* size before there is a room: its first size */
};

/* `room`: an estimate of the final size. */
void packer_init(struct packer *p, struct encoder *e, size_t room);

/* Bytes so far. */
static inline size_t packer_used(const struct packer *p)
{
        return p->room ? p->size - p->at : 0;
}

/* An integer. */
void packer_u64(struct packer *p, unsigned field, uint64_t value);

/* The same, unless it is UNKNOWN_U64. */
void packer_known_u64(struct packer *p, unsigned field, uint64_t value);

/* A text, made valid UTF-8; NULL: nothing. */
void packer_text(struct packer *p, unsigned field, const char *text);

/* The same, of known length. */
void packer_sized_text(struct packer *p, unsigned field, const char *text, size_t size);

/* The same, for a text interned by the model; field < 16. Nearly all are short and ASCII: two bytes and a copy. */
static inline void packer_interned(struct packer *p, unsigned field, const char *text)
{
        struct strings_head head = text ? strings_head(text) : (struct strings_head){ 0 };

        if (!head.ascii || head.size > 0x7f || head.size + 2u > p->at) {
                packer_text(p, field, text);
                return;
        }
        p->at -= head.size + 2u;
        uint8_t *out = p->room + p->at;
        out[0] = (uint8_t)(field << 3 | PACKER_BYTES);
        out[1] = (uint8_t)head.size;
        memcpy(out + 2, text, head.size);
}

/* Closes a nested message of everything put since packer_used() was `since`. */
void packer_message(struct packer *p, unsigned field, size_t since);

/*
 * A packed array of at most n integers: write them, in order, from the returned place with packer_put(), then pass the
 * place after the last to packer_array_end(). NULL when out of memory.
 */
uint8_t *packer_array(struct packer *p, size_t n);
void packer_array_end(struct packer *p, unsigned field, const uint8_t *end);

/* Seven bits per byte, the lowest first. Returns the place after it. */
static inline uint8_t *packer_put_bytewise(uint8_t *out, uint64_t v)
{
        for (; v > 0x7f; v >>= 7)
                *out++ = (uint8_t)(v | 0x80);
        *out++ = (uint8_t)v;
        return out;
}

/*
 * The same. What fits into four bytes is spread over them without a loop, and one store writes all four: there must
 * be room for them.
 */
static inline uint8_t *packer_put(uint8_t *out, uint64_t v)
{
        static const uint32_t more_follow[] = { 0, 0x80, 0x8080, 0x808080 };

        if (v < UINT64_C(1) << 28) {
                uint32_t x = (uint32_t)v, more = (x >= 1u << 7) + (x >= 1u << 14) + (x >= 1u << 21);
                uint32_t four = (x & 0x7f) | (x & 0x3f80) << 1 | (x & 0x1fc000) << 2 | (x & 0xfe00000) << 3;

                four = htole32(four | more_follow[more]);
                memcpy(out, &four, sizeof(four));
                return out + more + 1;
        }
        return packer_put_bytewise(out, v);
}

#define BANDS_BANDS 1u /* hw.Bands.bands */

/* Prefetches the texts of a band (NULL: none) that will be packed soon. */
void prefetch_band(const struct band *band);

/* A band's definition, one of hw.Bands. `snapshot`: with what the censuses told that a late joiner missed. */
void pack_band(struct packer *p, const struct bands *bands, const struct band *band, bool snapshot);

/* Adds everything put to `message` as fields, the first of which is number `field`. False when out of memory. */
bool packer_attach(const struct packer *p, unsigned field, ProtobufCMessage *message);

#endif
