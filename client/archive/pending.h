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

#include <uthash.h>

#include "proto/facts/cell.h"

/* Of a series in one minute, or of a band in ten minutes: over the censuses that had it. */
struct pending_cell {
        struct {
                uint64_t time_s; /* its start */
                uint64_t of;     /* the series, the band */
        } key;
        struct cell cell;
        double area; /* of a series: under the lines between samples, in the unit times ns */
        uint64_t covered_ns;
        double rise; /* of a counter */
        UT_hash_handle hh;
};

/* Pauses of one cell (proto/base/sketch.h) in ten minutes. */
struct pending_pause {
        struct {
                uint64_t time_s;
                uint32_t generation, cell;
        } key;
        uint64_t n;
        UT_hash_handle hh;
};

/* All bytes 0: empty. */
struct pending {
        struct pending_cell *minutes, *bands;
        struct pending_pause *pauses;
        size_t n;      /* of all of them */
        uint64_t lost; /* samples without room or memory */
};

void pending_done(struct pending *p);

/* One sample of a series. */
void pending_sample(struct pending *p, uint64_t series, uint64_t time_ns, double value);

/* A value went in a straight line from v0 to v1. */
void pending_line(struct pending *p, uint64_t series, uint64_t from_ns, uint64_t to_ns, double v0, double v1);

/* A counter rose by `amount`, evenly over the time; all of it at to_ns if both are equal. */
void pending_rise(struct pending *p, uint64_t series, uint64_t from_ns, uint64_t to_ns, double amount);

void pending_add_pause(struct pending *p, uint64_t time_ns, uint32_t generation, uint64_t pause_ns);

/* A band's bytes in a census. */
void pending_add_band(struct pending *p, uint64_t time_ns, uint64_t band, double bytes);

/* The precision of pauses. Their cell is written as its middle, which lies in the same cell. */
#define PENDING_PAUSE_BITS 8u

#endif
