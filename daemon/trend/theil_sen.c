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
 * Most windows of most programs rise by less than their noise, and for them a
 * bound does (theil_sen_lost). With Sxx, Sxy, Syy the sums of squares and of
 * products of deviations from the means, the residuals around a line of any
 * slope s have the sum of squares Syy - 2 s Sxy + s^2 Sxx, and se is at least
 * sqrt(that / (k - 2) / Sxx). So s >= z se only if
 *
 *      (k - 2 - z^2) Sxx s^2 + 2 z^2 Sxy s - z^2 Syy >= 0
 *
 * which for s > 0 is: s is at least its positive root. The median of the
 * slopes of all pairs is below that root when less than half of them are above
 * it, and counting those takes no division and no median: 0.2 us, a fit 2 us.
 */
#include "daemon/trend/theil_sen.h"

#include <assert.h>
#include <math.h>

#include "daemon/trend/median.h"

#define PAIRS_MAX   (THEIL_SEN_MAX * (THEIL_SEN_MAX - 1) / 2)
#define RHO_MAX     0.95
#define SD_RELATIVE 1e-6 /* least scatter: of the level, */
#define SD_BYTES    1.0  /* and in bytes; readings are whole bytes at best */
#define LOST_MARGIN 0.97 /* of z^2: far more than rounding to single precision can do */

/* Places of the filled points, in order. Returns their number. */
static unsigned filled_places(const double *p, unsigned n, unsigned *places)
{
        unsigned k = 0;

        assert(n <= THEIL_SEN_MAX);
        for (unsigned i = 0; i < n; i++)
                if (!isnan(p[i]))
                        places[k++] = i;
        return k;
}

static double slope_of(const double *p, const unsigned *places, unsigned k)
{
        double slopes[PAIRS_MAX];
        unsigned pairs = 0;

        if (k < THEIL_SEN_LEAST)
                return NAN;
        for (unsigned i = 0; i < k; i++)
                for (unsigned j = i + 1; j < k; j++)
                        slopes[pairs++] = (p[places[j]] - p[places[i]]) / (double)(places[j] - places[i]);
        return median_of(slopes, pairs);
}

double theil_sen_slope(const double *p, unsigned n)
{
        unsigned places[THEIL_SEN_MAX];
        unsigned k = filled_places(p, n, places);

        return slope_of(p, places, k);
}

static double intercept_of(const double *p, const unsigned *places, unsigned k, double slope)
{
        double at_zero[THEIL_SEN_MAX];

        for (unsigned i = 0; i < k; i++)
                at_zero[i] = p[places[i]] - slope * places[i];
        return median_of(at_zero, k);
}

/* Sum of (place - mean place)^2. */
static double squares_about_mean(const unsigned *places, unsigned k)
{
        double mean = 0, sum = 0;

        for (unsigned i = 0; i < k; i++)
                mean += places[i];
        mean /= k;
        for (unsigned i = 0; i < k; i++)
                sum += (places[i] - mean) * (places[i] - mean);
        return sum;
}

static double correlation(double lagged, double squares, unsigned n)
{
        double raw = squares > 0 ? lagged / squares : 0;
        double rho = (raw + 2.0 / n) / (1 - 4.0 / n);

        return rho < 0 ? 0 : rho > RHO_MAX ? RHO_MAX : rho;
}

/* Scatter, correlation and standard error from the residuals around fit's line. */
static void judge_residuals(const double *p, const unsigned *places, struct theil_sen *fit)
{
        double r[THEIL_SEN_MAX], mean = 0, squares = 0, lagged = 0;
        unsigned k = fit->filled;

        for (unsigned i = 0; i < k; i++) {
                r[i] = p[places[i]] - fit->slope * places[i] - fit->intercept;
                mean += r[i];
        }
        mean /= k;
        for (unsigned i = 0; i < k; i++) {
                r[i] -= mean;
                squares += r[i] * r[i];
                if (i > 0)
                        lagged += r[i] * r[i - 1];
        }
        double rho = k > THEIL_SEN_LEAST ? correlation(lagged, squares, k) : RHO_MAX;
        fit->rho = rho;
        fit->sd = sqrt(squares / (k - 2)) + SD_RELATIVE * fabs(fit->intercept) + SD_BYTES;
        fit->se = fit->sd / sqrt(fit->sxx) * sqrt((1 + rho) / (1 - rho)) * (1 + 0.7 * rho * rho);
}

/*
 * How many pairs rise by more than `slope` a place, to within 1e-7 of the scatter. Pairs at one distance are compared
 * all together, which compilers do four at a time; what is behind the k values is above none.
 */
static unsigned count_steeper(const double *y, const unsigned *places, unsigned k, double slope)
{
        float v[2 * THEIL_SEN_MAX];
        unsigned above[THEIL_SEN_MAX] = { 0 }, count = 0;

        for (unsigned i = 0; i < 2 * THEIL_SEN_MAX; i++)
                v[i] = -INFINITY;
        for (unsigned i = 0; i < k; i++)
                v[i] = (float)(y[i] - slope * places[i]);
        for (unsigned distance = 1; distance < k; distance++)
                for (unsigned i = 0; i < THEIL_SEN_MAX; i++)
                        above[i] += v[i + distance] > v[i];
        for (unsigned i = 0; i < THEIL_SEN_MAX; i++)
                count += above[i];
        return count;
}

bool theil_sen_lost(const double *p, unsigned n, double z)
{
        unsigned places[THEIL_SEN_MAX], k = filled_places(p, n, places);
        double y[THEIL_SEN_MAX], x_mean = 0, y_mean = 0, sxx = 0, sxy = 0, syy = 0;
        double zz = LOST_MARGIN * z * z, freedom = (double)k - 2 - zz;

        if (k < THEIL_SEN_LEAST || freedom <= 0)
                return false;
        for (unsigned i = 0; i < k; i++) {
                x_mean += places[i];
                y_mean += p[places[i]];
        }
        x_mean /= k;
        y_mean /= k;
        for (unsigned i = 0; i < k; i++) {
                double dx = places[i] - x_mean;

                y[i] = p[places[i]] - y_mean;
                sxx += dx * dx;
                sxy += dx * y[i];
                syy += y[i] * y[i];
        }
        double root = (sqrt(zz * zz * sxy * sxy + freedom * zz * syy * sxx) - zz * sxy) / (freedom * sxx);
        return 2 * count_steeper(y, places, k, root) < k * (k - 1) / 2;
}

bool theil_sen_fit(const double *p, unsigned n, struct theil_sen *ret)
{
        unsigned places[THEIL_SEN_MAX];
        struct theil_sen fit = { .filled = filled_places(p, n, places) };

        if (fit.filled < THEIL_SEN_LEAST)
                return false;
        fit.slope = slope_of(p, places, fit.filled);
        fit.intercept = intercept_of(p, places, fit.filled, fit.slope);
        fit.sxx = squares_about_mean(places, fit.filled);
        judge_residuals(p, places, &fit);
        *ret = fit;
        return true;
}
