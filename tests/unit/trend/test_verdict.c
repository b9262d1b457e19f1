/* SPDX-License-Identifier: BSD-3-Clause */
/* verdict.c: the state machine over scripts of window results. */
#include <math.h>
#include "tests/unit/test.h"

#include "daemon/judge/trend/verdict.h"

#define MIB 1048576.0

static struct verdict v;
static struct windows w;
static struct ladder l;
static uint64_t now;

static void begin(void)
{
        verdict_init(&v);
        windows_done(&w);
        windows_init(&w, 180);
        ladder_done(&l);
        now = 0;
        for (unsigned m = 0; m < 4; m++)
                (void)ladder_push(&l, 1000);
}

/* Window `index` has this result from now on; filled == 0: none. */
static void say(unsigned index, uint32_t passed, unsigned filled)
{
        windows_put(&w, index,
                    &(struct window_result){
                            .slope = 10, .end = 1000, .passed = (uint16_t)passed, .filled = (uint16_t)filled });
}

static enum trend_verdict step(void)
{
        struct verdict_signs signs = verdict_signs(&w);
        (void)verdict_step(&v, &signs, &l, ++now);
        return v.now;
}

static void steps(unsigned n, enum trend_verdict want)
{
        for (unsigned i = 0; i < n; i++)
                assert_int_equal(step(), want);
}

/* Makes the newest level-1 floor this. */
static void floor_is(double bytes)
{
        for (unsigned m = 0; m < 4; m++)
                (void)ladder_push(&l, bytes);
}

TEST(unknown_and_steady)
{
        begin();
        steps(50, TREND_UNKNOWN);
        say(3, 0, 18);
        steps(50, TREND_STEADY);
        assert_int_equal(v.since, 51);
        say(3, 0, 0);
        steps(1, TREND_UNKNOWN);
        assert_int_equal(v.since, 101);
}

/* The minute of the first such result counts as 0; 4 is reached at >=. */
TEST(growing_after_four)
{
        begin();
        say(0, TESTS_GROWS, 18);
        steps(4, TREND_UNKNOWN);
        steps(60, TREND_GROWING);
        begin();
        for (unsigned k = 0; k < 10; k++) { /* a break starts it again */
                say(0, TESTS_GROWS, 18);
                steps(4, k ? TREND_STEADY : TREND_UNKNOWN);
                say(0, 0, 18);
                steps(1, TREND_STEADY);
        }
}

/* A window that rises by 10 kB a point, in its last third by `last`; `noise` around its line. */
static void say_rising(double last, double noise)
{
        windows_put(&w, 0,
                    &(struct window_result){ .slope = 10000,
                                             .end = 1e6,
                                             .record = -INFINITY,
                                             .sd = (float)noise,
                                             .se = 5000,
                                             .sxx = 484,
                                             .new_slope = 5000,
                                             .last_slope = (float)last,
                                             .passed = TEST_BIT(TEST_RISES) | TEST_BIT(TEST_FRESH),
                                             .filled = 18 });
}

/* What has risen since its start, not yet clearly or more slowly of late, is not called steady before minute 48. */
TEST(a_rise_is_open_for_a_while)
{
        begin();
        say_rising(1, 40000);
        steps(47, TREND_UNKNOWN);
        steps(50, TREND_STEADY);
        begin();
        say_rising(1, 50000); /* lost in the noise */
        steps(1, TREND_STEADY);
        begin();
        say_rising(1, 40000);
        steps(20, TREND_UNKNOWN);
        say_rising(0, 40000); /* it has come to an end */
        steps(1, TREND_STEADY);
        say_rising(1, 40000); /* that is not taken back */
        steps(1, TREND_STEADY);
}

TEST(any_window_will_do)
{
        begin();
        for (unsigned k = 0; k < 8; k++) {
                say(k, TESTS_GROWS, 18);
                if (k > 0)
                        say(k - 1, 0, 18);
                steps(1, k < 4 ? TREND_UNKNOWN : TREND_GROWING);
        }
}

TEST(growing_stays_fifteen)
{
        begin();
        say(0, TESTS_GROWS, 18);
        steps(4, TREND_UNKNOWN);
        steps(1, TREND_GROWING);
        say(0, 0, 18);
        steps(14, TREND_GROWING);
        say(0, TESTS_GROWS, 18); /* one minute of growth starts the stay again */
        steps(1, TREND_GROWING);
        say(0, 0, 18);
        steps(14, TREND_GROWING);
        steps(10, TREND_STEADY);
}

