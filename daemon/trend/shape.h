/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shape.h - does growth keep its pace? The increments between the medians of
 * blocks.
 *
 * Increments keep their places: one beside an empty block is NaN and adds
 * nothing to a sum. Each is clipped to +-2 times the median of their sizes, so
 * that a single step cannot pass for a trend.
 */
#ifndef HW_DAEMON_TREND_SHAPE_H
#define HW_DAEMON_TREND_SHAPE_H

#define SHAPE_BLOCKS 8u /* at most */

struct increments {
        double d[SHAPE_BLOCKS - 1];
        unsigned n; /* places, empty ones too */
        unsigned filled;
};

/*
 * Cuts p[0..n), oldest first, NaN = empty, into `blocks` blocks; block k is
 * p[k*n/blocks .. (k+1)*n/blocks). 2 <= blocks <= SHAPE_BLOCKS, blocks <= n <= 48.
 */
void increments_of_blocks(const double *p, unsigned n, unsigned blocks, struct increments *ret);

/* Sum of the filled increments d[from..to) and, when `ret_filled` is given, their number. */
double increments_sum(const struct increments *inc, unsigned from, unsigned to, unsigned *ret_filled);

#endif
