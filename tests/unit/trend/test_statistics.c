/* SPDX-License-Identifier: BSD-3-Clause */
/* test_statistics.c - lines, quantiles and areas against long double over all points, and against gsl. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include <gsl/gsl_fit.h>
#include <gsl/gsl_statistics_double.h>

#include "daemon/model/series.h"
#include "tests/unit/trend/random.h"
#include "tests/unit/trend/one_band.h"
#include "daemon/judge/trend/series_sketch.h"
#include "daemon/judge/trend/statistics.h"

#define SECOND UINT64_C(1000000000)
#define HOUR   (3600 * SECOND)
#define POINTS 20000

static double times[POINTS], values[POINTS];
static uint64_t times_ns[POINTS];

/* 48 h of 20 GB with a slow slope, noise, and gaps. */
static void make_up(void)
{
        uint32_t random = 7;

        for (size_t i = 0; i < POINTS; i++) {
                random = random * 1664525u + 1013904223u;
                times_ns[i] = 48 * HOUR / POINTS * i + random % 5000000000u;
                times[i] = (double)times_ns[i] / 1e9;
                values[i] = floor(20e9 + times[i] * 25 + (double)(random >> 8) / 16.0);
        }
}

static void near(double got, double wanted, double relative)
{
        if (!(fabs(got - wanted) <= relative * fabs(wanted)))
                fail_msg("%.17g is not %.17g", got, wanted);
}

static void least_squares(size_t n, long double from_s, long double *slope, long double *intercept, long double *fit)
{
        long double mt = 0, mv = 0, tt = 0, tv = 0, vv = 0;

        for (size_t i = 0; i < n; i++) {
                mt += (long double)times[i] / (long double)n;
                mv += (long double)values[i] / (long double)n;
        }
        for (size_t i = 0; i < n; i++) {
                long double dt = (long double)times[i] - mt, dv = (long double)values[i] - mv;
                tt += dt * dt;
                tv += dt * dv;
                vv += dv * dv;
        }
        *slope = tv / tt;
        *intercept = mv + *slope * (from_s - mt);
        *fit = tv * tv / tt / vv;
}

TEST(test_line_of_48_hours)
{
        struct series s = { 0 };
        struct trend_cell b;
        struct statistics st;
        long double slope, intercept, fit;
        double c0, c1, cov00, cov01, cov11, sumsq;

        make_up();
        for (size_t i = 0; i < POINTS; i++)
                series_push(&s, &series_shape, times_ns[i], values[i]);
        series_span(&s, (struct time_range){ 0, UINT64_MAX }, &b);
        statistics_of(&b, (struct time_range){ 0, UINT64_MAX }, &st);
        least_squares(POINTS, 0, &slope, &intercept, &fit);
        near(st.slope, (double)slope, 1e-9); /* the whole run: nothing of it is packed */
        near(st.intercept, (double)intercept, 1e-12);
        near(st.fit, (double)fit, 1e-9);
        gsl_fit_linear(times, 1, values, 1, POINTS, &c0, &c1, &cov00, &cov01, &cov11, &sumsq);
        near(st.slope, c1, 1e-9);
        near(st.mean, gsl_stats_mean(values, 1, POINTS), 1e-14);
        near(st.stddev, gsl_stats_sd(values, 1, POINTS), 1e-10);
        near(st.normalised_slope, st.slope * times[POINTS - 1] / st.max, 1e-12);
        series_span(&s, (struct time_range){ 24 * HOUR, UINT64_MAX },
                    &b); /* merged of 10 min cells, which are packed */
        statistics_of(&b, (struct time_range){ 24 * HOUR, UINT64_MAX }, &st);
        size_t first = 0;
        while (times_ns[first] < 24 * HOUR)
                first++;
        gsl_fit_linear(times + first, 1, values + first, 1, POINTS - first, &c0, &c1, &cov00, &cov01, &cov11, &sumsq);
        near(st.slope, c1, 1e-7);
        near(st.stddev, gsl_stats_sd(values + first, 1, POINTS - first), 1e-7);
        series_done(&s);
}

