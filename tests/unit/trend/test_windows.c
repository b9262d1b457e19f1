/* SPDX-License-Identifier: BSD-3-Clause */
/* windows.c: which buckets, when judged, with how many points; the record; each test on a curve that fails it. */
#include <math.h>
#include <string.h>
#include "tests/unit/test.h"

#include "tests/unit/trend/random.h"
#include "daemon/judge/trend/windows.h"

#define X 180u

static struct ladder ladder;
static struct life life;
static struct windows windows;
static bool growing = true;

static void begin(void)
{
        ladder_done(&ladder);
        life_done(&life);
        windows_done(&windows);
        windows_init(&windows, X);
}

static void minute(double floor)
{
        unsigned gained = ladder_push(&ladder, floor);

        if (gained > 1)
                life_push(&life, ladder_floor(&ladder, 1, 0));
        windows_judge(&windows, &ladder, &life, gained, growing ? WINDOWS_SHAPES : WINDOWS_LINES);
}

static const struct window_result *result(unsigned index)
{
        return windows_result(&windows, index);
}

static bool passes(unsigned index, enum window_test test)
{
        return window_has(result(index), TEST_BIT(test));
}

TEST(spans)
{
        const unsigned on_level[] = { 18, 24, 36, 48 };

        for (unsigned i = 0; i < WINDOWS; i++) {
                assert_int_equal(window_span_minutes(i), on_level[i % 4] << (2 * (i / 4)));
                assert_int_equal(window_points(i), i % 2 ? 24 : 18);
                assert_int_equal(window_points(i) * window_point_minutes(i), window_span_minutes(i));
                assert_true(i == 0 || window_span_minutes(i) > window_span_minutes(i - 1));
        }
        assert_int_equal(window_span_minutes(WINDOWS_RECENT - 1), 384);
        assert_int_equal(window_span_minutes(WINDOWS - 1), LADDER_MINUTES);
}

/* A window is judged at the minutes at which its level's bucket (pairs: two) is complete, not before it is full. */
TEST(when_judged)
{
        begin();
        for (unsigned m = 1; m <= 3000; m++) {
                minute(1e9 + m);
                for (unsigned i = 0; i < WINDOWS; i++) {
                        uint64_t point = window_point_minutes(i), span = window_span_minutes(i);
                        uint64_t last = m / point * point;

                        assert_int_equal(result(i)->filled, m < span ? 0 : window_points(i));
                        if (m >= span)
                                assert_int_equal(result(i)->ended, last);
                }
        }
}

TEST(exact_line)
{
        begin();
        for (unsigned m = 0; m < 3072; m++)
                minute(2e10 + 1e7 * m);
        for (unsigned i = 0; i < 16; i++) {
                const struct window_result *r = result(i);
                double point = (double)window_point_minutes(i);

                assert_true(fabs(r->slope / (1e7 * point) - 1) < 1e-9);
                assert_true(fabs((double)r->old_slope / r->slope - 1) < 1e-6);
                assert_true(fabs((double)r->new_slope / r->slope - 1) < 1e-6);
                assert_true(fabs((double)r->last_slope / r->slope - 1) < 1e-6 && fabs((double)r->clip - 1) < 1e-6);
                /* The newest point is near the newest value. */
                assert_true(fabs(r->end - (2e10 + 1e7 * (double)r->ended)) <= 1e7 * point);
        }
        assert_int_equal(result(9)->passed, (1u << TEST_COUNT) - 1);
        assert_int_equal(windows_widest(&windows, TESTS_LEAKS, WINDOWS), 15);
        assert_int_equal(windows_widest(&windows, TESTS_LEAKS, WINDOWS_RECENT), 9);
        assert_false(passes(6, TEST_SPAN)); /* 144 min */
        assert_true(passes(7, TEST_SPAN));  /* 192 min */
}

