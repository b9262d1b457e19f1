/* SPDX-License-Identifier: BSD-3-Clause */
/* draft.h - an eventlog that a test writes byte by byte. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A log under construction. */
struct draft {
        uint8_t p[200000];
        size_t size;
};

static inline void put(struct draft *d, uint64_t value, unsigned bytes)
{
        while (bytes-- > 0)
                d->p[d->size++] = (uint8_t)(bytes < 8 ? value >> 8 * bytes : 0);
}

static inline void put_type(struct draft *d, uint16_t id, uint16_t size)
{
        put(d, 0x65746200, 4);
        put(d, id, 2);
        put(d, size, 2);
        put(d, 3, 4);
        put(d, 0x616263, 3);
        put(d, 2, 4); /* an extension */
        put(d, 0xffff, 2);
        put(d, 0x65746500, 4);
}

static inline void put_header(struct draft *d, const uint16_t (*types)[2], size_t n)
{
        put(d, 0x6864726268657462, 8);
        for (size_t i = 0; i < n; i++)
                put_type(d, types[i][0], types[i][1]);
        put(d, 0x6865746568647265, 8);
        put(d, 0x64617462, 4);
}

static inline void put_event(struct draft *d, uint16_t id, uint64_t time_ns)
{
        put(d, id, 2);
        put(d, time_ns, 8);
}
