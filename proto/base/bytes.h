/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bytes.h - big-endian numbers, read and written byte by byte: no alignment, no
 * casts. Compilers make one load and swap of each. And the marker that a block
 * of an eventlog begins with, which the agent, recordings and readers write.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline uint16_t be16(const uint8_t *p)
{
        return (uint16_t)((uint16_t)p[0] << 8 | p[1]);
}

static inline uint32_t be32(const uint8_t *p)
{
        return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t be64(const uint8_t *p)
{
        return (uint64_t)p[0] << 56 | (uint64_t)p[1] << 48 | (uint64_t)p[2] << 40 | (uint64_t)p[3] << 32 |
               (uint64_t)p[4] << 24 | (uint64_t)p[5] << 16 | (uint64_t)p[6] << 8 | p[7];
}

/* The lowest `width` bytes of the value. */
static inline void put_be(uint8_t *p, uint64_t value, size_t width)
{
        while (width-- > 0) {
                p[width] = (uint8_t)value;
                value >>= 8;
        }
}

#define BLOCK_MARKER       18u
#define BLOCK_MARKER_BYTES 24u /* as an event: id, begin, size, end, capability */

static inline uint64_t block_marker_begin_ns(const uint8_t *p)
{
        return be64(p + 2);
}

static inline uint64_t block_marker_end_ns(const uint8_t *p)
{
        return be64(p + 14);
}

/* What the marker says that a block begins with. */
struct block_marker {
        uint64_t begin_ns, end_ns;
        uint32_t size; /* of the block in bytes, with its marker */
        uint16_t cap;  /* HW_CAP_NONE: of no capability */
};

/* False: these BLOCK_MARKER_BYTES are no marker, or one that no block can have. */
static inline bool block_marker_read(const uint8_t *p, struct block_marker *ret)
{
        *ret = (struct block_marker){ block_marker_begin_ns(p), block_marker_end_ns(p), be32(p + 10), be16(p + 22) };
        return be16(p) == BLOCK_MARKER && ret->size >= BLOCK_MARKER_BYTES && ret->end_ns >= ret->begin_ns;
}

static inline void block_marker_set_begin(uint8_t *p, uint64_t begin_ns)
{
        put_be(p + 2, begin_ns, 8);
}

/* The block is complete: `size` as above. */
static inline void block_marker_close(uint8_t *p, size_t size, uint64_t end_ns)
{
        put_be(p + 10, size, 4);
        put_be(p + 14, end_ns, 8);
}

static inline void block_marker_write(uint8_t *p, uint64_t begin_ns, uint64_t end_ns, size_t size, uint16_t cap)
{
        put_be(p, BLOCK_MARKER, 2);
        block_marker_set_begin(p, begin_ns);
        block_marker_close(p, size, end_ns);
        put_be(p + 22, cap, 2);
}