/* 12 of 18 points make a result; with 11 there is none, and the older one goes. */
TEST(two_thirds)
{
        begin();
        for (unsigned m = 0; m < 18; m++)
                minute(m % 3 == 2 ? (double)NAN : 1e6);
        assert_int_equal(result(0)->filled, 12);
        minute(NAN); /* the minute that leaves was filled */
        assert_int_equal(result(0)->filled, 0);
        assert_int_equal(windows_widest(&windows, 0, WINDOWS), -1);
        minute(1e6);
        assert_int_equal(result(0)->filled, 0);
        minute(1e6);
        assert_int_equal(result(0)->filled, 12);
}

/* One filled half is enough for a pair. */
TEST(half_pairs)
{
        begin();
        for (unsigned m = 0; m < 36; m++)
                minute(m % 2 ? (double)NAN : 1e6 + m);
        assert_int_equal(result(0)->filled, 0);
        assert_int_equal(result(2)->filled, 18);
        assert_true(fabs(result(2)->slope - 2) < 1e-9);
}

/* Numbers that are missing fail every test: here the newest third and too much of the newer half are empty. */
TEST(missing_numbers)
{
        begin();
        for (unsigned m = 0; m < 24; m++)
                minute(m < 13 || m > 20 ? 1e9 + 1e7 * m : (double)NAN);
        const struct window_result *r = result(1);
        assert_int_equal(r->filled, 16);
        assert_true(r->slope > 0 && isnan(r->last_slope));
        assert_true(!isnan(r->new_slope));
        assert_false(passes(1, TEST_LAST));
        assert_false(passes(1, TEST_LAST_HALF));
        assert_true(passes(1, TEST_Z7) && passes(1, TEST_SIZE_2));
        assert_false(window_has(r, TESTS_GROWS));

        begin();
        for (unsigned m = 0; m < 24; m++)
                minute(m < 13 || m > 21 ? 1e9 + 1e7 * m : (double)NAN);
        assert_int_equal(result(1)->filled, 0); /* 15 of 24 */
}

/* In a calm series the window that a limit would need has its line; its shape waits for a clear rise, but at first. */
TEST(the_widest_recent_one_has_a_line)
{
        unsigned without = 0;

        begin();
        growing = false;
        for (unsigned m = 0; m < 1000; m++) {
                minute(1e9 + (double)(m * 7919 % 101) * 1e6);
                int widest = windows_widest(&windows, 0, WINDOWS_RECENT);
                if (widest < 0)
                        continue;
                assert_false(isnan(result((unsigned)widest)->slope));
                assert_true(m + 1 < WINDOWS_OPEN_MINUTES ||
                            isnan(result((unsigned)widest)->new_slope) != passes((unsigned)widest, TEST_Z3));
                without += isnan(result((unsigned)widest)->new_slope);
        }
        assert_int_equal(windows_widest(&windows, 0, WINDOWS_RECENT), WINDOWS_RECENT - 1);
        assert_true(without > 100);
        assert_false(passes(0, TEST_Z3));
        assert_true(isnan(result(0)->slope));
        growing = true;
}

/* Without the shape, which is not computed where the rise is lost in the noise. */
static bool same_line(const struct window_result *a, const struct window_result *b)
{
        return a->slope == b->slope && a->end == b->end && a->record == b->record && a->se == b->se && a->sd == b->sd &&
               a->sxx == b->sxx && a->life == b->life && a->ended == b->ended && a->filled == b->filled;
}

