/* SPDX-License-Identifier: BSD-3-Clause */
/* onset.c: bends at known minutes, one miss tolerated, coarse levels, and never after the window. */
#include <math.h>
#include "tests/unit/test.h"

#include "daemon/judge/trend/trend.h"

static struct ladder ladder;
static struct life life;
static struct windows windows;

static void run(double (*curve)(unsigned), unsigned minutes)
{
        ladder_done(&ladder);
        life_done(&life);
        windows_done(&windows);
        windows_init(&windows, 180);
        for (unsigned m = 0; m < minutes; m++) {
                unsigned gained = ladder_push(&ladder, curve(m));

                if (gained > 1)
                        life_push(&life, ladder_floor(&ladder, 1, 0));
                windows_judge(&windows, &ladder, &life, gained, WINDOWS_SHAPES);
        }
}

static uint64_t onset(unsigned window)
{
        return onset_minute(&ladder, &windows, window);
}

static double line(unsigned m)
{
        return 1e9 + 1e6 * m;
}

static double bend_at_480(unsigned m)
{
        return 1e9 + (m > 480 ? 1e6 * (m - 480) : 0);
}

static double with_one_bucket_off(unsigned m)
{
        return m / 4 == 100 ? 5e9 : line(m);
}

static double with_two_buckets_off(unsigned m)
{
        return m / 4 == 100 || m / 4 == 99 ? 5e9 : line(m);
}

static double with_hole(unsigned m)
{
        return m >= 400 && m < 408 ? (double)NAN : line(m);
}

TEST(a_line_from_the_start)
{
        run(line, 1600);
        assert_int_equal(onset(13), 0); /* 1536 minutes */
        /* Narrower ones follow their own level and the next; floors of wider buckets lie too low on a rising line. */
        assert_int_equal(onset(5), 832);
        assert_int_equal(onset(9), 0);
}

TEST(a_bend)
{
        run(bend_at_480, 768);
        /* 192 minutes of 4: the window begins at 576; 5 % of its rise are tolerated, 10 minutes of it. */
        assert_in_range(onset(7), 464, 484);
        /* 288 minutes of 16, from the bend on. */
        assert_in_range(onset(8), 464, 480);
}

/* A service loads its data in its first minute, and begins to grow by less than that in its sixth. */
static double loaded_then_bend_at_5(unsigned m)
{
        return m == 0 ? 0.1e6 : 2.4e6 + (m > 5 ? 0.13e6 * (m - 5) : 0);
}

TEST(the_start_is_no_level)
{
        run(loaded_then_bend_at_5, 24);
        assert_in_range(onset(1), 4, 6); /* 24 minutes */
}

TEST(the_window_itself)
{
        run(bend_at_480, 672); /* the window covers 480 .. 672 and nothing before it lies on its line */
        assert_in_range(onset(7), 464, 480);
}

/* Bucket 100 of level 1 (minutes 400 .. 404) is far off the line and is skipped. */
TEST(one_miss_is_forgiven)
{
        run(with_one_bucket_off, 500);
        assert_true(windows_result(&windows, 4)->filled);
        assert_true(windows_result(&windows, 4)->ended == 500);
        assert_int_equal(onset(4), 308); /* where the level ends: 48 buckets before 500 */
}

TEST(two_misses_are_the_bend)
{
        run(with_two_buckets_off, 500);
        assert_int_equal(onset(4), 404);
}

/* Two empty buckets of 4 minutes end the walk: nothing is known of what lies beyond. */
TEST(a_hole_ends_the_walk)
{
        run(with_hole, 500);
        assert_int_equal(onset(4), 408);
}
