/* SPDX-License-Identifier: BSD-3-Clause */
/* Values over the time of a run: of any length, means and peaks are exact, and noise is what it claims to be. */
#include <math.h>
#include <string.h>

#include "tests/unit/test.h"

#include "client/past/diff/meter.h"

#define MS UINT64_C(1000000)

TEST(test_empty)
{
        const struct bins b = { .lines = 0 };

        assert_true(isnan(bins_mean(&b)));
        assert_int_equal(bins_covered(&b), 0);
        assert_false(bins_noise_of_mean(&b).known);
        assert_false(bins_noise_of_peak(&b).known);
}

/* 0 to 100 and back to 0: the mean is 50 and the peak 100, in a run of 2 ms as in one of 20,000 s. */
TEST(test_lines_of_any_length)
{
        for (uint64_t half = MS; half <= 10000000 * MS; half *= 10) {
                struct bins b = { .lines = 0 };
                bins_add(&b, 5 * MS, 5 * MS + half, 0, 100);
                bins_add(&b, 5 * MS + half, 5 * MS + 2 * half, 100, 0);
                assert_float_equal(bins_mean(&b), 50, 1e-6);
                assert_int_equal(bins_covered(&b), 2 * half);
        }
}

/* A gap without a value is no zero. */
TEST(test_gap)
{
        struct bins b = { .lines = 0 };

        bins_add(&b, 0, 10 * MS, 8, 8);
        bins_add(&b, 1000 * MS, 1010 * MS, 16, 16);
        assert_float_equal(bins_mean(&b), 12, 1e-9);
        assert_int_equal(bins_covered(&b), 20 * MS);
}

/* Calls before the first one, and empty ones, are ignored. */
TEST(test_out_of_order)
{
        struct bins b = { .lines = 0 };

        bins_add(&b, 10 * MS, 20 * MS, 1, 1);
        bins_add(&b, 5 * MS, 8 * MS, 100, 100);
        bins_add(&b, 20 * MS, 20 * MS, 100, 100);
        assert_int_equal(bins_covered(&b), 10 * MS);
}

/* Growth in a straight line is not noise; what varies about it is. */
TEST(test_noise)
{
        struct bins line = { .lines = 0 }, wave = { .lines = 0 };

        for (uint64_t i = 0; i < 64; i++) {
                const double at = 1000 + 10 * (double)i;
                bins_add(&line, i * MS, (i + 1) * MS, at, at + 10);
                bins_add(&wave, i * MS, (i + 1) * MS, at + (i / 4 % 2 ? 50 : -50), at + (i / 4 % 2 ? 50 : -50));
        }
        assert_true(bins_noise_of_mean(&line).known);
        assert_float_equal(bins_noise_of_mean(&line).error, 0, 1e-6);
        assert_float_equal(bins_noise_of_peak(&line).error, 0, 1e-6);
        assert_int_equal(bins_noise_of_mean(&line).freedom, 14); /* 16 intervals, and a line through them */
        assert_true(bins_noise_of_peak(&wave).error > 40 && bins_noise_of_peak(&wave).error < 60);
}

/* A value given seven times tells nothing about noise, however long the run. */
TEST(test_few_lines)
{
        struct bins b = { .lines = 0 };

        for (uint64_t i = 0; i < 7; i++)
                bins_add(&b, i * 1000 * MS, (i + 1) * 1000 * MS, (double)(i % 3), 1);
        assert_false(bins_noise_of_mean(&b).known);
}
