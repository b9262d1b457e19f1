/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * histogram.h - counts of durations in log-linear buckets.
 *
 * Values below 32 have a bucket each; above, every power of two is cut into 32
 * equal parts, so a quantile is within 1/32 of the true value. Values up to
 * 2^42 ns (73 min); larger ones count in the last bucket.
 *   index(v) = v                                   for v < 32
 *            = 32 * (e - 4) + (v >> (e - 5)) - 32  else, e = floor(log2 v)
 */
#ifndef HW_DAEMON_MODEL_HISTOGRAM_H
#define HW_DAEMON_MODEL_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BUCKETS (32 * (42 - 4))

struct histogram {
        uint64_t count;
        uint64_t max;
        uint32_t buckets[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *h, uint64_t value);

/* The value that `q` (0..1) of all values do not exceed: the bucket's upper end, at most the maximum. 0 when empty. */
uint64_t histogram_quantile(const struct histogram *h, double q);

/* Smallest value of a bucket, and how many values wide it is. */
uint64_t histogram_lower(unsigned index);
uint64_t histogram_width(unsigned index);
unsigned histogram_index(uint64_t value);

#endif
