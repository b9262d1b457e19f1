/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * life.h - the whole run in 24 to 48 buckets, however long it lasts.
 *
 * Each is the mean of level-1 floors. When there would be a 49th, neighbours are
 * averaged in pairs and the width doubles. From it comes the life ratio: does
 * the run still grow as fast as it did before? A logarithm (a cache that fills
 * ever more slowly) does not, whatever the run's age; a line does.
 *
 * Not a fold (proto/facts/fold.h): pairs are averaged without weights, and only
 * complete buckets count: the scores in docs/VERDICT.md were measured so.
 */
#pragma once

#include <stdint.h>

#include "daemon/judge/trend/rings.h"

#define LIFE_BUCKETS 48u

struct life {
        struct rings means; /* one: double, oldest first; NaN = no filled floor in it */
        unsigned count;
        uint64_t width;          /* floors per bucket: 1, 2, 4 ... */
        double sum;              /* of the bucket in progress; without memory it goes on */
        uint64_t filled, places; /* its filled floors, and all of them */
};

extern const struct rings_shape life_shape;

void life_init(struct life *l);
void life_done(struct life *l);

/* The first `count` means; NULL when there are none. */
static inline double *life_means(const struct life *l)
{
        return (double *)(void *)l->means.cells;
}

/* Appends one completed level-1 floor; NaN = empty, which still takes its place. */
void life_push(struct life *l, double floor);

/*
 * Growth over the newest part of the run's last three quarters, divided by growth over their oldest part: 1 for a line.
 * Also 1 when there is too little history; 99 when the older part did not grow.
 */
double life_ratio(const struct life *l);

/*
 * shape.c: does growth keep its pace? The increments between the medians of
 * blocks.
 *
 * Increments keep their places: one beside an empty block is NaN and adds
 * nothing to a sum. Each is clipped to +-2 times the median of their sizes, so
 * that a single step cannot pass for a trend.
 */

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
