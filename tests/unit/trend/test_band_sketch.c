/* SPDX-License-Identifier: BSD-3-Clause */
/* A band's quantiles against all samples kept: within the stated share of a value that was there. */
#include <math.h>
#include <stdlib.h>

#include "tests/unit/test.h"

#include "tests/unit/trend/random.h"
#include "daemon/judge/trend/band_sketch.h"

#define SECOND      UINT64_C(1000000000)
#define SAMPLES_MAX 60000u

static const uint64_t widths[] = { 100 * SECOND, 600 * SECOND, 3600 * SECOND, 14400 * SECOND };
static const double qs[] = { 0, 0.1, 0.5, 0.9, 0.99, 1 };

#define QS (sizeof(qs) / sizeof(qs[0]))

static struct {
        uint64_t time_ns;
        double bytes;
} samples[SAMPLES_MAX];
static unsigned n_samples;
static struct band_sketch sketch;

static void begin(void)
{
        n_samples = 0;
        band_sketch_done(&sketch);
}

static void push(uint64_t time_ns, double bytes)
{
        assert_true(n_samples < SAMPLES_MAX);
        samples[n_samples].time_ns = time_ns;
        samples[n_samples++].bytes = bytes;
        band_sketch_push(&sketch, band_sketch_index(time_ns), bytes);
}

