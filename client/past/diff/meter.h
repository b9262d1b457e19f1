/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meter.h - measures one run, or a part of it, from its messages, for quantities.c.
 *
 * Memory does not depend on the run's length: gauges and rates are kept in bins, pauses in cells of 1/256
 * of their value.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/past/diff/rows.h"
#include "client/world/state/world.h"
#include "proto/base/sketch.h"
#include "proto/facts/fold.h"

/*
 * shift.c: by how much the numbers of one group of runs exceed those of another, with an interval. Pure.
 *
 * With several runs the estimate is that of Hodges and Lehmann (Annals of Mathematical Statistics 34, 1963): the median
 * of all differences between a number of one group and a number of the other. It is robust against an outlier.
 *
 * The interval is the first of these that is possible:
 *
 *   SHIFT_RANKS     that of the rank-sum test (Mann, Whitney 1947): the differences that the test does not reject,
 *                   exact for any distribution. It takes 4 runs against 4, or 3 against 5, to reach 95 %.
 *   SHIFT_STUDENT   estimate +- t * s * sqrt(1/m + 1/n), s the pooled standard deviation of m + n - 2 degrees of
 *                   freedom: for fewer runs. It assumes that runs vary normally, and equally in both groups.
 *   SHIFT_WITHIN    one run each: estimate +- t * sqrt(ea^2 + eb^2), with the standard errors that the number has
 *                   within each run (bins.h). It does not include differences from run to run.
 *   SHIFT_NONE      one run each, and the noise of the number cannot be estimated within a run.
 */

#define SHIFT_LEVEL 0.95

/* The standard error of a number, estimated within its run. */
struct noise {
        bool known;
        double error;
        unsigned freedom; /* degrees of freedom; at least 1 */
};

enum shift_basis { SHIFT_NONE, SHIFT_WITHIN, SHIFT_STUDENT, SHIFT_RANKS };

struct shift {
        bool known; /* both groups have a number */
        double by;  /* estimate of a - b, in the numbers' unit */
        double low, high;
        double level; /* of the interval: at least SHIFT_LEVEL; 0 without one */
        enum shift_basis basis;
};

/* A group's number in each of its runs; NaN: that run does not have it. `noise` is that of run 0; may be NULL. */
struct sample {
        const double *values;
        size_t n;
        const struct noise *noise;
};

/* 0 or -ENOMEM. */
int shift_between(const struct sample *a, const struct sample *b, struct shift *ret);

/* The median of those that are not NaN; NaN without any, or when out of memory. */
double shift_median(const double *values, size_t n);

/* The 0.975 quantile of Student's t. */
double shift_t(unsigned freedom);

/*
 * A value over the time of a run, in at most BINS intervals of equal width, which doubles as the run goes on:
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

#define PAUSE_BITS 8u

/* A value that has a level: live data, heap size. */
struct gauge {
        struct bins bins; /* in straight lines between samples */
        struct cell samples;
};

/* A value that adds up: bytes allocated, time in collections. */
struct flow {
        struct bins rate; /* per ns; for its noise */
        double total;
        bool known;
};

enum { GAUGE_LIVE, GAUGE_HEAP, GAUGE_RSS, GAUGE_CENSUS, GAUGE_PAUSE, GAUGES };
enum { FLOW_ALLOCATED, FLOW_COLLECTIONS, FLOW_COPIED, FLOW_GC, FLOWS };

/* A counter of the runtime, at its newest sample. */
struct counter {
        uint64_t time_ns;
        double total;
};

enum counted_flow { COUNTED_COLLECTIONS, COUNTED_COPIED, COUNTED_FLOWS };

/* What was judged of a whole run. */
struct judged {
        bool known;
        double value, low, high; /* low, high NaN: without an interval */
};

struct run_meter {
        uint64_t from_ns, to_ns;    /* the part, both ends included; 0 to UINT64_MAX: the whole run */
        uint64_t first_ns, last_ns; /* of its events within it */
        bool any;
        struct gauge gauges[GAUGES];
        struct flow flows[FLOWS];
        struct before {
                uint64_t time_ns;
                double total;
        } before;              /* first sample of the total */
        uint64_t allocated_ns; /* newest sample of the total, which is in allocated */
        double allocated;
        uint64_t collected_ns;                  /* end of the newest collection */
        struct counter counters[COUNTED_FLOWS]; /* of what is watched from outside */
        uint64_t *pauses;                       /* counts by cell */
        uint64_t n_pauses;
        uint64_t left_out; /* samples that the daemon dropped, which are missing in the numbers */
        struct rows rows;
        struct judged slope, limit_ns;     /* of live data, per s; until the limit is met */
        struct world *world;               /* the whole run's state */
        const struct world_target *target; /* in it; NULL: there was no message */
};

/* 0 or -ENOMEM. */
int meter_begin(struct run_meter *m, uint64_t from_ns, uint64_t to_ns);
void meter_done(struct run_meter *m);
int meter_add(struct run_meter *m, const Hw__Update *update);

/* No more messages follow. 0 or -ENOMEM. */
int meter_end(struct run_meter *m);

/* Takes the verdict's numbers of m->target, the state of a whole run. */
void meter_judge(struct run_meter *m);

static inline bool meter_is_whole(const struct run_meter *m)
{
        return m->from_ns == 0 && m->to_ns == UINT64_MAX;
}

/* NaN without a pause. */
double meter_pause(const struct run_meter *m, double q);
