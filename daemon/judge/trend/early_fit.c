/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: with four to 24 points a straight line is common by chance, so the required ratio of slope to error falls
 * from 18 to 5.5 as points are added. Everything else excludes shapes that are straight without being growth: a step
 * (one increment makes most of the rise), a rise that has ended (the newest points are flat), ground that was held
 * before (a sawtooth's second tooth).
 *
 * Upward outliers are clipped before the scatter is computed: memory has bursts upward, and one must not hide a rise.
 */
#include "daemon/judge/trend/early_rise.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "daemon/judge/trend/theil_sen.h"
#include "proto/base/array.h"

#define MAD_TO_SD       1.4826 /* of a normal distribution */
#define CLIP_MADS       4.0
#define SD_RELATIVE     1e-4   /* least scatter: of the level, */
#define SD_BYTES        2048.0 /* and in bytes */
#define RHO_MAX         0.9
#define RISE_SHARE      0.08 /* least rise: of the level at its end, */
#define RISE_BYTES      1048576.0
#define OLD_PACE        0.1
#define LAST_PACE       0.25
#define STEP_SHARE      0.55 /* an increment of a larger share of the rise is a step, */
#define STEP_PACE       2.0  /* unless it has taken its time */
#define SHORTEST_GROWTH 1.5  /* four points must have grown by half */
#define CURVED_POINTS   6u   /* fewer lie on a parabola by chance */
#define CURVED_RATIO    1.5  /* times the error of a line: a parabola follows scatter, too */

_Static_assert(EARLY_POINTS_MAX <= THEIL_SEN_MAX, "a window is fitted in one piece");

struct by_points {
        unsigned n;
        double required_ratio, interval_factor;
};

static const struct by_points by_points[] = {
        { 4, 18, 4 }, { 5, 14, 4 }, { 6, 11, 3.3 }, { 8, 8.5, 2.8 }, { 12, 7, 2.3 }, { 16, 6, 2.3 }, { 24, 5.5, 2.3 },
};

static const struct by_points *find_by_points(unsigned n)
{
        size_t i = ARRAY_SIZE(by_points) - 1;

        while (i > 0 && by_points[i].n > n)
                i--;
        return &by_points[i];
}

double early_fit_required_ratio(unsigned n)
{
        return find_by_points(n)->required_ratio;
}

double early_fit_interval_factor(unsigned n)
{
        return find_by_points(n)->interval_factor;
}

double early_fit_ratio(const struct early_fit *f)
{
        return f->slope / f->se;
}

static double median_start(const double *t, const double *y, unsigned n, double slope)
{
        double starts[EARLY_POINTS_MAX];

        for (unsigned i = 0; i < n; i++)
                starts[i] = y[i] - slope * (t[i] - t[0]);
        return median_of(starts, n);
}

static double sum_of_squares_of_time(const double *t, unsigned n)
{
        double mean = 0, sum = 0;

        for (unsigned i = 0; i < n; i++)
                mean += t[i] / n;
        for (unsigned i = 0; i < n; i++)
                sum += (t[i] - mean) * (t[i] - mean);
        return sum;
}

/* Residuals around the line, upward ones clipped, minus their mean. Returns the sum of their squares. */
static double compute_residuals(const double *t, const double *y, unsigned n, double slope, double start, double *ret)
{
        double sizes[EARLY_POINTS_MAX], mean = 0, sum = 0;

        for (unsigned i = 0; i < n; i++) {
                ret[i] = y[i] - start - slope * (t[i] - t[0]);
                sizes[i] = fabs(ret[i]);
        }
        double highest = CLIP_MADS * MAD_TO_SD * median_of(sizes, n);
        for (unsigned i = 0; i < n; i++) {
                ret[i] = fmin(ret[i], highest);
                mean += ret[i] / n;
        }
        for (unsigned i = 0; i < n; i++) {
                ret[i] -= mean;
                sum += ret[i] * ret[i];
        }
        return sum;
}

/* Lag-1 correlation of residuals, its bias removed (Kendall 1954), 0 .. RHO_MAX. */
static double lag_correlation(const double *r, unsigned n, double sum_of_squares)
{
        double lagged = 0;

        if (sum_of_squares <= 0)
                return 0;
        for (unsigned i = 1; i < n; i++)
                lagged += r[i] * r[i - 1];
        double corrected = lagged / sum_of_squares + 2.0 / n;
        if (corrected <= 0)
                return 0;
        return n > 4 ? fmin(corrected / (1 - 4.0 / n), RHO_MAX) : RHO_MAX;
}

static double slope_error(const double *r, unsigned n, double sum_of_squares, double sd, double sxx)
{
        double rho = lag_correlation(r, n, sum_of_squares);

        return sd / sqrt(sxx) * sqrt((1 + rho) / (1 - rho));
}

/*
 * A rise that speeds up scatters around a parabola, not around a line. Its curvature is that between the slopes of the
 * halves, its pace the newer half's.
 */
static void refit_curved(const double *t, const double *y, unsigned n, unsigned older, unsigned newer,
                         struct early_fit *f)
{
        double straight[EARLY_POINTS_MAX], r[EARLY_POINTS_MAX], middle_s = (t[0] + t[n - 1]) / 2;
        double old_s = (t[0] + t[older - 1]) / 2, new_s = (t[n - newer] + t[n - 1]) / 2;
        double curvature = (f->slope_new - f->slope_old) / (new_s - old_s) / 2;
        double bend = curvature * (t[n - 1] - middle_s) * (t[n - 1] - middle_s);

        for (unsigned i = 0; i < n; i++)
                straight[i] = y[i] - curvature * (t[i] - middle_s) * (t[i] - middle_s);
        double slope = theil_sen_slope_at(t, straight, n), start = median_start(t, straight, n, slope);
        double sum = compute_residuals(t, straight, n, slope, start, r);
        double sd = sqrt(sum / (n - 3)) + SD_RELATIVE * fabs(start + bend) + SD_BYTES;
        double se = slope_error(r, n, sum, sd, sum_of_squares_of_time(t, n));
        if (slope < CURVED_RATIO * se * early_fit_required_ratio(n))
                return;
        f->slope = f->slope_new;
        f->rise = slope * (t[n - 1] - t[0]);
        f->end = start + f->rise + bend;
        f->sd = sd;
        f->se = CURVED_RATIO * se;
        f->passes = true;
}

static bool has_step(const double *t, const double *y, unsigned n, const struct early_fit *f)
{
        for (unsigned i = 1; i < n; i++) {
                double gain = y[i] - y[i - 1];
                if (gain > STEP_SHARE * f->rise && gain > STEP_PACE * f->slope * (t[i] - t[i - 1]))
                        return true;
        }
        return false;
}

static bool is_large(const struct early_fit *f)
{
        return f->rise - 2 * f->se * (f->end_s - f->start_s) >= fmax(RISE_SHARE * f->end, RISE_BYTES);
}

static bool keeps_pace(const struct early_fit *f)
{
        return f->slope_old >= OLD_PACE * f->slope && f->slope_last > LAST_PACE * f->slope;
}

static bool is_new_ground(const struct early_fit *f, double top_before)
{
        return f->end - top_before >= f->rise / 2;
}

void early_fit_window(const struct early_point *p, unsigned n, double top_before, struct early_fit *ret)
{
        double t[EARLY_POINTS_MAX], y[EARLY_POINTS_MAX], r[EARLY_POINTS_MAX];
        unsigned half = n / 2, newer = half + (n < 8), last = n / 3 > 3 ? n / 3 : 3;

        assert(n >= EARLY_POINTS_MIN && n <= EARLY_POINTS_MAX);
        for (unsigned i = 0; i < n; i++) {
                t[i] = p[i].t_s;
                y[i] = p[i].value;
        }
        struct early_fit f = { .n = n, .start_s = t[0], .end_s = t[n - 1], .slope = theil_sen_slope_at(t, y, n) };
        double start = median_start(t, y, n, f.slope);
        double sum = compute_residuals(t, y, n, f.slope, start, r);
        f.sd = sqrt(sum / (n - 2)) + SD_RELATIVE * fabs(start) + SD_BYTES;
        f.se = slope_error(r, n, sum, f.sd, sum_of_squares_of_time(t, n));
        f.rise = f.slope * (t[n - 1] - t[0]);
        f.end = start + f.rise;
        f.slope_old = theil_sen_slope_at(t, y, n - half);
        f.slope_new = theil_sen_slope_at(t + n - newer, y + n - newer, newer);
        f.slope_last = theil_sen_slope_at(t + n - last, y + n - last, last);

        f.passes = f.slope > 0 && early_fit_ratio(&f) >= early_fit_required_ratio(n);
        if (f.slope > 0 && !f.passes && f.slope_new > f.slope && n >= CURVED_POINTS)
                refit_curved(t, y, n, n - half, newer, &f);
        f.passes = f.passes && is_large(&f) && keeps_pace(&f) && !has_step(t, y, n, &f) &&
                   is_new_ground(&f, top_before) && (n > EARLY_POINTS_MIN || f.end > SHORTEST_GROWTH * start);
        *ret = f;
}
