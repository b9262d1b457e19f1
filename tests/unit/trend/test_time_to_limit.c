/* SPDX-License-Identifier: BSD-3-Clause */
/* time_to_limit.c: the interval of a straight growth by hand, slowing, speeding up, past the limit, no slope. */
#include <math.h>
#include "tests/unit/test.h"

#include "daemon/judge/trend/limit.h"

#define WINDOW  4u /* 18 points of 4 minutes */
#define POINT_S 240.0
#define SXX     484.5

static const struct recent_average nothing;

/* 2400 bytes a point: 10 bytes a second; +- 0.5. */
static struct window_result straight(void)
{
        return (struct window_result){
                .slope = 2400,
                .se = (float)(120 / 2.1),
                .sd = 100,
                .end = 100000,
                .old_slope = 2400,
                .new_slope = 2400,
                .sxx = SXX,
                .filled = 18,
        };
}

static struct time_to_limit meets(const struct window_result *r, const struct recent_average *average, double limit,
                                  double resolution_s)
{
        struct windows windows;

        windows_init(&windows, 180);
        windows_put(&windows, WINDOW, r);
        struct time_to_limit t = time_to_limit(&windows, WINDOW, average, limit, resolution_s);
        windows_done(&windows);
        return t;
}

static void assert_near(double got, double want)
{
        if (!(fabs(got - want) <= 1e-9 * fabs(want)))
                fail_msg("got %.17g, expected %.17g", got, want);
}

TEST(by_hand)
{
        struct window_result r = straight();
        struct time_to_limit t = meets(&r, &nothing, 201200, 60);

        /* The line is at 101200 at the window's end; +- 200 for the noise. */
        assert_near(t.early_s, (100000.0 - 200) / 10.5);
        assert_near(t.late_s, (100000.0 + 200) / 9.5);
}

/* Judged by seconds instead of minutes the same numbers come 60 times as soon. */
TEST(scales)
{
        struct window_result r = straight();
        struct time_to_limit t = meets(&r, &nothing, 201200, 60);
        struct time_to_limit fast = meets(&r, &nothing, 201200, 1);

        assert_near(fast.early_s, t.early_s / 60);
        assert_near(fast.late_s, t.late_s / 60);
}

TEST(the_average_fills_the_limit)
{
        struct window_result r = straight();
        struct recent_average a = { 0 };

        for (int m = 0; m < 6400; m++)
                recent_average_add(&a, 111200);
        assert_near(a.sum / a.weight, 111200);
        struct time_to_limit t = meets(&r, &a, 201200, 60);
        /* 111200 lags 3840 s behind. */
        assert_near(t.early_s, (201200 - 111200 - 38400 * a.weight - 200) / 10.5);
        assert_near(t.late_s, (100000.0 + 200) / 9.5);
}

/* The first minutes of an average count for themselves, not as if there had been zeros before. */
TEST(young_average)
{
        struct recent_average a = { 0 };

        recent_average_add(&a, 5000);
        assert_near(a.weight, 1 / 64.0);
        assert_near(a.sum / a.weight, 5000);
        recent_average_add(&a, 7000);
        assert_true(a.sum / a.weight > 6000 && a.sum / a.weight < 6010);
}

TEST(slowing)
{
        struct window_result r = straight();

        r.new_slope = 1200; /* below old - 4 se */
        struct time_to_limit t = meets(&r, &nothing, 201200, 60);
        assert_near(t.late_s, 100200 / 5.0);
        r.new_slope = -10;
        t = meets(&r, &nothing, 201200, 60);
        assert_true(isnan(t.late_s) && !isnan(t.early_s));
}

TEST(speeding_up)
{
        struct window_result r = straight();
        double gap = 100000 - 200, t_s, acc, s;

        r.new_slope = 3000; /* 600 more: above 8 sd / sqrt(sxx) = 36 */
        t_s = meets(&r, &nothing, 201200, 60).early_s;
        acc = 600 / 9.0 / (POINT_S * POINT_S);
        s = fmax(10.5, 3300 / POINT_S);
        assert_near(s * t_s + acc * t_s * t_s / 2, gap);
        assert_true(t_s < gap / 10.5);
}

/* Nothing goes on accelerating for ever: for eight windows of 18 points, then at that pace. */
TEST(speeding_up_ends)
{
        struct window_result r = straight();
        double acc = 600 / 9.0 / (POINT_S * POINT_S), s = fmax(10.5, 3300 / POINT_S), lasts = 8 * 18 * POINT_S;
        double by_then = s * lasts + acc * lasts * lasts / 2;

        r.new_slope = 3000;
        double t_s = meets(&r, &nothing, 1e9, 60).early_s;
        assert_near(t_s, lasts + (1e9 - 101200 - 200 - by_then) / (s + acc * lasts));
        assert_true(t_s > lasts);
}

TEST(past_it)
{
        struct window_result r = straight();
        struct time_to_limit t = meets(&r, &nothing, 5000, 60);

        assert_true(t.early_s == 0 && t.late_s == 0);
        t = meets(&r, &nothing, 101300, 60); /* within the noise */
        assert_true(t.early_s == 0 && t.late_s > 0);
}

TEST(not_rising)
{
        struct window_result r = straight();

        r.se = 2400; /* the interval holds 0 */
        struct time_to_limit t = meets(&r, &nothing, 201200, 60);
        assert_true(t.early_s > 0 && isnan(t.late_s));
        r.slope = -6000;
        t = meets(&r, &nothing, 201200, 60);
        assert_true(isnan(t.early_s) && isnan(t.late_s));
        r = straight();
        r.old_slope = r.new_slope = NAN; /* not known: neither slower nor faster */
        t = meets(&r, &nothing, 201200, 60);
        assert_near(t.early_s, 99800 / 10.5);
        assert_near(t.late_s, 100200 / 9.5);
}
