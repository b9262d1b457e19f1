/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ladder.h - the history of one series: six levels of 48 buckets, each level
 * four times as wide as the one below: 1, 4, 16, 64, 256 and 1024 minutes.
 *
 * A "minute" is the series' resolution, whatever its length. A bucket keeps its
 * floor (what memory does not fall below) and, where the record test needs it,
 * the highest floor inside it. An empty bucket is NaN and keeps its place in
 * time. 48 x 1024 minutes are 34 days. Memory grows with the run: a level has
 * room for the buckets that it has had (rings.h), in the end 2.7 kB in all. A
 * bucket that finds no memory is empty.
 *
 * Not a pyramid (proto/facts/pyramid.h): a bucket is the mean of the lower half
 * of its children, which is not a merge of samples, and minutes are closed one
 * by one, so that one counter serves as all ring indices.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/judge/trend/rings.h"

#define LADDER_LEVELS       6u
#define LADDER_BUCKETS      48u
#define LADDER_FAN          4u     /* buckets of a level that make one of the next */
#define LADDER_PLAIN_LEVELS 3u     /* levels below this one: the high is the floor itself */
#define LADDER_HIGH_LEVELS  2u     /* levels 3 and 4; the highs of level 5 are not used */
#define LADDER_MINUTES      49152u /* what the widest level spans: 48 * 1024 */

struct ladder {
        struct rings rings; /* floors (double) by level, then highs (float) of levels 3 and 4 */
        uint64_t minutes;   /* closed since the run began: every other count follows from it */
};

extern const struct rings_shape ladder_shape;

/* The mean of two floors; an empty one (NaN) does not count. */
static inline double floors_mean(double a, double b)
{
        const double mean = (a + b) / 2;

        return !isnan(mean) ? mean : isnan(a) ? b : a;
}

static inline bool floors_are_known(const double *floors, unsigned n)
{
        double sum = 0;

        for (unsigned i = 0; i < n; i++)
                sum += floors[i];
        return !isnan(sum);
}

void ladder_init(struct ladder *l);

/* Frees all; the ladder is empty, and may be used again. */
void ladder_done(struct ladder *l);

/*
 * Appends one closed minute, NaN when it had no sample. Returns how many levels
 * gained a bucket: always level 0, and level r only when all below it did.
 */
unsigned ladder_push(struct ladder *l, double floor);

/* How many of the lowest levels have no filled bucket. */
unsigned ladder_empty_levels(const struct ladder *l);

/* The same as ladder_push() of NaN n times, when only empty levels gain buckets. */
void ladder_pass(struct ladder *l, uint64_t n);

/* Width of a bucket, in minutes. */
static inline uint64_t ladder_width(unsigned level)
{
        return (uint64_t)1 << (2 * level);
}

/* Buckets that the level has had since the run began, empty ones too. */
static inline uint64_t ladder_count(const struct ladder *l, unsigned level)
{
        return l->minutes >> (2 * level);
}

/* How many of these are still kept. */
unsigned ladder_kept(const struct ladder *l, unsigned level);

/* Width of the finest bucket still kept of this minute, or of the widest where none is. */
uint64_t ladder_finest_width(const struct ladder *l, uint64_t minute);

/* The bucket `age` places before the newest (0 = newest); age < ladder_kept(). NaN = empty. */
double ladder_floor(const struct ladder *l, unsigned level, unsigned age);

/* The n newest, oldest first; n <= ladder_kept(). */
void ladder_newest(const struct ladder *l, unsigned level, unsigned n, double *ret);

/* Its highest floor. level < LADDER_PLAIN_LEVELS + LADDER_HIGH_LEVELS. */
double ladder_high(const struct ladder *l, unsigned level, unsigned age);
