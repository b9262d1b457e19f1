/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shift.h - by how much the numbers of one group of runs exceed those of another, with an interval. Pure.
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
#ifndef HW_CLIENT_DIFF_SHIFT_H
#define HW_CLIENT_DIFF_SHIFT_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
