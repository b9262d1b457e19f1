/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * packed_cell.h - a cell with co-moments (cell.h) in 44 bytes instead of 80, and in 12 when it has one sample, for
 * those that are only kept.
 *
 * Times are fixed-point numbers of 32 bits within the interval: exact in one of up to 4 s, to 256 ns in one of 10 min.
 * The last value is kept as it is. Mean, least and largest are single-precision distances from it, moments are single
 * precision: to 2^-24, which is exact for whole values that lie within 16 million of each other.
 */
#ifndef HW_PROTO_FACTS_PACKED_CELL_H
#define HW_PROTO_FACTS_PACKED_CELL_H

#include "proto/facts/cell.h"

struct packed_sample {
        uint32_t t;       /* since the interval began */
        uint32_t last[2]; /* a double, which would make the struct larger */
};

struct packed_cell {
        struct packed_sample last;
        uint32_t n;             /* stays at its largest value; 0: empty */
        uint32_t t_mean;        /* since the interval began */
        float v_mean, min, max; /* less `last` */
        float m_tt, m_tv, m_vv;
};

/* Of the interval [start_ns, start_ns + width_ns). */
struct packed_cell packed_cell_of(const struct trend_cell *cell, uint64_t start_ns, uint64_t width_ns);
struct trend_cell packed_cell_unpack(const struct packed_cell *packed, uint64_t start_ns, uint64_t width_ns);

/* As the packing of a pyramid (pyramid.h). */
bool any_packed_cell_pack(void *packed, const void *cell, uint64_t start_ns, uint64_t width_ns);
void any_packed_cell_unpack(void *cell, const void *packed, bool single, uint64_t start_ns, uint64_t width_ns);

#define PACKED_CELL                                                                                                    \
        {                                                                                                              \
                { sizeof(struct packed_cell), sizeof(struct packed_sample) }, any_packed_cell_pack,                    \
                        any_packed_cell_unpack                                                                         \
        }

#endif
