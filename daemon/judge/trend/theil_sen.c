/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: all pairs, then the median: at most 24 * 23 / 2 = 276 slopes, a few
 * microseconds. Cleverer algorithms (O(n log n)) start to pay far above that.
 *
 * The standard error is that of least squares, widened for autocorrelation:
 *
 *      rho   lag-1 correlation of the residuals. Residuals of a fitted line
 *            look less correlated than the noise is; (rho + 2/n) / (1 - 4/n)
 *            takes that bias off (after Kendall 1954, Biometrika 41).
 *      widen sqrt((1 + rho) / (1 - rho)) is the known factor for first-order
 *            noise in a long series; 1 + 0.7 rho^2 is what short ones need on
 *            top, found by simulation.
 *
 * Few points (theil_sen_fit_at) are more often straight by chance. With n of
 * them slope / se has Student's t distribution with n - 2 degrees of freedom,
 * so se is widened by 1 + 63 / (n - 2)^2.5, which makes 5 se as rare as with 18
 * points (6.5e-5: a t of 25.6 for 5 points, 14.5 for 6, 8.7 for 8, 6.0 for 12;
 * the formula is within 2 % of these).
 *
 * Most windows of most programs rise by less than their noise, and for them a
 * bound does (theil_sen_lost). With Sxx, Sxy, Syy the sums of squares and of
 * products of deviations from the means, the residuals around a line of any
 * slope s have the sum of squares Syy - 2 s Sxy + s^2 Sxx, and se is at least
 * sqrt(that / (k - 2) / Sxx). So s >= z se only if
 *
 *      (k - 2 - z^2) Sxx s^2 + 2 z^2 Sxy s - z^2 Syy >= 0
 *
 * which for s > 0 is: s is at least its least positive root. There may be none
 * where z^2 > k - 2, for then the points must lie near enough to a line: of 5
 * errors and 24 points nine in ten series of mere noise do not. The median of
 * the slopes of all pairs is below that root when less than half of them are
 * above it, and counting those takes no division and no median: 0.2 us, a fit
 * 2 us.
 */
#include "daemon/judge/trend/theil_sen.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "daemon/judge/trend/ladder.h"

#define PAIRS_MAX        (THEIL_SEN_MAX * (THEIL_SEN_MAX - 1) / 2)
#define RHO_MAX          0.95
#define SD_RELATIVE      1e-6 /* least scatter: of the level, */
#define SD_BYTES         1.0  /* and in bytes; readings are whole bytes at best */
#define CORRELATION_FROM 12u  /* points whose places are given: from so many on the correlation is estimated, */
#define CORRELATION_FEW  0.5  /* else taken to be this */
#define FEW              63.0 /* see above */
#define LOST_MARGIN      0.97 /* of z^2: far more than rounding to single precision can do */

/* The filled points, in order; where none is missing these are the caller's own. */
struct filled {
        const double *at, *y; /* places, values */
        unsigned n;
        double own_at[THEIL_SEN_MAX], own_y[THEIL_SEN_MAX];
};

static void collect_filled(const double *p, unsigned n, struct filled *ret)
{
        static const double places[THEIL_SEN_MAX] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                                      12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23 };
        static_assert(THEIL_SEN_MAX == 24, "all places are above");
        const bool all = floors_are_known(p, n);

        assert(n <= THEIL_SEN_MAX);
        ret->at = all ? places : ret->own_at;
        ret->y = all ? p : ret->own_y;
        ret->n = all ? n : 0;
        for (unsigned i = 0; i < n && !all; i++) {
                ret->own_at[ret->n] = i;
                ret->own_y[ret->n] = p[i];
                ret->n += !isnan(p[i]);
        }
}

static double median_slope(const double *at, const double *y, unsigned n)
{
        double slopes[PAIRS_MAX];
        unsigned pairs = 0;

        for (unsigned i = 0; i < n; i++)
                for (unsigned j = i + 1; j < n; j++)
                        slopes[pairs++] = (y[j] - y[i]) / (at[j] - at[i]);
        return median_of(slopes, pairs);
}

double theil_sen_slope(const double *p, unsigned n)
{
        struct filled f;

        collect_filled(p, n, &f);
        return f.n < THEIL_SEN_LEAST ? NAN : median_slope(f.at, f.y, f.n);
}

double theil_sen_slope_at(const double *at, const double *y, unsigned n)
{
        assert(n >= 2 && n <= THEIL_SEN_MAX);
        return median_slope(at, y, n);
}

static double median_intercept(const double *at, const double *y, unsigned n, double slope)
{
        double at_zero[THEIL_SEN_MAX];

        for (unsigned i = 0; i < n; i++)
                at_zero[i] = y[i] - slope * at[i];
        return median_of(at_zero, n);
}

/* Sum of (place - mean place)^2. */
static double squares_about_mean(const double *at, unsigned n)
{
        double mean = 0, sum = 0;

        for (unsigned i = 0; i < n; i++)
                mean += at[i];
        mean /= n;
        for (unsigned i = 0; i < n; i++)
                sum += (at[i] - mean) * (at[i] - mean);
        return sum;
}

