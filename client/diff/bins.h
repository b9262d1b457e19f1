/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bins.h - a value over the time of a run, in at most BINS intervals of equal width, which doubles as the run goes on:
 * its mean, its peak, and how much both vary within the run. Pure; of constant size, however long the run.
 *
 * The noise of a number is estimated from 8 to 16 consecutive intervals of the run, after subtracting the straight line
 * through them (growth is not noise):
 *
 *   mean    standard error s / sqrt(n) * sqrt((1 + r) / (1 - r)), s the standard deviation of what is left and r its
 *           correlation with its neighbour where that is positive (the usual correction of batch means: Law, Kelton,
 *           Simulation Modeling and Analysis, chapter 9)
 *   peak    s of the intervals' own peaks: another run's peak is one more draw of these
 */
#ifndef HW_CLIENT_DIFF_BINS_H
#define HW_CLIENT_DIFF_BINS_H

#include "client/diff/shift.h"
#include "proto/facts/fold.h"

#define BINS 64u

/* All bytes 0: empty. */
struct bins {
        struct cell bin[BINS]; /* weighed by time: n is in ns */
        struct fold fold;      /* of times since first_ns */
        uint64_t first_ns;
        uint64_t lines; /* that were added: few of them tell nothing about noise */
};

/* The value went in a straight line from `v0` to `v1`. Calls come in order of time; one before the first is ignored. */
void bins_add(struct bins *b, uint64_t from_ns, uint64_t to_ns, double v0, double v1);

/* NaN: nothing was added. */
double bins_mean(const struct bins *b);
uint64_t bins_covered(const struct bins *b);

struct noise bins_noise_of_mean(const struct bins *b);
struct noise bins_noise_of_peak(const struct bins *b);

#endif
