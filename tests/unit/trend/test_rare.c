/* SPDX-License-Identifier: BSD-3-Clause */
/* rare.c: lines through few samples at growing distances, plateaus, noise, silence, and never beside another window. */
#include <math.h>
#include <string.h>
#include "tests/unit/test.h"

#include "daemon/judge/trend/trend.h"
#include "tests/unit/trend/copied.h"
#include "tests/unit/trend/random.h"

#define MIN TREND_MINUTE_NS
#define MB  1e6

static struct trend t;

static void begin(void)
{
        struct trend_config c = trend_config_scaled(MIN);

        trend_done(&t);
        trend_init(&t, &c);
}

static double line(double m)
{
        return 50 * MB + 10 * MB * m;
}

static double cache_until_200(double m)
{
        return line(fmin(m, 200));
}

/* Samples at minutes first, first * ratio, ... up to `last`. Returns the last one's minute. */
static uint64_t push_geometric(double (*curve)(double), double first, double ratio, double last)
{
        double m = first;

        for (; m * ratio <= last; m *= ratio)
                assert_int_equal(trend_push(&t, (uint64_t)m * MIN, curve(floor(m))), TREND_PUSH_OK);
        (void)trend_push(&t, (uint64_t)m * MIN, curve(floor(m)));
        trend_close(&t, ((uint64_t)m + 1) * MIN);
        return (uint64_t)m;
}

static struct trend_result answer(void)
{
        struct trend_result r;

        trend_result(&t, &r);
        return r;
}

/* Each sample twice as late as the one before: no other window is ever filled. */
TEST(a_line)
{
        begin();
        uint64_t at = push_geometric(line, 2, 2, 300);
        trend_close(&t, (at + 5) * MIN);

        struct trend_result r = answer();
        assert_int_equal(r.verdict, TREND_GROWING);
        assert_int_equal(r.evidence.window, RARE_WINDOW);
        assert_true(r.evidence.points >= 5 && r.evidence.points <= 8);
        assert_true(fabs(r.slope * 60 / (10 * MB) - 1) < 0.05);
        assert_true(r.slope_low * 60 < 10 * MB && r.slope_high * 60 > 10 * MB);
        assert_true(r.onset_ns <= 4 * MIN);

        struct time_to_limit ttl;
        assert_true(trend_time_to_limit(&t, line((double)at + 100), &ttl));
        assert_true(ttl.early_s <= 6000 && ttl.late_s >= 6000 && ttl.early_s > 5000);
}

TEST(a_leak_when_it_lasts)
{
        begin();
        uint64_t at = push_geometric(line, 2, 1.5, 3000);
        trend_close(&t, (at + 20) * MIN);
        assert_int_equal(answer().verdict, TREND_LEAK);
        assert_int_equal(answer().evidence.window, RARE_WINDOW);
}

TEST(few_or_short_say_nothing)
{
        begin();
        for (unsigned m = 1; m <= 64; m *= 4) /* four samples */
                (void)trend_push(&t, m * MIN, line(m));
        trend_close(&t, 200 * MIN);
        assert_int_equal(answer().verdict, TREND_UNKNOWN);

        begin();
        for (unsigned m = 0; m < 15; m += 3) /* five, in less than 18 minutes */
                (void)trend_push(&t, m * MIN, line(m));
        trend_close(&t, 200 * MIN);
        assert_int_equal(answer().verdict, TREND_UNKNOWN);
}

TEST(a_cache_that_is_full)
{
        begin();
        uint64_t at = push_geometric(cache_until_200, 2, 1.6, 190);
        trend_close(&t, (at + 5) * MIN);
        assert_int_equal(answer().verdict, TREND_GROWING);
        for (unsigned m = 300; m <= 700; m += 100)
                (void)trend_push(&t, m * MIN, cache_until_200(m));
        trend_close(&t, 720 * MIN);
        assert_int_equal(answer().verdict, TREND_UNKNOWN);
}

/* Of flat series with five to fifty samples hardly any grows. */
TEST(noise)
{
        struct random rand = { 5 };
        unsigned grew = 0;

        for (unsigned series = 0; series < 200; series++) {
                double ratio = 1.2 + 0.01 * series;

                begin();
                for (double m = 2; m < 20000; m *= ratio) {
                        (void)trend_push(&t, (uint64_t)m * MIN, 500 * MB + 20 * MB * random_normal(&rand));
                        trend_close(&t, ((uint64_t)m + 10) * MIN);
                        grew += answer().verdict >= TREND_GROWING;
                }
        }
        assert_true(grew <= 3); /* of about 5000 */
}

