/* SPDX-License-Identifier: BSD-3-Clause */
/* ladder.c against a model that keeps every minute and computes each bucket from scratch. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include "tests/unit/test.h"

#include "tests/unit/trend/random.h"
#include "daemon/judge/trend/ladder.h"

#define MINUTES 60000u

static double all[MINUTES];

static int by_value(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

/* Bucket `number` of a level, from the minutes themselves. */
static double naive_floor(unsigned level, uint64_t number)
{
        double v[4];
        unsigned k = 0;

        if (level == 0)
                return all[number];
        for (unsigned i = 0; i < 4; i++) {
                double child = naive_floor(level - 1, number * 4 + i);

                if (!isnan(child))
                        v[k++] = child;
        }
        qsort(v, k, sizeof(*v), by_value);
        switch (k) {
        case 0:
                return NAN;
        case 1:
        case 2:
                return v[0];
        default:
                return (v[0] + v[1]) / 2;
        }
}

static double naive_high(unsigned level, uint64_t number)
{
        double high = NAN;

        if (level < 3)
                return naive_floor(level, number);
        for (unsigned i = 0; i < 4; i++)
                high = fmax(high, naive_high(level - 1, number * 4 + i));
        return high;
}

static void assert_same(double a, double b)
{
        if (isnan(b))
                assert_true(isnan(a));
        else
                assert_true(a == b);
}

/* Highs of the wide levels are kept in single precision. */
static void assert_high(double a, double b)
{
        assert_same((double)(float)a, (double)(float)b);
}

static void assert_ladder(const struct ladder *l, uint64_t minutes)
{
        for (unsigned level = 0; level < LADDER_LEVELS; level++) {
                uint64_t count = minutes / ladder_width(level);
                unsigned kept = count < 48 ? (unsigned)count : 48;

                assert_int_equal(ladder_count(l, level), count);
                assert_int_equal(ladder_kept(l, level), kept);
                for (unsigned age = 0; age < kept; age++) {
                        assert_same(ladder_floor(l, level, age), naive_floor(level, count - 1 - age));
                        if (level < 5)
                                assert_high(ladder_high(l, level, age), naive_high(level, count - 1 - age));
                }
        }
}

/* Pushes minutes of which `gap_pct` % are empty, with now and then a long hole, and compares after each of some. */
static void compare(uint64_t seed, unsigned gap_pct, unsigned minutes)
{
        static struct ladder l;
        struct random r = { seed };
        unsigned hole = 0;

        ladder_done(&l);
        for (unsigned m = 0; m < minutes; m++) {
                if (random_below(&r, 400) == 0)
                        hole = random_below(&r, 700);
                bool empty = hole > 0 || random_below(&r, 100) < gap_pct;

                hole -= hole > 0;
                all[m] = empty ? NAN : 1e9 + floor(1e6 * random_unit(&r));
                unsigned gained = ladder_push(&l, all[m]), want = 1;
                for (unsigned level = 1; level < 6; level++)
                        want += (m + 1) % (1u << (2 * level)) == 0;
                assert_int_equal(gained, want);
                if (m < 300 || m % 997 == 0 || want >= 5)
                        assert_ladder(&l, m + 1);
        }
        assert_ladder(&l, minutes);
}

TEST(widths)
{
        const unsigned want[] = { 1, 4, 16, 64, 256, 1024 };

        for (unsigned r = 0; r < LADDER_LEVELS; r++)
                assert_int_equal(ladder_width(r), want[r]);
        assert_int_equal(LADDER_MINUTES, 48 * 1024);
}

TEST(full)
{
        compare(3, 0, MINUTES);
}

TEST(with_gaps)
{
        compare(4, 30, MINUTES);
        compare(5, 90, 20000);
}

TEST(all_empty)
{
        compare(6, 100, 5000);
}

/* 1, 2 of 2, 2 of 3, 2 of 4: the lower half, rounded up. */
TEST(lower_half)
{
        const double in[][4] = { { NAN, 8, NAN, NAN }, { 9, NAN, 5, NAN }, { 6, 2, NAN, 4 }, { 40, 10, 30, 20 } };
        const double want[] = { 8, 5, 3, 15 };
        struct ladder l;

        for (unsigned k = 0; k < 4; k++) {
                ladder_init(&l);
                for (unsigned i = 0; i < 4; i++)
                        (void)ladder_push(&l, in[k][i]);
                assert_true(ladder_floor(&l, 1, 0) == want[k]);
                ladder_done(&l);
        }
}

/* Spikes of a minute leave no trace above. */
TEST(spikes)
{
        struct ladder l;

        ladder_init(&l);
        for (unsigned m = 0; m < 16; m++)
                (void)ladder_push(&l, m == 5 || m == 9 ? 1e12 : 100);
        assert_true(ladder_floor(&l, 2, 0) == 100);
        ladder_done(&l);
}
