/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * statistics.h - plain statistics from a cell with co-moments.
 *
 * Least squares from co-moments (Chan, Golub, LeVeque 1979): slope = Mtv / Mtt,
 * R^2 = Mtv^2 / (Mtt Mvv). No sum of squares is ever formed, so 20 GB over 48 h
 * lose no digits. A number that cannot be computed is NaN.
 *
 * The normalised line is eventlog2html's (its Eventlog.Total): before the
 * regression times are divided by the latest time and values by the largest
 * value. That only scales the line, so it is derived from the plain one; its
 * intercept is therefore at event time 0.
 */
#pragma once

#include <stdint.h>

#include "proto/facts/cell.h"

struct statistics {
        uint64_t from_ns, to_ns; /* the range that was requested */
        uint64_t count;          /* > 0 */
        double min, max, mean, last;
        double stddev;                /* sample: n - 1; NaN for one */
        double sum;                   /* of all samples: eventlog2html's "integrated size" */
        double p50, p90, p99;         /* for their precision see series_sketch.h, band_sketch.h */
        double integral;              /* area under the lines between samples, unit x s */
        double slope, intercept, fit; /* per s; at from_ns; R^2, NaN when all values are equal */
        double normalised_slope, normalised_intercept, normalised_fit;
};

/* Samples of a range of time: all of them, those of its oldest slice, and the area below them in unit x s. */
struct range_samples {
        struct trend_cell all, oldest;
        double area;
};

/* All but quantiles and integral, which become NaN. of->cell.n > 0. */
void statistics_of(const struct trend_cell *of, struct time_range range, struct statistics *ret);
