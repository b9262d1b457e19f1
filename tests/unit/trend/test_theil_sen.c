/* SPDX-License-Identifier: BSD-3-Clause */
/* theil_sen.c against GSL's numbers, against a naive long double model, and on lines that are known. */
#include <math.h>
#include <stdlib.h>
#include "tests/unit/test.h"

#include "tests/unit/trend/random.h"
#include "daemon/judge/trend/theil_sen.h"

static void assert_near(double got, double want, double relative)
{
        if (!(fabs(got - want) <= relative * fmax(fabs(want), 1e-300)))
                fail_msg("got %.17g, expected %.17g", got, want);
}

/*
 * Computed once with GSL 2.7.1: medians by gsl_stats_median_from_sorted_data of
 * the sorted slopes and intercepts, scatter and sxx by gsl_stats_tss, raw rho by
 * gsl_stats_lag1_autocorrelation of the residuals.
 */
static const struct {
        unsigned n, filled;
        double slope, intercept, scatter, raw_rho, sxx;
        double p[24];
} golden[] = {
        { 18,
          18,
          1.3333333333333333,
          4,
          1.8782379449307742,
          -0.44575678040244976,
          484.5,
          { 5, 7, 4, 9, 11, 8, 13, 12, 17, 15, 16, 21, 19, 20, 24, 23, 22, 28 } },
        { 24,
          21,
          2.3416666666666668,
          999.58333333333337,
          109.65838969921904,
          -0.04923447117185778,
          1012.6666666666666,
          { 1000, 1003, NAN,  1001, 1010, 1500, 1012, NAN,  NAN,  1019, 1023, 1020,
            1026, 1031, 1029, 1033, 1040, 1036, 1042, 1041, 1047, 1050, 1049, 1055 } },
        { 18,
          18,
          266666.66666666669,
          20000100000,
          263325.42182190157,
          -0.53049017971410195,
          484.5,
          { 20000000000.0, 20000400000.0, 20000100000.0, 20000900000.0, 20001300000.0, 20001100000.0, 20001600000.0,
            20002100000.0, 20001700000.0, 20002500000.0, 20002400000.0, 20003100000.0, 20003300000.0, 20003000000.0,
            20003900000.0, 20003600000.0, 20004400000.0, 20004700000.0 } },
        { 18,
          16,
          -4,
          89,
          4.2907708265199025,
          -0.57620029097963144,
          461.4375,
          { 90, 84, 88, 71, NAN, 66, 69, 58, 55, 60, NAN, 41, 44, 39, 30, 33, 21, 25 } },
        { 18,
          18,
          0.54545454545454541,
          9.9090909090909101,
          2.5334538538824951,
          0.75995672156946903,
          484.5,
          { 10, 12, 13, 13, 12, 10, 9, 9, 11, 14, 17, 19, 20, 19, 17, 16, 17, 20 } },
};

TEST(like_gsl)
{
        for (unsigned k = 0; k < sizeof(golden) / sizeof(golden[0]); k++) {
                struct theil_sen fit;
                double n = golden[k].filled;

                assert_true(theil_sen_fit(golden[k].p, golden[k].n, &fit));
                assert_int_equal(fit.filled, golden[k].filled);
                assert_near(fit.slope, golden[k].slope, 1e-12);
                assert_near(theil_sen_slope(golden[k].p, golden[k].n), golden[k].slope, 1e-12);
                assert_near(fit.intercept, golden[k].intercept, 1e-12);
                assert_near(fit.sxx, golden[k].sxx, 1e-12);
                assert_near(fit.sd, golden[k].scatter + 1e-6 * fabs(golden[k].intercept) + 1, 1e-9);
                double rho = fmin(fmax((golden[k].raw_rho + 2 / n) / (1 - 4 / n), 0), 0.95);
                assert_near(fit.rho + 1, rho + 1, 1e-9);
                double se = fit.sd / sqrt(golden[k].sxx) * sqrt((1 + rho) / (1 - rho)) * (1 + 0.7 * rho * rho);
                assert_near(fit.se, se, 1e-9);
        }
}

