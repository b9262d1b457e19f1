/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_shift.c - differences with intervals: known values, and the rate of wrong decisions over pairs of groups drawn
 * from a fixed seed.
 */
#include <math.h>
#include "tests/unit/test.h"

#include "client/past/diff/meter.h"

#define PAIRS 200

static uint64_t state = 20260101;

/* xorshift64*, Vigna 2016 */
static double uniform(void)
{
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        return ((double)(state * 0x2545f4914f6cdd1du >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
        return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

static void same(double a, double b)
{
        assert_true(fabs(a - b) <= 1e-9 * fmax(1, fabs(b)));
}

static struct shift between(const double *a, size_t m, const double *b, size_t n)
{
        struct shift s;

        assert_int_equal(shift_between(&(struct sample){ a, m, NULL }, &(struct sample){ b, n, NULL }, &s), 0);
        return s;
}

/* 5 against 5: the critical value is 2, so the interval is from the third smallest to the third largest difference. */
TEST(test_ranks)
{
        const double a[] = { 3.1, 4.0, 2.9, 3.7, 4.4 }, b[] = { 2.0, 1.6, 2.6, 2.2, 3.0 };
        struct shift s = between(a, 5, b, 5);

        assert_int_equal(s.basis, SHIFT_RANKS);
        same(s.by, 1.4);
        same(s.low, 0.3);
        same(s.high, 2.4);
        same(s.level, 1 - 2 * 4 / 252.0); /* 4 of C(10, 5) arrangements have a sum of 2 or less */
}

/* 1 - 2 / C(8, 4) */
TEST(test_level_of_four_against_four)
{
        const double a[] = { 1, 2, 3, 4 }, b[] = { 11, 12, 13, 14 };
        struct shift s = between(a, 4, b, 4);

        assert_int_equal(s.basis, SHIFT_RANKS);
        same(s.level, 1 - 2 / 70.0);
        same(s.low, -13); /* all differences: nothing is cut */
        same(s.high, -7);
}

/* 4 degrees of freedom, variance 1: 4 -+ 2.776 * sqrt(2 / 3) */
TEST(test_three_against_three_is_students)
{
        const double a[] = { 5, 6, 7 }, b[] = { 1, 2, 3 };
        struct shift s = between(a, 3, b, 3);

        assert_int_equal(s.basis, SHIFT_STUDENT);
        same(s.by, 4);
        same(s.high - s.by, 2.776 * sqrt(2 / 3.0));
}

TEST(test_what_is_not_known)
{
        const double a[] = { NAN, 2 }, b[] = { NAN };
        struct shift s = between(a, 2, b, 1);

        assert_false(s.known);
        assert_int_equal(s.basis, SHIFT_NONE);
        s = between(a, 2, a, 2); /* one number each, no noise */
        assert_true(s.known);
        assert_int_equal(s.basis, SHIFT_NONE);
}

/* One run each: their own noise. */
TEST(test_within)
{
        const double a[] = { 10 }, b[] = { 8 };
        struct noise x = { true, 0.3, 14 }, y = { true, 0.4, 1000 };
        struct shift s;

        assert_int_equal(shift_between(&(struct sample){ a, 1, &x }, &(struct sample){ b, 1, &y }, &s), 0);
        assert_int_equal(s.basis, SHIFT_WITHIN);
        same(s.high, 2 + shift_t(14) * 0.5);
}

/* Runs of a program whose number varies by `noise` from run to run; a share of them, `wild`, is far off. */
static void draw(double *v, size_t n, double level, double noise, double wild)
{
        for (size_t i = 0; i < n; i++)
                v[i] = level * (1 + noise * normal()) * (uniform() < wild ? 1.2 : 1);
}

/* How many of PAIRS pairs of k runs are decided as beyond `bound` (a share), when b's truth is `more` above a's. */
static int decided(size_t k, double noise, double wild, double more, double bound)
{
        double a[32], b[32];
        int beyond = 0;

        for (int i = 0; i < PAIRS; i++) {
                draw(b, k, 1e6, noise, wild);
                draw(a, k, 1e6 * (1 + more), noise, wild);
                beyond += between(a, k, b, k).low > bound * shift_median(b, k);
        }
        return beyond;
}

TEST(test_few_decisions_are_wrong)
{
        static const struct {
                size_t k;
                double noise, wild;
        } promised[] = { { 5, 0.0075, 0 },
                         { 10, 0.0125, 0.02 },
                         { 20, 0.02, 0.02 } }; /* that 5 % more are found beyond a bound of 2 % */

        for (size_t i = 0; i < 3; i++) {
                int alarms = decided(promised[i].k, promised[i].noise, promised[i].wild, 0, 0);
                int misses = PAIRS - decided(promised[i].k, promised[i].noise, promised[i].wild, 0.05, 0.02);
                print_message("%zu runs a side, noise %.2f %%: %d of %d false alarms, %d of %d missed\n", promised[i].k,
                              promised[i].noise * 100, alarms, PAIRS, misses, PAIRS);
                assert_true(alarms <= PAIRS / 20);
                assert_true(misses <= PAIRS / 20);
        }
        assert_true(decided(3, 0.01, 0, 0, 0) <= PAIRS / 20); /* three runs find less, and are not wrong more often */
}

/* A series of 1,000 samples, correlated, about a level. */
static void walk(struct bins *b, double level, double noise, double slope)
{
        double off = 0, last = level;

        *b = (struct bins){ .lines = 0 };
        for (uint64_t i = 1; i <= 1000; i++) {
                off = 0.8 * off + noise * level * normal();
                double value = level + off + slope * (double)i;
                bins_add(b, (i - 1) * 10000000, i * 10000000, last, value);
                last = value;
        }
}

TEST(test_one_run_each)
{
        struct bins x, y;
        int alarms = 0, misses = 0;

        for (int i = 0; i < PAIRS; i++) {
                walk(&x, 1e6, 0.01, 50);
                walk(&y, 1e6, 0.01, 50);
                double a = bins_mean(&x), b = bins_mean(&y);
                struct noise na = bins_noise_of_mean(&x), nb = bins_noise_of_mean(&y);
                struct shift s;
                assert_int_equal(shift_between(&(struct sample){ &a, 1, &na }, &(struct sample){ &b, 1, &nb }, &s), 0);
                assert_int_equal(s.basis, SHIFT_WITHIN);
                alarms += s.low > 0;
                a *= 1.05;
                assert_int_equal(shift_between(&(struct sample){ &a, 1, &na }, &(struct sample){ &b, 1, &nb }, &s), 0);
                misses += s.low <= 0.02 * b;
        }
        print_message("one run each: %d of %d false alarms, %d of %d missed\n", alarms, PAIRS, misses, PAIRS);
        assert_true(alarms <= PAIRS / 20);
        assert_true(misses <= PAIRS / 20);
}

TEST(test_bins)
{
        struct bins b = { .lines = 0 };

        assert_true(isnan(bins_mean(&b)));
        bins_add(&b, 1000, 3600u * UINT64_C(1000000000), 0, 100); /* an hour in one line */
        same(bins_mean(&b), 50);
        assert_int_equal(bins_covered(&b), 3600u * UINT64_C(1000000000) - 1000);
        bins_add(&b, 3600u * UINT64_C(1000000000), 7200u * UINT64_C(1000000000), 50, 50);
        same(bins_mean(&b), 50);
        bins_add(&b, 10, 500, 1e9, 1e9); /* before the first: left out */
        /* a straight line has no noise */
        struct noise n = bins_noise_of_mean(&(struct bins){ .lines = 0 });
        assert_false(n.known);
}
