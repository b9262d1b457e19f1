/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * histogram.h - pauses in the fine cells of a message (docs/PROTOCOL.md, "Histogram of pauses") as a classic histogram:
 * cumulative counts below fixed bounds.
 *
 * A cell counts as below a bound if all of it is: a count is too small by at most the pauses in the one cell that the
 * bound cuts, and a cell's width is at most 1/32 of its values.
 *
 * And as a native one (Prometheus), an exponential one (OpenTelemetry): eight buckets for each power of two, with the
 * same rule for a cell that a bound cuts.
 */
#ifndef HW_CLIENT_METRICS_HISTOGRAM_H
#define HW_CLIENT_METRICS_HISTOGRAM_H

#include "heapwatch/wire.h"

#define HISTOGRAM_BOUNDS 17

extern const double histogram_bounds[HISTOGRAM_BOUNDS]; /* seconds, rising */

/* Fills the counts of pauses up to each bound; returns the count of all. */
double histogram_of_pauses(double counts[HISTOGRAM_BOUNDS], const Hw__Generation *g);

#define NATIVE_SCHEMA  3      /* 2^3 buckets for each power of two */
#define NATIVE_FIRST   (-239) /* the bucket of 1 ns: 2^(-239/8) s */
#define NATIVE_BUCKETS 340u   /* up to 2^12.6 s, beyond the last cell */

/* Bucket i has the pauses above 2^((i-1)/8) s and up to 2^(i/8) s. */
struct native_histogram {
        uint64_t count, zero; /* all pauses; those of 0 ns */
        int first;            /* index of counts[0] */
        size_t n;
        uint64_t counts[NATIVE_BUCKETS]; /* neither the first nor the last is 0 */
};

void native_of_pauses(struct native_histogram *ret, const Hw__Generation *g);

#endif