/* The rise ended at 1000 with 10 a point: its middle is 910. */
TEST(leaves_when_taken_back)
{
        begin();
        say(0, TESTS_GROWS, 18);
        steps(4, TREND_UNKNOWN);
        steps(1, TREND_GROWING);
        floor_is(100);
        steps(5, TREND_GROWING); /* while a window still grows the floor does not matter */
        floor_is(910);
        say(0, 0, 18);
        steps(2, TREND_GROWING);
        floor_is(NAN); /* not known is not low */
        steps(2, TREND_GROWING);
        floor_is(909);
        steps(1, TREND_STEADY);
}

/* A step whose minute has this floor, in MiB. */
static enum trend_verdict step_at(double floor)
{
        struct verdict_signs signs = verdict_signs(&w);

        signs.floor = floor * MIB;
        (void)verdict_step(&v, &signs, &l, ++now);
        return v.now;
}

/* Up to growth that ended at 1000 MiB, with 10 a point: its middle is 910, and a quarter of 180 below that 865. */
static void begin_growth(unsigned window, uint32_t passed)
{
        begin();
        windows_put(&w, window,
                    &(struct window_result){
                            .slope = 10 * MIB, .end = 1000 * MIB, .passed = (uint16_t)passed, .filled = 18 });
        while (step_at(1000) != TREND_GROWING)
                assert_true(now < 10);
}

TEST(leaves_at_once_when_most_is_given_back)
{
        begin_growth(0, TESTS_GROWS);
        assert_false(verdict_release(&v, 866 * MIB, now)); /* noise may be that low */
        assert_false(verdict_release(&v, NAN, now));
        assert_int_equal(v.now, TREND_GROWING);
        assert_true(verdict_release(&v, 864 * MIB, now));
        assert_int_equal(v.now, TREND_STEADY);
        assert_int_equal(v.since, now);
        assert_false(verdict_release(&v, 100 * MIB, now));

        /* The window does not see it at once: such a floor is no evidence of growth all the same. */
        for (unsigned i = 0; i < 10; i++)
                assert_int_equal(step_at(100), TREND_STEADY);
}

/* Where the sample came while older minutes were open, the minute's floor decides in the same way. */
TEST(leaves_when_the_floor_has_given_back)
{
        begin_growth(0, TESTS_GROWS);
        assert_int_equal(step_at(866), TREND_GROWING);
        assert_int_equal(step_at(NAN), TREND_GROWING);
        assert_int_equal(step_at(864), TREND_STEADY);
        begin_growth(8, TESTS_GROWS | TESTS_LEAKS | TESTS_HOLDS);
        assert_int_equal(step_at(100), TREND_GROWING); /* evidence of a leak is not undone by a minute */
}

TEST(leak_after_sixteen)
{
        begin();
        say(8, TESTS_LEAKS | TESTS_HOLDS, 18);
        steps(4, TREND_UNKNOWN);
        steps(12, TREND_GROWING);
        steps(100, TREND_LEAK);
        assert_int_equal(v.since, 17);
}

TEST(leak_stays_while_held)
{
        begin();
        say(8, TESTS_LEAKS | TESTS_HOLDS, 18);
        steps(4, TREND_UNKNOWN);
        steps(12, TREND_GROWING);
        steps(1, TREND_LEAK);
        say(8, TESTS_HOLDS, 18);
        steps(200, TREND_LEAK);
        say(8, 0, 18);
        steps(30, TREND_LEAK); /* not for more than 30 min */
        steps(1, TREND_STEADY);
        say(8, TESTS_HOLDS, 18);
        steps(50, TREND_STEADY); /* holding alone is no way in */
}

/* Left, it is judged again: growing when something grows, unknown when there is nothing. */
TEST(after_leak)
{
        begin();
        say(8, TESTS_LEAKS | TESTS_HOLDS, 18);
        for (unsigned m = 0; m < 20; m++)
                (void)step();
        say(8, 0, 18);
        say(0, TESTS_GROWS, 18);
        steps(30, TREND_LEAK);
        steps(20, TREND_GROWING);

        begin();
        say(8, TESTS_LEAKS | TESTS_HOLDS, 18);
        for (unsigned m = 0; m < 20; m++)
                (void)step();
        say(8, 0, 0);
        steps(30, TREND_LEAK);
        steps(1, TREND_UNKNOWN);
}

TEST(changes_are_told)
{
        begin();
        say(0, 0, 18);
        struct verdict_signs signs = verdict_signs(&w);
        assert_true(verdict_step(&v, &signs, &l, 1));
        assert_false(verdict_step(&v, &signs, &l, 2));
        assert_string_equal(trend_verdict_name(TREND_UNKNOWN), "unknown");
        assert_string_equal(trend_verdict_name(TREND_STEADY), "steady");
        assert_string_equal(trend_verdict_name(TREND_GROWING), "growing");
        assert_string_equal(trend_verdict_name(TREND_LEAK), "leak");
        assert_string_equal(trend_verdict_name((enum trend_verdict)99), "unknown");
}