static int by_value(const void *a, const void *b)
{
        long double x = *(const long double *)a, y = *(const long double *)b;

        return (x > y) - (x < y);
}

static long double naive_median(long double *v, unsigned n)
{
        qsort(v, n, sizeof(*v), by_value);
        return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

struct naive {
        long double slope, intercept, sd, rho, se;
        unsigned filled;
};

static struct naive naive_fit(const double *p, unsigned n)
{
        long double slopes[300], v[24], x[24], y[24], mx = 0, mr = 0, sxx = 0, rr = 0, lag = 0;
        struct naive f = { .filled = 0 };
        unsigned k = 0, pairs = 0;

        for (unsigned i = 0; i < n; i++) {
                if (isnan(p[i]))
                        continue;
                x[k] = i;
                y[k++] = p[i];
        }
        f.filled = k;
        for (unsigned j = 0; j < k; j++)
                for (unsigned i = 0; i < j; i++)
                        slopes[pairs++] = (y[j] - y[i]) / (x[j] - x[i]);
        f.slope = naive_median(slopes, pairs);
        for (unsigned i = 0; i < k; i++) {
                v[i] = y[i] - f.slope * x[i];
                mx += x[i] / k;
        }
        f.intercept = naive_median(v, k);
        for (unsigned i = 0; i < k; i++)
                mr += (y[i] - f.slope * x[i] - f.intercept) / k;
        for (unsigned i = 0; i < k; i++) {
                v[i] = y[i] - f.slope * x[i] - f.intercept - mr;
                rr += v[i] * v[i];
                lag += i ? v[i] * v[i - 1] : 0;
                sxx += (x[i] - mx) * (x[i] - mx);
        }
        f.rho = fminl(fmaxl((lag / rr + 2.0L / k) / (1 - 4.0L / k), 0), 0.95L);
        f.sd = sqrtl(rr / (k - 2)) + 1e-6L * fabsl(f.intercept) + 1;
        f.se = f.sd / sqrtl(sxx) * sqrtl((1 + f.rho) / (1 - f.rho)) * (1 + 0.7L * f.rho * f.rho);
        return f;
}

TEST(like_the_naive_model)
{
        struct random r = { 77 };

        for (int round = 0; round < 5000; round++) {
                unsigned n = random_below(&r, 2) ? 18 : 24, filled = 0;
                double level = pow(10, 5 + 6 * random_unit(&r)), slope = level * 0.01 * random_normal(&r);
                double memory = random_unit(&r), noise = 0, p[24];
                struct theil_sen fit;

                for (unsigned i = 0; i < n; i++) {
                        noise = memory * noise + level * 0.01 * random_normal(&r);
                        p[i] = random_below(&r, 5) ? level + slope * i + noise : NAN;
                        filled += !isnan(p[i]);
                }
                if (filled < 6)
                        continue;
                struct naive want = naive_fit(p, n);
                assert_true(theil_sen_fit(p, n, &fit));
                assert_int_equal(fit.filled, want.filled);
                assert_true(fabs(fit.slope - (double)want.slope) <= 1e-10 * level);
                assert_near(fit.intercept, (double)want.intercept, 1e-9);
                assert_near(fit.sd, (double)want.sd, 1e-7);
                assert_true(fabs(fit.rho - (double)want.rho) < 1e-6);
                assert_near(fit.se, (double)want.se, 1e-5);
        }
}

/* A quarter of the points anywhere: the slope does not change. */
TEST(wild_points)
{
        double p[24];
        struct theil_sen fit;

        for (unsigned i = 0; i < 24; i++)
                p[i] = i % 4 == 1 ? 1e15 * (i % 8 == 1 ? 1 : -1) : 2e10 + 4096.0 * i;
        assert_true(theil_sen_fit(p, 24, &fit));
        assert_near(fit.slope, 4096, 1e-6);
}

TEST(exact_lines)
{
        const double levels[] = { 0, 1, 65536, 2e10, 1e18 };

        for (unsigned k = 0; k < 5; k++) {
                for (int rises = -1; rises <= 1; rises++) {
                        double p[18], slope = rises * fmax(levels[k] / 1024, 8);
                        struct theil_sen fit;

                        for (unsigned i = 0; i < 18; i++)
                                p[i] = levels[k] + slope * i;
                        assert_true(theil_sen_fit(p, 18, &fit));
                        assert_true(fabs(fit.slope - slope) <= 1e-9 * fabs(slope));
                        assert_true(fit.sd >= 1 && isfinite(fit.se) && fit.se > 0);
                        assert_true(fit.rho >= 0 && fit.rho <= 0.95);
                }
        }
}

TEST(too_few)
{
        double p[18];
        struct theil_sen fit = { .slope = 123 };

        for (unsigned i = 0; i < 18; i++)
                p[i] = i % 6 == 0 ? (double)i : (double)NAN;
        assert_false(theil_sen_fit(p, 18, &fit));
        assert_true(fit.slope == 123);
        assert_true(isnan(theil_sen_slope(p, 18)));
        p[17] = 17;
        assert_true(theil_sen_fit(p, 18, &fit));
        assert_near(fit.slope, 1, 1e-12);
        assert_true(isfinite(fit.se));
        assert_true(isnan(theil_sen_slope(NULL, 0)));
}

/* 18 or 24 points: noise with memory or without, on a level or on a rise, with steps, holes and outliers. */
static unsigned random_points(struct random *r, double *p)
{
        unsigned n = random_below(r, 2) ? 18 : 24, step = random_below(r, 2 * n);
        double level = pow(10, 11 * random_unit(r)), noise = random_below(r, 8) ? level * random_unit(r) * 0.1 : 0;
        double slope = random_below(r, 3) ? noise * (random_unit(r) - 0.3) * 0.5 : 0, memory = random_unit(r), e = 0;

        for (unsigned i = 0; i < n; i++) {
                e = memory * e + noise * random_normal(r);
                p[i] = level + slope * i + e + (i > step ? 3 * noise : 0);
                if (random_below(r, 40) == 0)
                        p[i] = random_below(r, 2) ? (double)NAN : level * 3;
        }
        return n;
}

/*
 * A rise called lost in the noise is; and most of those that are lost are found, even in such wild series: of 5 errors,
 * for which z^2 is above n - 2, too.
 */
TEST(lost_in_noise)
{
        for (unsigned z = 3; z <= 5; z += 2) {
                struct random r = { 11 };
                unsigned lost = 0, said = 0, risen = 0;

                for (unsigned round = 0; round < 200000; round++) {
                        double p[24];
                        unsigned n = random_points(&r, p);
                        struct theil_sen fit;

                        assert_true(theil_sen_fit(p, n, &fit));
                        bool is_lost = !(fit.slope / fit.se >= z), is_said = theil_sen_lost(p, n, z);
                        if (is_said && !is_lost)
                                fail_msg("round %u: slope %g, error %g", round, fit.slope, fit.se);
                        lost += is_lost;
                        said += is_said;
                        risen += !is_lost;
                }
                assert_true(risen > 10000 && lost > 20000);
                assert_true(said > lost / 4 * 3);
        }
}

/* Too few points prove nothing; a level and a fall are lost; the least rise without noise is not. */
TEST(lost_at_the_edges)
{
        double level[18], fall[18], rise[18], few[18], vast[18];

        for (unsigned i = 0; i < 18; i++) {
                level[i] = 2e10;
                fall[i] = 2e10 - i;
                rise[i] = 2e10 + 100.0 * i;
                few[i] = i < 3 ? 1e6 : (double)NAN;
                vast[i] = 18446744073709551616.0 * (i % 2 ? 1 : -1);
        }
        assert_true(theil_sen_lost(level, 18, 3));
        assert_true(theil_sen_lost(fall, 18, 3));
        assert_false(theil_sen_lost(rise, 18, 3));
        assert_false(theil_sen_lost(few, 18, 3));
        assert_true(theil_sen_lost(vast, 18, 3));
}
