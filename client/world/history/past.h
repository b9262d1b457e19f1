/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * past.h - the past of one number: points (proto/facts/cell.h) in order of time, each of one sample or many, and how to
 * thin them.
 *
 * Thinning merges neighbours; minima and maxima are kept, means are weighted
 * by the number of samples. Times are event time in ns.
 */
#pragma once

#include "proto/facts/cell.h"

struct past {
        struct point *points; /* owned */
        size_t n, capacity;
        /* of past_insert; set before the first sample, may change later */
        size_t max;         /* most points; at least 2 */
        bool fades;         /* older points are merged first; otherwise all alike */
        uint64_t per_point; /* samples that fill a point; 0 is 1 */
};

/* Where its greatest value is drawn if that is not its last. */
static inline uint64_t past_middle_ns(const struct point *p)
{
        return p->cell.last_ns > p->time_ns ? p->time_ns + (p->cell.last_ns - p->time_ns) / 2 : p->cell.last_ns;
}

/* A point that is one sample. */
static inline struct point past_sample(uint64_t time_ns, double value)
{
        return (struct point){ .time_ns = time_ns, .cell = cell_of(time_ns, value) };
}

/* Merges `later` into `p`, which is then wide enough for it. */
void past_point_merge(struct point *p, const struct point *later);

/* Appends a copy. 0 or -ENOMEM (nothing is changed). */
int past_append(struct past *p, const struct point *point);

/*
 * Puts a sample where its time belongs; one that falls into a wide point goes into that. When there would be more than
 * `max` points, neighbours are merged first: with `fades` the older ones, so that the past gets coarser with age and
 * the present stays sharp; otherwise all, and points hold twice as many samples from then on. 0 or -ENOMEM.
 */
int past_insert(struct past *p, uint64_t time_ns, double value);

/*
 * Replaces points by those of `insert` that end by until_ns: all points from the first of `insert` on that have no
 * sample at or after until_ns, so that nothing is there twice. Then thins to `max`. 0 or -ENOMEM (nothing is
 * changed).
 */
int past_splice(struct past *p, const struct past *insert, uint64_t until_ns);

/* A copy of all. 0 or -ENOMEM (*ret is empty). */
int past_copy(const struct past *p, struct past *ret);

/* The newest point that ends by time_ns; NULL: none. */
const struct point *past_before(const struct past *p, uint64_t time_ns);

/* Points from .. from + n - 1 (n even) that are to be merged in pairs. */
struct past_pairs {
        size_t from, n;
};

/*
 * Which ones are to be merged for more room: all; with `fades` the older half of the longest row of points with about
 * equally many samples each, so that every level has about the same number of points, and each level half as many
 * samples per point as the one before it.
 */
struct past_pairs past_pairs(const struct past *p);

void past_merge(struct past *p, struct past_pairs pairs);

/* Merges points 2i and 2i + 1 for all i. */
void past_halve(struct past *p);

/* Halves until there are at most `max` (at least 1). */
void past_limit(struct past *p, size_t max);

/* Merges points that begin in the same step of step_ns. 0: merges none. */
void past_widen(struct past *p, uint64_t step_ns);

/* Keeps only points that begin in the range. */
void past_cut(struct past *p, struct time_range range);

/* Keeps only points that end by time_ns. */
void past_end(struct past *p, uint64_t time_ns);

/*
 * Aligns a band's points with those of the total of all bands, whose intervals are unions of the band's: each becomes
 * what the band held at the last sample of the total's point, 0 before its first. So all bands and their total are
 * known at the same censuses and can be added. -EAGAIN if a point of the band is wider than the total's there: request
 * both again; -ENOMEM. The band's points are replaced.
 */
int past_align(struct past *band, const struct past *total);

void past_done(struct past *p);