static double lag_correlation(double lagged, double squares, unsigned n)
{
        double raw = squares > 0 ? lagged / squares : 0;
        double rho = (raw + 2.0 / n) / (1 - 4.0 / n);

        return rho < 0 ? 0 : rho > RHO_MAX ? RHO_MAX : rho;
}

/* What the residuals around the fit's line say, but for se. Returns their lag-1 correlation. */
static double judge_residuals(const double *at, const double *y, struct theil_sen *fit)
{
        double r[THEIL_SEN_MAX], mean = 0, squares = 0, lagged = 0;
        unsigned k = fit->filled;

        for (unsigned i = 0; i < k; i++) {
                r[i] = y[i] - fit->slope * at[i] - fit->intercept;
                mean += r[i];
        }
        mean /= k;
        for (unsigned i = 0; i < k; i++) {
                r[i] -= mean;
                squares += r[i] * r[i];
                if (i > 0)
                        lagged += r[i] * r[i - 1];
        }
        fit->sd = sqrt(squares / (k - 2)) + SD_RELATIVE * fabs(fit->intercept) + SD_BYTES;
        return k > THEIL_SEN_LEAST ? lag_correlation(lagged, squares, k) : RHO_MAX;
}

static void allow_for_correlation(struct theil_sen *fit, double rho)
{
        fit->rho = rho;
        fit->se = fit->sd / sqrt(fit->sxx) * sqrt((1 + rho) / (1 - rho)) * (1 + 0.7 * rho * rho);
}

/* All but what depends on rho. Returns that of the residuals. */
static double fit_line(const double *at, const double *y, unsigned n, struct theil_sen *ret)
{
        *ret = (struct theil_sen){ .filled = n, .slope = median_slope(at, y, n), .sxx = squares_about_mean(at, n) };
        ret->intercept = median_intercept(at, y, n, ret->slope);
        return judge_residuals(at, y, ret);
}

/* Four numbers that are compared at once. */
#define LANES 4u
typedef float lanes_of_numbers __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t lanes_of_answers __attribute__((vector_size(LANES * sizeof(int32_t)))); /* -1: yes */

static lanes_of_numbers lanes_at(const float *v)
{
        lanes_of_numbers ret;

        memcpy(&ret, v, sizeof(ret));
        return ret;
}

/*
 * How many pairs rise by more than `slope` a place, to within 1e-7 of the scatter about y_mean. What is behind the k
 * values is above none.
 */
static unsigned count_steeper(const struct filled *f, double y_mean, double slope)
{
        const unsigned k = f->n;
        float v[THEIL_SEN_MAX + LANES];
        lanes_of_answers above = { 0 };

        for (unsigned i = 0; i < k; i++)
                v[i] = (float)(f->y[i] - y_mean - slope * f->at[i]);
        for (unsigned i = k; i < k + LANES; i++)
                v[i] = -INFINITY;
        for (unsigned i = 0; i < k; i += LANES) {
                const lanes_of_numbers low = lanes_at(v + i);

                for (unsigned j = i + 1; j < k; j++)
                        above += lanes_at(v + j) > low;
        }
        return (unsigned)-(above[0] + above[1] + above[2] + above[3]);
}

bool theil_sen_lost(const double *p, unsigned n, double z)
{
        struct filled f;
        double y_mean = 0, sxy = 0, syy = 0;

        collect_filled(p, n, &f);
        if (f.n < THEIL_SEN_LEAST)
                return false;
        for (unsigned i = 0; i < f.n; i++)
                y_mean += f.y[i];
        y_mean /= f.n;
        for (unsigned i = 0; i < f.n; i++) {
                const double dy = f.y[i] - y_mean;

                sxy += f.at[i] * dy; /* their mean is 0, so that of the places does not matter */
                syy += dy * dy;
        }
        const double zz = LOST_MARGIN * z * z, freedom = (double)f.n - 2 - zz, k = f.n;
        const double sxx = f.n == n ? k * (k * k - 1) / 12 : squares_about_mean(f.at, f.n);
        const double under_root = zz * zz * sxy * sxy + freedom * zz * syy * sxx;
        if (freedom <= 0 && (sxy <= 0 || under_root < 0))
                return true;
        const double root = zz * syy / (zz * sxy + sqrt(under_root));
        return 2 * count_steeper(&f, y_mean, root) < f.n * (f.n - 1) / 2;
}

bool theil_sen_fit(const double *p, unsigned n, struct theil_sen *ret)
{
        struct filled f;

        collect_filled(p, n, &f);
        if (f.n < THEIL_SEN_LEAST)
                return false;
        double rho = fit_line(f.at, f.y, f.n, ret);
        allow_for_correlation(ret, rho);
        return true;
}

void theil_sen_fit_at(const double *at, const double *y, unsigned n, struct theil_sen *ret)
{
        assert(n >= THEIL_SEN_LEAST_AT && n <= THEIL_SEN_MAX);
        double rho = fit_line(at, y, n, ret), freedom = n - 2;
        allow_for_correlation(ret, n < CORRELATION_FROM ? CORRELATION_FEW : rho);
        ret->se *= 1 + FEW / pow(freedom, 2.5);
}