/* What eventlog2html does, by its own way: scale both axes, then fit. */
TEST(test_normalised)
{
        struct trend_cell b = { .cell.n = 0 };
        struct statistics st;
        double x[50], y[50], c0, c1, cov00, cov01, cov11, sumsq, top = 0;

        for (size_t i = 0; i < 50; i++) {
                x[i] = 10 + (double)i * 2;
                y[i] = 1000 + (double)(i * i % 97) * 10;
                top = fmax(top, y[i]);
                trend_cell_add(&b, (uint64_t)x[i] * SECOND, y[i]);
        }
        for (size_t i = 0; i < 50; i++) {
                x[i] /= 108;
                y[i] /= top;
        }
        gsl_fit_linear(x, 1, y, 1, 50, &c0, &c1, &cov00, &cov01, &cov11, &sumsq);
        statistics_of(&b, (struct time_range){ 10 * SECOND, 109 * SECOND }, &st);
        near(st.normalised_slope, c1, 1e-12);
        near(st.normalised_intercept, c0, 1e-12);
        near(st.normalised_fit, st.fit, 0);
        near(st.sum, st.mean * 50, 1e-12);
}

TEST(test_one_equal_zero)
{
        struct trend_cell one = { .cell.n = 0 }, equal = { .cell.n = 0 }, zero = { .cell.n = 0 };
        struct statistics st;

        trend_cell_add(&one, SECOND, 5);
        statistics_of(&one, (struct time_range){ 0, 2 * SECOND }, &st);
        assert_int_equal(st.count, 1);
        assert_true(isnan(st.stddev) && isnan(st.slope) && isnan(st.fit) && isnan(st.normalised_slope));
        for (uint64_t i = 0; i < 10; i++) {
                trend_cell_add(&equal, i * SECOND, 20e9);
                trend_cell_add(&zero, i * SECOND, 0);
        }
        statistics_of(&equal, (struct time_range){ 0, 10 * SECOND }, &st);
        assert_true(st.slope == 0 && st.stddev == 0 && isnan(st.fit) && st.intercept == 20e9);
        statistics_of(&zero, (struct time_range){ 0, 10 * SECOND }, &st);
        assert_true(st.slope == 0 && st.mean == 0 && isnan(st.normalised_slope));
}

