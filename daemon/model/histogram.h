/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * histogram.h - counts of durations: a quantile sketch (proto/base/sketch.h) of 5 bits, so that a quantile is within
 * 1/32 of the true value. Pauses of a program lie close together: a few dozen of its cells are filled.
 *
 * Values up to 2^42 ns (73 min); larger ones count in the last cell. docs/PROTOCOL.md publishes the cells.
 *
 * All bytes 0 is an empty one.
 */
#ifndef HW_DAEMON_MODEL_HISTOGRAM_H
#define HW_DAEMON_MODEL_HISTOGRAM_H

#include "proto/base/sketch.h"

#define HISTOGRAM_BITS  5u
#define HISTOGRAM_CELLS SKETCH_CELLS(HISTOGRAM_BITS, 42u)

struct histogram {
        uint64_t count;
        uint64_t max;
        struct sketch cells; /* `lost`, out of memory: they are not all there, and no quantile is known */
};

void histogram_add(struct histogram *h, uint64_t value);

/* Takes back a value that was added; false: none of its cell was. The maximum of the others is then within 1/32. */
bool histogram_remove(struct histogram *h, uint64_t value);
void histogram_done(struct histogram *h);

static inline bool histogram_is_known(const struct histogram *h)
{
        return h->count > 0 && !h->cells.lost;
}

/* The quantile `q` (0..1): the cell's upper end, at most the maximum. 0 unless it is known. */
uint64_t histogram_quantile(const struct histogram *h, double q);

#endif
