/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pending.h - what was seen of one run since it was last written: sums by interval, which a writer adds to those on
 * disk.
 *
 * DESIGN: this is never a copy of a row on disk, only what has to be added to it. So a row can be written any number of
 * times, a failed write is simply done later with more data, and what a killed writer had not written is missing in its
 * minute, but nothing is counted twice. Pure; times are Unix times.
 */
#ifndef HW_CLIENT_ARCHIVE_PENDING_H
#define HW_CLIENT_ARCHIVE_PENDING_H

#include "proto/base/idtable.h"
#include "proto/facts/cell.h"

/* Of a series in one minute, or of a band in ten minutes: over the censuses that had it. */
struct pending_cell {
        struct {
                uint64_t time_s; /* its start */
                uint64_t of;     /* the series, the band, the pauses */
        } key;
        struct cell cell;
        double area; /* of a series: under the lines between samples, in the unit times ns */
        uint64_t covered_ns;
        double rise; /* of a counter */
};

struct pending_cells {
        struct pending_cell *items;
        size_t n, capacity;
        struct idtable by_key; /* ids: places in `items`, from 1 */
};

/* All bytes 0: empty. */
struct pending {
        struct pending_cells minutes, bands;
        struct pending_cells pauses; /* in ten minutes, of pending_pause(): their number is cell.n */
        uint64_t seed;               /* of hashes; 0: not chosen yet */
        size_t n;                    /* of all of them */
        uint64_t lost;               /* samples without room or memory */
};

void pending_done(struct pending *p);

/* One sample of a series. */
void pending_sample(struct pending *p, uint64_t series, uint64_t time_ns, double value);

/* A value went in a straight line from v0 to v1. */
void pending_line(struct pending *p, uint64_t series, uint64_t from_ns, uint64_t to_ns, double v0, double v1);

/* A counter rose by `amount`, evenly over the time; all of it at to_ns if both are equal. */
void pending_rise(struct pending *p, uint64_t series, uint64_t from_ns, uint64_t to_ns, double amount);

/* Pauses of a generation that are in the same cell of a sketch (proto/base/sketch.h), as `of` of a key. */
static inline uint64_t pending_pause(uint32_t generation, uint32_t cell)
{
        return (uint64_t)generation << 32 | cell;
}

void pending_add_pause(struct pending *p, uint64_t time_ns, uint32_t generation, uint64_t pause_ns);

/* A band's bytes in a census. */
void pending_add_band(struct pending *p, uint64_t time_ns, uint64_t band, double bytes);

/* The precision of pauses. Their cell is written as its middle, which lies in the same cell. */
#define PENDING_PAUSE_BITS 8u

#endif
