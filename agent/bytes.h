/* SPDX-License-Identifier: BSD-3-Clause */
/* bytes.h - big-endian numbers of the eventlog, and block markers. The caller has checked that the bytes are there. */
#pragma once

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

#define BLOCK_MARKER       18 /* the event's number */
#define BLOCK_MARKER_BYTES 24

/* Before `n` bytes of events of one capability, whose times are within these. */
static inline void put_block_marker(uint8_t *at, uint16_t capability, size_t n, uint64_t begin_ns, uint64_t end_ns)
{
        put_be(at, BLOCK_MARKER, 2);
        put_be(at + 2, begin_ns, 8);
        put_be(at + 10, BLOCK_MARKER_BYTES + n, 4);
        put_be(at + 14, end_ns, 8);
        put_be(at + 22, capability, 2);
}
