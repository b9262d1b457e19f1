/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/eventlog/recording/frame.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "proto/eventlog/recording/limits.h"

#define SKIPPABLE_MAGIC 0x184d2a57u
#define CHECKED_BYTES   (FRAME_HEAD_BYTES - 4u)
#define LEVEL           -1 /* of zstd: the fastest one that still finds matches at any distance */

/* ------------------------------------------------------------------- index */

static void put_number(uint8_t **p, uint64_t value, unsigned width)
{
        for (unsigned i = 0; i < width; i++)
                *(*p)++ = (uint8_t)(value >> (8 * i));
}

static uint64_t get_number(const uint8_t **p, unsigned width)
{
        uint64_t value = 0;

        for (unsigned i = 0; i < width; i++)
                value |= (uint64_t) * (*p)++ << (8 * i);
        return value;
}

/* FNV-1a of 32 bits (Fowler, Noll, Vo): against torn writes, not against forgers. */
static uint32_t check_of(const uint8_t *bytes)
{
        uint32_t sum = 0x811c9dc5u;

        for (unsigned i = 0; i < CHECKED_BYTES; i++)
                sum = (sum ^ bytes[i]) * 0x01000193u;
        return sum;
}

static void head_write(uint8_t *bytes, const struct frame_head *h)
{
        uint8_t *p = bytes;

        put_number(&p, SKIPPABLE_MAGIC, 4);
        put_number(&p, FRAME_HEAD_BYTES - 8, 4);
        memcpy(p, "HWF2", 4);
        p += 4;
        put_number(&p, h->stored, 4);
        put_number(&p, h->raw, 4);
        put_number(&p, h->ordinal, 4);
        put_number(&p, h->begin_ns, 8);
        put_number(&p, h->end_ns, 8);
        put_number(&p, h->wall_ns, 8);
        put_number(&p, h->lost_bytes, 8);
        put_number(&p, h->offset, 8);
        put_number(&p, h->lost_frames, 4);
        put_number(&p, check_of(bytes), 4);
}

bool frame_head_read(const uint8_t *bytes, struct frame_head *ret_head)
{
        const uint8_t *p = bytes;
        struct frame_head h;

        if (get_number(&p, 4) != SKIPPABLE_MAGIC || get_number(&p, 4) != FRAME_HEAD_BYTES - 8 ||
            memcmp(p, "HWF2", 4) != 0)
                return false;
        p += 4;
        h.stored = (uint32_t)get_number(&p, 4);
        h.raw = (uint32_t)get_number(&p, 4);
        h.ordinal = (uint32_t)get_number(&p, 4);
        h.begin_ns = get_number(&p, 8);
        h.end_ns = get_number(&p, 8);
        h.wall_ns = get_number(&p, 8);
        h.lost_bytes = get_number(&p, 8);
        h.offset = get_number(&p, 8);
        h.lost_frames = (uint32_t)get_number(&p, 4);
        if (get_number(&p, 4) != check_of(bytes))
                return false;
        if (h.raw > FRAME_RAW_MAX || h.stored > ZSTD_compressBound(FRAME_RAW_MAX))
                return false;
        *ret_head = h;
        return true;
}

/* ----------------------------------------------------------------- packing */

struct frame_packer {
        ZSTD_CCtx *context;
        size_t capacity; /* of `out` after the index */
        uint8_t *out;
};

struct frame_packer *frame_packer_new(void)
{
        struct frame_packer *p = calloc(1, sizeof(*p));

        if (!p)
                return NULL;
        p->capacity = ZSTD_compressBound(FRAME_RAW_MAX);
        p->out = malloc(FRAME_HEAD_BYTES + p->capacity);
        p->context = ZSTD_createCCtx();
        if (!p->out || !p->context ||
            ZSTD_isError(ZSTD_CCtx_setParameter(p->context, ZSTD_c_compressionLevel, LEVEL)) ||
            ZSTD_isError(ZSTD_CCtx_setParameter(p->context, ZSTD_c_checksumFlag, 1)))
                frame_packer_destroy(&p);
        return p;
}

void frame_packer_destroy(struct frame_packer **pp)
{
        struct frame_packer *p = *pp;

        *pp = NULL;
        if (!p)
                return;
        ZSTD_freeCCtx(p->context);
        free(p->out);
        free(p);
}

const uint8_t *frame_pack(struct frame_packer *p, const struct frame_head *head, const uint8_t *blocks,
                          size_t *ret_size)
{
        struct frame_head h = *head;
        size_t stored = ZSTD_compress2(p->context, p->out + FRAME_HEAD_BYTES, p->capacity, blocks, h.raw);

        if (ZSTD_isError(stored))
                return NULL;
        h.stored = (uint32_t)stored;
        head_write(p->out, &h);
        *ret_size = FRAME_HEAD_BYTES + stored;
        return p->out;
}

struct frame_unpacker {
        ZSTD_DCtx *context;
        uint8_t out[FRAME_RAW_MAX];
};

struct frame_unpacker *frame_unpacker_new(void)
{
        struct frame_unpacker *u = malloc(sizeof(*u));

        if (u && !(u->context = ZSTD_createDCtx())) {
                free(u);
                u = NULL;
        }
        return u;
}

void frame_unpacker_destroy(struct frame_unpacker **up)
{
        if (*up)
                ZSTD_freeDCtx((*up)->context);
        free(*up);
        *up = NULL;
}

uint8_t *frame_unpack(struct frame_unpacker *u, const struct frame_head *head, const uint8_t *stored)
{
        size_t raw = ZSTD_decompressDCtx(u->context, u->out, sizeof(u->out), stored, head->stored);

        return ZSTD_isError(raw) || raw != head->raw ? NULL : u->out;
}
