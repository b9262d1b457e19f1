/* SPDX-License-Identifier: BSD-3-Clause */
/* life.c: the whole run in 24 to 48 buckets, and what the ratio says of known curves. */
#include <math.h>
#include "tests/unit/test.h"

#include "tests/unit/trend/random.h"
#include "daemon/judge/trend/life.h"

#define PLACES 5000u

static double all[PLACES];

/* Plain means of `width` floors, which pairwise averages equal as long as no floor is missing. */
static void assert_means(const struct life *l, unsigned places)
{
        uint64_t width = 1;

        while (places / width > 48)
                width *= 2;
        assert_int_equal(l->width, width);
        assert_int_equal(l->count, places / width);
        assert_int_equal(l->places, places % width);
        for (unsigned k = 0; k < l->count; k++) {
                long double sum = 0;

                for (uint64_t i = 0; i < width; i++)
                        sum += all[k * width + i];
                assert_true(fabs((double)(sum / width) / life_means(l)[k] - 1) < 1e-12);
        }
}

TEST(spans_the_run)
{
        struct random r = { 11 };
        struct life l;

        life_init(&l);
        for (unsigned i = 0; i < PLACES; i++) {
                all[i] = 2e10 + 1e9 * random_unit(&r);
                life_push(&l, all[i]);
                assert_means(&l, i + 1);
                assert_true(i < 48 || l.count >= 24);
        }
        life_done(&l);
}

TEST(empty_ones_keep_their_place)
{
        struct life l;

        life_init(&l);
        for (unsigned i = 0; i < 49; i++)
                life_push(&l, i < 4 || i % 2 ? (double)NAN : (double)i);
        assert_int_equal(l.count, 24);
        assert_true(isnan(life_means(&l)[0]) && isnan(life_means(&l)[1]));
        assert_true(life_means(&l)[2] == 4 && life_means(&l)[23] == 46); /* the filled one of each pair */
        assert_true(l.filled == 1 && l.sum == 48);                       /* in the making, half wide */
        life_push(&l, NAN);
        assert_int_equal(l.count, 25);
        assert_true(life_means(&l)[24] == 48);
        life_done(&l);
}

static double ratio_of(double (*curve)(double), unsigned places)
{
        struct life l;

        life_init(&l);
        for (unsigned i = 0; i < places; i++)
                life_push(&l, curve(i));
        double ratio = life_ratio(&l);
        life_done(&l);
        return ratio;
}

static double line(double i)
{
        return 1e9 + 1000 * i;
}

static double logarithm(double i)
{
        return 1e9 + 1e7 * log1p(i);
}

static double late_leak(double i)
{
        return 1e9 + (i > 500 ? 1000 * (i - 500) : 0);
}

static double level(double i)
{
        return 1e9 + 0 * i;
}

static double falling(double i)
{
        return 1e9 - 1000 * i;
}

TEST(ratios)
{
        const unsigned places[] = { 30, 100, 1000, 5000 };

        for (unsigned k = 0; k < 4; k++) {
                assert_true(fabs(ratio_of(line, places[k]) - 1) < 0.2);
                assert_true(ratio_of(logarithm, places[k]) < 0.65);
        }
        assert_true(fabs(ratio_of(line, 5000) - 1) < 0.05);
        assert_true(ratio_of(late_leak, 1000) > 1);
        assert_true(ratio_of(level, 1000) == 99);
        assert_true(ratio_of(falling, 1000) == 99);
}

TEST(too_little)
{
        struct life l;

        assert_true(ratio_of(logarithm, 15) == 1);
        assert_true(ratio_of(logarithm, 16) < 0.7);
        life_init(&l);
        for (unsigned i = 0; i < 32; i++)
                life_push(&l, i < 20 ? (double)NAN : logarithm(i)); /* the older blocks are empty */
        assert_true(life_ratio(&l) == 1);
        life_done(&l);
}
