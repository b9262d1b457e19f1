/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * theil_sen.h - fits a straight line to points, some of which may be outliers.
 *
 * The slope is the median of the slopes of all pairs (Sen 1968, JASA 63): up to
 * 29 % of the points may lie anywhere without moving it. Its standard error
 * allows for autocorrelated noise: ignoring that neighbouring residuals are
 * correlated is how trend tests raise false alarms (Hamed and Rao 1998, J.
 * Hydrology 204).
 *
 * Points are at places 0, 1, 2 ...; NaN = no point. Slopes are per place.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define THEIL_SEN_MAX      24u /* points */
#define THEIL_SEN_LEAST    4u  /* filled points; a slope of fewer is unknown */
#define THEIL_SEN_LEAST_AT 5u  /* points at places of their own */

struct theil_sen {
        double slope;     /* bytes per place */
        double intercept; /* the line at place 0 */
        double sd;        /* scatter around the line, never 0 */
        double rho;       /* correlation of neighbouring residuals, 0 .. 0.95 */
        double se;        /* standard error of the slope */
        double sxx;       /* sum of (place - mean place)^2 over filled points */
        unsigned filled;
};

/* Median of the slopes of all pairs of p[0..n), n <= THEIL_SEN_MAX; NaN with fewer than THEIL_SEN_LEAST filled. */
double theil_sen_slope(const double *p, unsigned n);

/* The same for filled points at rising places; 2 <= n <= THEIL_SEN_MAX. */
double theil_sen_slope_at(const double *at, const double *y, unsigned n);

/*
 * Whether the slope is surely less than `z` standard errors above 0: true proves it at a tenth of a fit's cost, false
 * proves nothing.
 */
bool theil_sen_lost(const double *p, unsigned n, double z);

/* The whole fit. False, *ret unchanged, with fewer than THEIL_SEN_LEAST filled points. */
bool theil_sen_fit(const double *p, unsigned n, struct theil_sen *ret);

/*
 * The same for few filled points at rising places, THEIL_SEN_LEAST_AT <= n <= THEIL_SEN_MAX: se allows for how easily
 * few points are straight by chance.
 */
void theil_sen_fit_at(const double *at, const double *y, unsigned n, struct theil_sen *ret);

/* median.c: the median of a few hundred numbers, without sorting them. */

#define MEDIAN_MAX 300u /* values */

/*
 * The median of v[0..n); for even n the mean of the middle two. NaN when n == 0. v is overwritten. No value may be NaN.
 * n <= MEDIAN_MAX.
 */
double median_of(double *v, size_t n);
