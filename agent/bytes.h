/* SPDX-License-Identifier: BSD-3-Clause */
/* bytes.h - big-endian numbers of the eventlog. The caller has checked that the bytes are there. */
#ifndef HW_AGENT_BYTES_H
#define HW_AGENT_BYTES_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t get_be(const uint8_t *at, size_t n)
{
        uint64_t v = 0;

        while (n--)
                v = v << 8 | *at++;
        return v;
}

static inline void put_be(uint8_t *at, uint64_t v, size_t n)
{
        while (n--) {
                at[n] = (uint8_t)v;
                v >>= 8;
        }
}

#endif
