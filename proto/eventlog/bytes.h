/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bytes.h - big-endian numbers, read and written byte by byte: no alignment, no
 * casts. Compilers make one load and swap of each.
 */
#pragma once

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
static inline void put_be(uint8_t *p, uint64_t value, unsigned width)
{
        while (width-- > 0) {
                p[width] = (uint8_t)value;
                value >>= 8;
        }
}
