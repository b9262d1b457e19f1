/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * histogram.h - counts of durations: a quantile sketch (proto/base/sketch.h) of 5 bits, so that a quantile is within
 * 1/32 of the true value, with all cells allocated because each collection adds to one.
 *
 * Values up to 2^42 ns (73 min); larger ones count in the last cell. docs/PROTOCOL.md publishes the cells.
 */
#ifndef HW_DAEMON_MODEL_HISTOGRAM_H
#define HW_DAEMON_MODEL_HISTOGRAM_H

#include "proto/base/sketch.h"

#define HISTOGRAM_BITS  5u
#define HISTOGRAM_CELLS SKETCH_CELLS(HISTOGRAM_BITS, 42u)

struct histogram {
        uint64_t count;
        uint64_t max;
        uint32_t counts[HISTOGRAM_CELLS];
};

void histogram_add(struct histogram *h, uint64_t value);

/* The quantile `q` (0..1): the cell's upper end, at most the maximum. 0 when empty. */
uint64_t histogram_quantile(const struct histogram *h, double q);

#endif