/* Judged in calm mode, the decisive results are the same: the tests that sets need, and the widest recent one. */
TEST(calm_like_growing)
{
        struct random r = { 3 };
        struct windows calm, steady;
        unsigned hole = 0, skipped = 0, risen = 0;

        begin();
        windows_init(&calm, X);
        windows_init(&steady, X);
        for (unsigned m = 1; m <= 6000; m++) {
                double slope = m / 500 % 3 == 0 ? 0 : 3e6;

                if (random_below(&r, 300) == 0)
                        hole = random_below(&r, 100);
                minute(hole ? (double)NAN : 1e9 + slope * (m % 500) + 1e8 * random_unit(&r));
                hole -= hole > 0;
                unsigned gained = 1;
                while (gained < LADDER_LEVELS && m % ladder_width(gained) == 0)
                        gained++;
                windows_judge(&calm, &ladder, &life, gained, WINDOWS_LINES);
                windows_judge(&steady, &ladder, &life, gained, WINDOWS_STEADY);
                assert_true(calm.known == steady.known && !(steady.rising & ~calm.rising));
                int told = windows_widest(&calm, 0, WINDOWS_RECENT);
                assert_int_equal(told, windows_widest(&windows, 0, WINDOWS_RECENT));
                if (told >= 0)
                        assert_true(same_line(windows_result(&calm, (unsigned)told), result((unsigned)told)));
                if (m % 3 == 0) /* whether somebody has asked before makes no difference */
                        windows_read(&steady, &ladder);
                if (told >= 0 && m % 3 == 0)
                        assert_memory_equal(windows_result(&calm, (unsigned)told),
                                            windows_result(&steady, (unsigned)told), sizeof(struct window_result));
                for (unsigned i = 0; i < WINDOWS; i++) {
                        const struct window_result *a = windows_result(&calm, i), *b = result(i);

                        assert_true(a->filled == b->filled && (!a->filled || a->ended == b->ended));
                        if (!isnan(a->slope) && window_has(b, TEST_BIT(TEST_Z3)))
                                assert_memory_equal(a, b, sizeof(*a));
                        skipped += a->filled && isnan(a->slope);
                        risen += window_has(b, TEST_BIT(TEST_Z3));
                        assert_false(isnan(a->slope) && window_has(b, TEST_BIT(TEST_Z3)));
                }
        }
        assert_true(skipped > 1000 && risen > 1000);
        windows_done(&calm);
        windows_done(&steady);
}

/* ------------------------------------------------------------------ record */

/* From positions: buckets number 0 .. count - 1, those that end before the window with one more left out. */
static double naive_record(unsigned index)
{
        double record = -INFINITY;
        double span = (double)window_span_minutes(index);

        for (unsigned level = 1; level <= 4; level++) {
                double width = (double)ladder_width(level), best[3] = { -INFINITY, -INFINITY, -INFINITY };
                int filled = 0, newest = (int)ladder_kept(&ladder, level) - (int)ceil(span / width) - 1;

                if (width < (double)window_point_minutes(index))
                        continue;
                for (int k = 0; k < newest; k++) {
                        double high = ladder_high(&ladder, level, ladder_kept(&ladder, level) - 1 - (unsigned)k);

                        if (isnan(high))
                                continue;
                        filled++;
                        for (int j = 0; j < 3; j++) {
                                if (high > best[j]) {
                                        for (int i = 2; i > j; i--)
                                                best[i] = best[i - 1];
                                        best[j] = high;
                                        break;
                                }
                        }
                }
                record = fmax(record, level >= 3 && filled >= 6 ? best[2] : best[0]);
        }
        return record;
}

TEST(record_like_the_model)
{
        struct random r = { 5 };
        unsigned hole = 0;

        begin();
        for (unsigned m = 1; m <= 20000; m++) {
                if (random_below(&r, 500) == 0)
                        hole = random_below(&r, 400);
                minute(hole ? (double)NAN : 1e9 + 1e8 * random_unit(&r));
                hole -= hole > 0;
                for (unsigned i = 0; i < WINDOWS; i++)
                        if (result(i)->filled && result(i)->ended == m && m % 37 == 0)
                                assert_true(result(i)->record == naive_record(i));
        }
}