static int rising(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

/* What the header's table promises for values so far apart. */
static double within(double smallest, double largest)
{
        static const struct {
                double ratio, error;
        } table[] = {
                { 1.08, 1.0 / 256 }, { 1.17, 1.0 / 128 }, { 1.4, 1.0 / 64 }, { 2.2, 1.0 / 32 },
                { 4.9, 1.0 / 16 },   { 25, 1.0 / 8 },     { 680, 1.0 / 4 },
        };

        for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
                if (largest <= table[i].ratio * smallest)
                        return table[i].error;
        return 1;
}

/* All samples of [from_ns, to_ns), sorted; returns their number. */
static unsigned pick(uint64_t from_ns, uint64_t to_ns, bool zeros, double *sorted)
{
        unsigned n = 0;

        for (unsigned i = 0; i < n_samples; i++)
                if (samples[i].time_ns >= from_ns && samples[i].time_ns < to_ns && (zeros || samples[i].bytes > 0))
                        sorted[n++] = samples[i].bytes;
        qsort(sorted, n, sizeof(*sorted), rising);
        return n;
}

static void near(double is, double wanted, double error)
{
        if (!(fabs(is - wanted) <= error * wanted * (1 + 1e-6)))
                print_message("%.10g, expected %.10g within %g\n", is, wanted, error);
        assert_true(fabs(is - wanted) <= error * wanted * (1 + 1e-6));
}

/* The quantiles of an interval of whole slices. */
static void check(uint64_t from_ns, uint64_t to_ns)
{
        static double sorted[SAMPLES_MAX];
        double got[QS];
        unsigned n = pick(from_ns, to_ns, from_ns != 0, sorted), least = 0;

        assert_int_equal(band_sketch_quantiles(&sketch, (struct time_range){ from_ns, to_ns }, qs, QS, got), n > 0);
        while (least < n && sorted[least] < 1)
                least++;
        for (unsigned i = 0; n && i < QS; i++) {
                unsigned rank = (unsigned)ceil(qs[i] * n);
                near(got[i], sorted[rank ? rank - 1 : 0], least < n ? within(sorted[least], sorted[n - 1]) : 0);
        }
}

/* Ranges of each ring that end with the newest sample, and the run. */
static void check_all(uint64_t newest_ns)
{
        for (unsigned r = 0; r < BAND_RINGS; r++) {
                uint64_t now = newest_ns / widths[r];
                check((now > 6 ? now - 6 : 1) * widths[r], newest_ns + 1);
        }
        check(0, newest_ns + 1);
}

/* ------------------------------------------------------------------- tests */

/* A value that differs from the level by up to `octaves` powers of two. */
static double scattered(struct random *seed, double level, double octaves)
{
        return floor(level * exp2(octaves * random_unit(seed)));
}

TEST(values_of_any_scatter)
{
        static const double octaves[] = { 0, 0.03, 0.1, 0.2, 0.45, 1, 2.2, 4.5, 9, 20 };

        for (size_t k = 0; k < sizeof(octaves) / sizeof(octaves[0]); k++) {
                struct random seed = { k + 1 };
                uint64_t time_ns = 500 * SECOND;

                begin();
                for (unsigned i = 0; i < 6000; i++) {
                        time_ns += (uint64_t)(random_unit(&seed) * 20 * (double)SECOND);
                        push(time_ns, scattered(&seed, 1e6, octaves[k]));
                        if (i % 1499 == 0)
                                check_all(time_ns);
                }
                check_all(time_ns);
        }
}

TEST(a_band_that_grows)
{
        begin();
        for (uint64_t s = 600; s < 100000; s += 10) {
                push(s * SECOND, 65536 + (double)s * 20000);
                if (s % 9970 == 0)
                        check_all(s * SECOND);
        }
}

/* Two levels far apart are exact to the width of a cell: no value in between is invented. */
TEST(two_levels)
{
        double q = 0.5, v;

        begin();
        for (unsigned i = 0; i < 100; i++)
                push((200 + i) * SECOND, i % 10 < 6 ? 100000 : 5e7);
        assert_true(band_sketch_quantiles(&sketch, (struct time_range){ 200 * SECOND, 300 * SECOND }, &q, 1, &v));
        near(v, 100000, 1.0 / 4);
        q = 0.61;
        assert_true(band_sketch_quantiles(&sketch, (struct time_range){ 200 * SECOND, 300 * SECOND }, &q, 1, &v));
        near(v, 5e7, 1.0 / 4);
}

/* A census without the band is 0 bytes in windows, and does not count over the run. */
TEST(nothing_there)
{
        begin();
        for (unsigned i = 0; i < 300; i++) {
                push((1000 + i) * SECOND, i % 3 ? 0 : 1e6 + i);
                if (i % 37 == 0)
                        check_all((1000 + i) * SECOND);
        }
        begin();
        push(1000 * SECOND, 0);
        check_all(1000 * SECOND);
}

TEST(late_ones_find_their_slices)
{
        struct random seed = { 7 };
        uint64_t time_ns = 20000 * SECOND;

        begin();
        for (unsigned i = 0; i < 5000; i++) {
                time_ns += (uint64_t)(random_unit(&seed) * 10 * (double)SECOND);
                uint64_t late = i % 8 ? 0 : (uint64_t)(random_unit(&seed) * 400 * (double)SECOND);
                push(time_ns - late, scattered(&seed, 3e8, 1));
        }
        check_all(time_ns);
        push(1, 1e6); /* long gone: only in the total */
        check(0, time_ns + 1);
}

/* More samples than a counter holds: ranks stay within 0.1 %. */
TEST(a_census_a_millisecond)
{
        static const double q[] = { 0.001, 0.5, 0.989, 0.991, 0.999 };
        double v[5];

        band_sketch_done(&sketch);
        for (uint64_t ms = 0; ms < 3000000; ms++) /* 1 % are ten times as large, one in 10^5 a thousand times */
                band_sketch_push(&sketch, band_sketch_index(ms * 1000000 + SECOND),
                                 ms % 100000 == 99999 ? 1e9
                                 : ms % 100 == 50     ? 1e7
                                                      : 1e6);
        for (unsigned whole = 0; whole < 2; whole++) {
                assert_true(
                        band_sketch_quantiles(&sketch, (struct time_range){ whole ? 0 : 1, 3001 * SECOND }, q, 5, v));
                near(v[0], 1e6, 1.0 / 2);
                near(v[1], 1e6, 1.0 / 2);
                near(v[2], 1e6, 1.0 / 2);
                near(v[3], 1e7, 1.0 / 2);
                near(v[4], 1e7, 1.0 / 2);
        }
}

TEST(the_largest_values)
{
        double q = 1, v;

        begin();
        push(1000 * SECOND, 1);
        push(1001 * SECOND, 0);
        push(1002 * SECOND, 18446744073709549568.0);
        assert_true(band_sketch_quantiles(&sketch, (struct time_range){ 0, UINT64_MAX }, &q, 1, &v));
        assert_true(v > 1e18 && v < 1e20);
        push(UINT64_MAX, 5);
        assert_true(band_sketch_quantiles(&sketch, (struct time_range){ UINT64_MAX - SECOND, UINT64_MAX }, &q, 1, &v));
        near(v, 5, 1.0 / 1000);
        assert_false(band_sketch_quantiles(&sketch, (struct time_range){ 2000 * SECOND, 1000 * SECOND }, &q, 1, &v));
        band_sketch_done(&sketch);
        assert_false(band_sketch_quantiles(&sketch, (struct time_range){ 0, UINT64_MAX }, &q, 1, &v));
}
