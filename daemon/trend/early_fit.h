/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * early_fit.h - does a window of few points rise, and not by a step or by what was held before?
 *
 * The line is Sen's (median slope of all pairs), its standard error is widened for correlated residuals. A window
 * passes when the slope is far above its error, the rise is large enough to matter and to ground that the run has not
 * held before, keeps its pace to the window's end, and is not one jump. A rise that speeds up is fitted by a parabola.
 * docs/VERDICT.md has the formulas and their reasons. Pure. Times are seconds, values bytes.
 */
#ifndef HW_DAEMON_TREND_EARLY_FIT_H
#define HW_DAEMON_TREND_EARLY_FIT_H

#include <stdbool.h>

#define EARLY_POINTS_MIN 4u
#define EARLY_POINTS_MAX 24u

struct early_point {
        double t_s, value;
        double top; /* highest sample of the run up to the end of this point's bucket */
};

struct early_fit {
        unsigned n;
        double start_s, end_s;                   /* of the first and last point */
        double slope, se;                        /* bytes per second; standard error of the slope */
        double slope_old, slope_new, slope_last; /* of the older half, the newer half, the last third */
        double sd;                               /* scatter around the line, bytes; never 0 */
        double end, rise;                        /* the line at end_s; its rise over the window */
        bool passes, holds;                      /* a rise; still consistent with one that was found */
};

/*
 * Fits n points at rising times, EARLY_POINTS_MIN <= n <= EARLY_POINTS_MAX. `top_before`: the highest sample before the
 * window, -INFINITY when the run begins with it.
 */
void early_fit_window(const struct early_point *p, unsigned n, double top_before, struct early_fit *ret);

/* Sen's line through n >= 2 points: the slope and the value at p[0].t_s. */
void early_line(const struct early_point *p, unsigned n, double *ret_slope, double *ret_start);

/* Slope over standard error; the factor that makes an interval of `se` for n points. */
double early_fit_ratio(const struct early_fit *f);
double early_fit_required_ratio(unsigned n);
double early_fit_interval_factor(unsigned n);

#endif