static int compare(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

TEST(test_sketch)
{
        static const double qs[] = { 0.01, 0.5, 0.9, 0.99, 1 };
        static double sorted[POINTS];
        struct series_sketch s = { 0 };
        double area = 0;

        make_up();
        assert_true(isnan(series_sketch_quantile(&s, (struct time_range){ 0, UINT64_MAX }, 0.5)));
        for (size_t i = 0; i < POINTS; i++) {
                values[i] = (double)((i * 7919) % 100003 * (i % 13 + 1));
                series_sketch_push(&s, i * 10 * SECOND, (uint64_t)values[i]);
                area += i ? (values[i] + values[i - 1]) / 2 * 10 : 0;
        }
        memcpy(sorted, values, sizeof(sorted));
        qsort(sorted, POINTS, sizeof(*sorted), compare);
        for (size_t i = 0; i < sizeof(qs) / sizeof(qs[0]); i++)
                near(series_sketch_quantile(&s, (struct time_range){ 0, UINT64_MAX }, qs[i]),
                     sorted[(size_t)ceil(qs[i] * POINTS) - 1], 1.0 / 32);
        near(series_sketch_area(&s, (struct time_range){ 0, UINT64_MAX }), area, 1e-12);
        uint64_t end = POINTS * 10 * SECOND, from = end - HOUR; /* the last hour: 360 samples */
        size_t first = POINTS - 360;
        memcpy(sorted, values + first, 360 * sizeof(*sorted));
        qsort(sorted, 360, sizeof(*sorted), compare);
        near(series_sketch_quantile(&s, (struct time_range){ from, end }, 0.5), sorted[179],
             0.15);                         /* to the width of a slice */
        for (uint64_t v = 0; v < 64; v++) { /* small numbers are exact */
                struct series_sketch small = { 0 };
                series_sketch_push(&small, SECOND, v);
                assert_true(series_sketch_quantile(&small, (struct time_range){ 0, UINT64_MAX }, 0.5) == (double)v);
                series_sketch_done(&small);
        }
        series_sketch_push(&s, 0, UINT64_MAX); /* late and as large as can be: in the total, not in the rings */
        near(series_sketch_quantile(&s, (struct time_range){ 0, UINT64_MAX }, 1), 18446744073709551616.0, 1.0 / 32);
        series_sketch_done(&s);
}

/* One that is read after each sample has each counted at once: what waits for its minute's end is read, too. */
TEST(test_reading_changes_no_sketch)
{
        struct series_sketch read = { 0 }, unread = { 0 };
        uint64_t seed = 1;

        for (unsigned i = 0; i < 5000; i++) {
                seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
                const uint64_t late_ns = seed >> 60 == 0 ? (seed >> 40) % 900 * SECOND : 0;
                const uint64_t time_ns = i * 3 * SECOND > late_ns ? i * 3 * SECOND - late_ns : 0, value = seed >> 50;
                series_sketch_push(&read, time_ns, value);
                series_sketch_push(&unread, time_ns, value);
                assert_false(isnan(series_sketch_quantile(&read, (struct time_range){ 0, UINT64_MAX }, 0.5)));
        }
        for (uint64_t from = 0; from < 15000 * SECOND; from += 61 * SECOND)
                for (uint64_t end = from + 61 * SECOND; end < 16000 * SECOND; end += 977 * SECOND) {
                        const struct time_range range = { from, end };
                        const double a = series_sketch_area(&unread, range), b = series_sketch_area(&read, range);
                        const double p = series_sketch_quantile(&unread, range, 0.9);
                        assert_true(p == series_sketch_quantile(&read, range, 0.9) || isnan(p));
                        assert_true(a == b || (isnan(a) && isnan(b)));
                }
        series_sketch_done(&read);
        series_sketch_done(&unread);
}

TEST(test_late_samples_bend_no_area)
{
        struct series_sketch s = { 0 };

        series_sketch_push(&s, 10 * SECOND, 100);
        series_sketch_push(&s, 20 * SECOND, 100);
        series_sketch_push(&s, 15 * SECOND, 1000000);
        series_sketch_push(&s, 30 * SECOND, 100);
        assert_true(series_sketch_area(&s, (struct time_range){ 0, UINT64_MAX }) == 2000);
        series_sketch_done(&s);
}

TEST(test_band_windows)
{
        struct band_windows w = { .area = 0 };
        struct one_band band;
        struct range_samples span;
        struct trend_cell exact = { .cell.n = 0 };
        struct statistics got, wanted;

        one_band_init(&band);
        assert_false(band_windows_span(&w, NULL, (struct time_range){ 0, UINT64_MAX }, &span));
        for (uint64_t s = 0; s < 8 * 3600; s++) {
                double v = 20e9 + (double)s * 100 + (double)(s * 7919 % 1000) * 1000;
                one_band_push(&band, s * SECOND, v);
                if (s >= 7 * 3600)
                        trend_cell_add(&exact, s * SECOND, v);
        }
        w = one_band_windows(&band);
        assert_true(band_windows_span(&w, NULL, (struct time_range){ 7 * HOUR, 8 * HOUR }, &span));
        statistics_of(&span.all, (struct time_range){ 7 * HOUR, 8 * HOUR }, &got);
        statistics_of(&exact, (struct time_range){ 7 * HOUR, 8 * HOUR }, &wanted);
        assert_int_equal(got.count, wanted.count);
        near(got.mean, wanted.mean, 1e-9);
        near(got.slope, wanted.slope, 1e-3);
        near(got.stddev, wanted.stddev, 1e-3);
        near(got.max, wanted.max, 1e-6);
        near(span.area, 20e9 * 3600, 0.01);
        band_windows_done(&w);
        one_band_done(&band);
}