/* A program that held 2 GB for two hours and now grows from 1 GB again does nothing new; beyond 2 GB it does. */
TEST(held_before)
{
        begin();
        for (unsigned m = 0; m < 120; m++)
                minute(2e9);
        for (unsigned m = 0; m < 300; m++)
                minute(1e9 + 2e6 * m);
        assert_true(passes(4, TEST_RISES) && passes(4, TEST_Z7));
        assert_false(passes(4, TEST_FRESH));
        for (unsigned m = 300; m < 800; m++)
                minute(1e9 + 2e6 * m);
        assert_true(passes(4, TEST_FRESH));
}

TEST(first_window_is_fresh)
{
        begin();
        for (unsigned m = 0; m < 18; m++)
                minute(1e9 + 1e7 * m);
        assert_true(isinf(result(0)->record) && result(0)->record < 0);
        assert_true(window_has(result(0), TESTS_GROWS));
}

/* ------------------------------------------------------------------- tests */

static void run_curve(double (*curve)(double), unsigned minutes)
{
        begin();
        for (unsigned m = 0; m < minutes; m++)
                minute(curve(m));
}

static double level(double m)
{
        return 1e9 + 0 * m;
}

static double falling(double m)
{
        return 1e9 - 1e6 * m;
}

static double tiny(double m) /* 100 bytes a minute on 1 MB: below 64 KiB */
{
        return 1e6 + 100 * m;
}

static double small(double m) /* 1.5 % in 192 minutes */
{
        return 1e9 + 80000 * m;
}

static double saturating(double m)
{
        return 1e9 + 1e9 * (1 - exp(-m / 64));
}

static double logarithmic(double m)
{
        return 1e9 + 1e8 * log1p(m / 5);
}

static double zero(double m)
{
        return 0 * m;
}

TEST(curves)
{
        const unsigned wide = 7; /* 192 min */

        run_curve(level, 200);
        assert_false(passes(wide, TEST_RISES));
        run_curve(falling, 200);
        assert_false(passes(wide, TEST_RISES));
        run_curve(zero, 200);
        assert_int_equal(result(wide)->filled, 24);
        assert_false(passes(wide, TEST_RISES));
        run_curve(tiny, 200);
        assert_true(passes(wide, TEST_Z7) && passes(wide, TEST_RISES));
        assert_false(passes(wide, TEST_SIZE_1));
        run_curve(small, 200);
        assert_true(window_has(result(wide), TESTS_GROWS));
        assert_false(passes(wide, TEST_SIZE_2));
        run_curve(saturating, 192);
        assert_false(passes(wide, TEST_NEW_OLD) || passes(wide, TEST_CLIP) || passes(wide, TEST_LAST_HALF));
        run_curve(logarithmic, 1600);
        assert_true(passes(12, TEST_RISES) && passes(12, TEST_FRESH) && passes(12, TEST_SPAN));
        assert_false(passes(12, TEST_LIFE));
        assert_true(result(12)->life < 0.65);
}

/* After a level that steps up once the older increments are 0 or less: 99 or 0, never a division by 0. */
TEST(pace_without_older_growth)
{
        begin();
        for (unsigned m = 0; m < 18; m++)
                minute(m < 10 ? 1e9 : 1e9 + 1e7 * m);
        assert_true(result(0)->clip == 99);
        begin();
        for (unsigned m = 0; m < 18; m++)
                minute(1e9 - 1e6 * m);
        assert_true(result(0)->clip == 0);
}

TEST(sets)
{
        assert_int_equal(TESTS_LEAKS & TESTS_GROWS, TESTS_GROWS);
        for (unsigned t = 0; t < TEST_COUNT; t++) {
                assert_true(TEST_BIT(t) & (TESTS_LEAKS | TESTS_HOLDS));
                assert_true(strlen(window_test_failure((enum window_test)t)) > 6);
                for (unsigned u = 0; u < t; u++)
                        assert_string_not_equal(window_test_failure((enum window_test)t),
                                                window_test_failure((enum window_test)u));
        }
        assert_string_equal(window_test_failure(TEST_COUNT), "unknown");
}
