/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * past.h - the past of one number: points in rising time, each a stretch that
 * holds one sample or many, and how to have fewer of them.
 *
 * Thinning merges neighbours; minima and maxima are kept, means are weighted
 * by the number of samples. Times are event time in ns.
 */
#ifndef HW_CLIENT_HISTORY_PAST_H
#define HW_CLIENT_HISTORY_PAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct past_point {
        uint64_t time_ns;  /* start of the stretch */
        uint64_t width_ns; /* 0: a single moment */
        uint64_t last_ns;  /* of its last sample: `last` holds there, not at the start */
        uint64_t count;    /* samples in it, at least 1 */
        double min, max, mean, last;
};

struct past {
        struct past_point *points; /* owned */
        size_t n, capacity;
        uint64_t per_point; /* past_insert: samples that fill a point; 0 is 1 */
};

/* A point that is one sample. */
struct past_point past_sample(uint64_t time_ns, double value);

/* `later` goes into `p`. */
void past_point_merge(struct past_point *p, const struct past_point *later);

/* Appends a copy. 0 or -ENOMEM (nothing is changed). */
int past_append(struct past *p, const struct past_point *point);

/*
 * Puts a sample where its time belongs; one that falls into a wide point goes into that. When there would be more
 * than `max` points (at least 2), neighbours are merged first, and points hold twice as many samples from then on.
 * 0 or -ENOMEM.
 */
int past_insert(struct past *p, size_t max, uint64_t time_ns, double value);

/* Merges points 2i and 2i + 1 for all i. */
void past_halve(struct past *p);

/* Halves until there are at most `max` (at least 1). */
void past_limit(struct past *p, size_t max);

/* Merges points that begin in the same multiple of step_ns. 0: leaves all. */
void past_widen(struct past *p, uint64_t step_ns);

/* Leaves only points that begin in [from_ns, to_ns). */
void past_cut(struct past *p, uint64_t from_ns, uint64_t to_ns);

/* Leaves only points whose stretches end by time_ns. */
void past_end(struct past *p, uint64_t time_ns);

/*
 * A band's points onto those of the total of all bands, whose stretches are unions of the band's: each becomes what the
 * band held at the last sample of the total's point, 0 before its first. So all bands and their total are told for the
 * same censuses and can be added. A point of the band that is wider than the total's there makes it fail: -EAGAIN, ask
 * for both again; -ENOMEM. The band's points are replaced.
 */
int past_align(struct past *band, const struct past *total);

void past_done(struct past *p);

#endif