/* The result ends after a silence as long as the window, and does so however the silence is closed. */
TEST(silence)
{
        static struct trend one;
        struct trend_result a, b;

        begin();
        uint64_t at = push_geometric(line, 2, 1.5, 150), span;
        trend_close(&t, (at + 5) * MIN);
        span = answer().evidence.span_ns / MIN;
        assert_int_equal(answer().verdict, TREND_GROWING);
        trend_done(&one);
        one = trend_copied(&t);
        for (uint64_t m = at + 6; m < at + 3 * span; m++) {
                while (trend_step(&one, m * MIN))
                        ;
                struct trend many = trend_copied(&t);
                trend_close(&many, m * MIN);
                trend_result(&one, &a);
                trend_result(&many, &b);
                assert_int_equal(a.verdict, b.verdict);
                assert_memory_equal(&one.verdict, &many.verdict, sizeof(one.verdict));
                assert_int_equal(one.windows.known, many.windows.known);
                if (m <= at + span)
                        assert_int_equal(a.verdict, TREND_GROWING);
                trend_done(&many);
        }
        assert_int_equal(a.verdict, TREND_UNKNOWN);
}

/* One sample a minute at first, then fewer and fewer: at no time is the growth called steady. */
TEST(thinning_out)
{
        uint64_t next = 0;

        begin();
        for (uint64_t m = 0; m < 600; m++) {
                if (m == next) {
                        assert_int_equal(trend_push(&t, m * MIN, line((double)m)), TREND_PUSH_OK);
                        next = m < 12 ? m + 1 : m + m / 6;
                }
                trend_close(&t, (m + 1) * MIN);
                struct trend_result r = answer();
                assert_int_not_equal(r.verdict, TREND_STEADY);
                if (m >= 22)
                        assert_true(r.verdict >= TREND_GROWING);
        }
}

/* Steady, with a sample in every second or third minute; then growth with samples ever further apart. */
TEST(steady_before_it_thins_out)
{
        uint64_t next = 0;

        begin();
        for (uint64_t m = 0; m < 350; m++) {
                double size = m < 80 ? 2 * MB : 2 * MB + 0.45 * MB * (double)(m - 80);

                if (m == next) {
                        assert_int_equal(trend_push(&t, m * MIN, size * (1 + (double)(m % 5) / 200)), TREND_PUSH_OK);
                        next = m + 2 + (m & 1) + (m < 80 ? 0 : (uint64_t)(0.3 * size / MB));
                }
                trend_close(&t, (m + 1) * MIN);
                struct trend_result r = answer();
                if (m > 60 && m < 80)
                        assert_int_equal(r.verdict, TREND_STEADY);
                if (m > 140)
                        assert_true(r.verdict >= TREND_GROWING && r.onset_ns > 60 * MIN && r.onset_ns < 90 * MIN);
        }
}

TEST(not_beside_another_window)
{
        begin();
        for (unsigned m = 0; m < 500; m++) {
                (void)trend_push(&t, m * MIN, line(m));
                assert_true(t.windows.known >> RARE_WINDOW == 0);
        }
        assert_int_equal(answer().verdict, TREND_LEAK);
}

/* Samples from a file. */
TEST(soundness)
{
        struct rare rare = { .n = 0 };

        assert_true(rare_is_sound(&rare, 0));
        for (unsigned m = 0; m < 100; m += 3)
                rare_push(&rare, m, m);
        assert_true(rare_is_sound(&rare, 100));
        assert_false(rare_is_sound(&rare, 99)); /* the newest is not closed yet */
        rare.floors[2] = INFINITY;
        assert_false(rare_is_sound(&rare, 100));
        rare.floors[2] = 1;
        rare.minutes[2] = rare.minutes[3];
        assert_false(rare_is_sound(&rare, 100));
}

/* Five samples may be further apart than any window: they are none. */
TEST(too_far_apart)
{
        begin();
        for (uint64_t k = 0; k < 12; k++) {
                (void)trend_push(&t, k * 40000 * MIN, line((double)k * 40000));
                trend_close(&t, (k * 40000 + 30) * MIN);
                assert_true(t.windows.rare_span <= LADDER_MINUTES);
        }
}
