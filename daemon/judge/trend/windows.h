/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * windows.h - the 24 windows of a series and the newest result of each.
 *
 * At every level of the ladder: its newest 18, 24, 36 and 48 buckets (the
 * latter two averaged in neighbouring pairs), so a window always has 18 or 24
 * points. Window number 4 * level + k; spans rise with the number, by 1.33 to
 * 1.5, from 18 minutes to 34 days. A window is judged only when its level gains
 * a bucket; its result is kept until then.
 *
 * One window more, RARE_WINDOW, is for samples that are too rare to fill any of
 * these (rare.h).
 *
 * A window's result is the set of tests that it passes. A test that involves a
 * missing number (NaN) fails.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/judge/trend/ladder.h"
#include "daemon/judge/trend/life.h"
#include "daemon/judge/trend/rings.h"
#include "daemon/judge/trend/theil_sen.h"

#define WINDOWS_PER_LEVEL  4u
#define WINDOWS            (LADDER_LEVELS * WINDOWS_PER_LEVEL)
#define RARE_WINDOW        WINDOWS
#define WINDOWS_ALL        (WINDOWS + 1)
#define WINDOW_INTERVAL_SE 2.1 /* the slope's interval is slope +- this many standard errors */
#define WINDOWS_RECENT     10u /* the first ten: levels 0, 1 and the two shorter ones of level 2 (<= 6.4 h) */

/* In the order in which a reader would ask; the first that fails is reported as missing. */
enum window_test {
        TEST_RISES, /* slope > 0 */
        TEST_FRESH, /* at least half of the rise is above what was held before the window */
        TEST_Z3,    /* slope over its standard error */
        TEST_Z5,
        TEST_SIZE_1, /* sure rise >= 1 % of the level and 64 KiB */
        TEST_NEW_25, /* slope of the newer half >= 0.25 of the slope */
        TEST_NEW_40, /* ... 0.4 */
        TEST_LAST,   /* slope of the last third > 0 */
        TEST_SPAN,   /* the window is as long as growth must last to be a leak */
        TEST_Z7,
        TEST_SIZE_2,    /* sure rise >= 2 % of the level */
        TEST_NEW_OLD,   /* slope of the newer half >= 0.7 of the older half's */
        TEST_CLIP,      /* newer increments >= 0.6 of the older ones */
        TEST_LAST_HALF, /* slope of the last third > half the slope */
        TEST_LIFE,      /* the run has not slowed down: life ratio >= 0.7 */
        TEST_COUNT
};

/*
 * Among the tests passed: its line is found when somebody asks (windows_read). Until then `end` is its oldest bucket:
 * the longest window's is gone from the ladder when the next one comes.
 */
#define WINDOW_UNREAD (1u << 15)

#define TEST_BIT(test) (1u << (test))
#define TESTS_RISES    (TEST_BIT(TEST_RISES) | TEST_BIT(TEST_Z3)) /* certainly: its interval is above 0 */
#define TESTS_GROWS                                                                                                    \
        (TEST_BIT(TEST_RISES) | TEST_BIT(TEST_FRESH) | TEST_BIT(TEST_Z5) | TEST_BIT(TEST_SIZE_1) |                     \
         TEST_BIT(TEST_NEW_40) | TEST_BIT(TEST_LAST))
#define TESTS_LEAKS                                                                                                    \
        (TESTS_GROWS | TEST_BIT(TEST_SPAN) | TEST_BIT(TEST_Z7) | TEST_BIT(TEST_SIZE_2) | TEST_BIT(TEST_NEW_OLD) |      \
         TEST_BIT(TEST_CLIP) | TEST_BIT(TEST_LAST_HALF) | TEST_BIT(TEST_LIFE))
#define TESTS_HOLDS (TEST_BIT(TEST_RISES) | TEST_BIT(TEST_SPAN) | TEST_BIT(TEST_Z3) | TEST_BIT(TEST_NEW_25))

/*
 * Slopes are in bytes per point: windows_point() says how long that is.
 * Levels and the slope are doubles; what they are only compared with are
 * floats, so that 25 results take 1.6 kB.
 * One that finds no memory is none.
 */
struct window_result {
        double slope;               /* of the whole window */
        double end;                 /* the line at the newest point */
        double record;              /* highest floor before the window; -INFINITY: none */
        float se;                   /* standard error of the slope */
        float sd;                   /* scatter around the line */
        float old_slope, new_slope; /* of the older and the newer half; NaN: too few points, or not computed */
        float last_slope;           /* of the last third; likewise */
        float clip;                 /* pace: newer increments over older ones; NaN: not computed */
        float life;                 /* life ratio when the window was judged */
        float sxx;                  /* sum of (place - mean place)^2 */
        uint32_t ended;             /* minutes of the run at the window's end */
        uint16_t passed;            /* TEST_BIT()s */
        uint16_t filled;            /* points; 0 = no result */
};

struct windows {
        struct rings results; /* by level, then RARE_WINDOW's: made when a window first has one */
        uint32_t known;       /* bit i: window i has a result */
        uint32_t rising;      /* of these, which pass TEST_RISES, as all sets above require */
        uint32_t leak_after;  /* minutes that growth must last to be a leak */
        uint32_t rare_span;   /* of RARE_WINDOW, in minutes */
};

extern const struct rings_shape windows_shape;

void windows_init(struct windows *w, uint64_t leak_after_minutes);
void windows_done(struct windows *w);

/* Its newest result, until the next one is made; filled is 0 when it has none. */
const struct window_result *windows_result(const struct windows *w, unsigned index);

/*
 * What is read of the results. A window whose rise is lost in the noise (TEST_Z3) decides nothing: unless SHAPES are
 * read, its shape is not computed and NaN, and so are all of its numbers unless it is the widest recent one with a
 * result. Where that one decides nothing either (STEADY) its line waits for windows_read().
 */
enum windows_read { WINDOWS_LINES, WINDOWS_STEADY, WINDOWS_SHAPES };

/* Judges the windows of the `gained` lowest levels, right after ladder_push() and life_push(). */
void windows_judge(struct windows *w, const struct ladder *ladder, const struct life *life, unsigned gained,
                   enum windows_read read);

/* Completes the result of the widest recent window, which is then as if it had been read at once. */
void windows_read(struct windows *w, const struct ladder *ladder);

/*
 * Whether no window of the lowest level grows when the newest n buckets are these, all of them filled, oldest first.
 * True proves it, false proves nothing.
 */
bool windows_rest(const double *floors, unsigned n);

/* The same as windows_judge() of a steady series in which these windows are known not to grow: they decide nothing. */
void windows_judge_rest(struct windows *w, const struct ladder *ladder, const struct life *life, unsigned gained);

/* The line through the window's current points, in bytes per point. False: too few of them. */
bool window_fit(const struct ladder *ladder, unsigned index, struct theil_sen *ret);

/* Sets a window's result; filled == 0: none. */
void windows_put(struct windows *w, unsigned index, const struct window_result *result);

static inline bool window_has(const struct window_result *r, uint32_t tests)
{
        return r->filled > 0 && (r->passed & tests) == tests;
}

/* Whether all windows of the lowest level that are not longer than the run have a result, and there is one. */
bool windows_are_known(const struct windows *w, uint64_t minutes);

/* Whether no window of the `levels` lowest levels has a result. */
bool windows_silent(const struct windows *w, unsigned levels);

/* Index of the widest window whose result passes all of `tests` (0 = just has one), or -1. */
int windows_widest(const struct windows *w, uint32_t tests, unsigned below);

/*
 * The windows whose results decide something, RARE_WINDOW aside, as bits. One that grows, as far as can be seen, but
 * has too few of its newest points to tell whether it still does decides nothing: that it is steady is not known.
 */
uint32_t windows_deciding(const struct windows *w);

/*
 * Whether the widest recent window, of a run below WINDOWS_OPEN_MINUTES all of it, shows a rise to new highs that goes
 * on, by its own scatter alone: a smooth rise that slows down leaves a line for long stretches, which counts as noise
 * with memory in the error of its slope.
 */
#define WINDOWS_OPEN_MINUTES 48u
bool windows_still_rise(const struct windows *w);

/*
 * Whether the newest buckets, at most THEIL_SEN_MAX, bend upwards: all of the newer half are above all of the older
 * one, and rise, by their own scatter alone. A line through both halves fits badly, so its error is large.
 */
#define WINDOWS_BEND 3.0 /* times less scatter around the newer half's own line */
bool windows_bend_up(const struct ladder *l);

/*
 * How many of the newest buckets rise to new highs, though no window may have had the time to see it; 0: they do not.
 * *ret is their line.
 */
unsigned windows_rise_lately(const struct ladder *l, struct theil_sen *ret);

/* Points of a window: 18 or 24. RARE_WINDOW's are not at equal distances: a point is an 18th of its span. */
unsigned window_points(unsigned index);

/* Distance between two points, and the whole length; index < WINDOWS. */
uint64_t window_point_minutes(unsigned index);
uint64_t window_span_minutes(unsigned index);

/* The same of any window that has a result. */
double windows_point(const struct windows *w, unsigned index);
uint64_t windows_span(const struct windows *w, unsigned index);

/* The low end of the window's rise, in bytes: (slope - 2 se) * points. */
double window_sure_rise(unsigned index, const struct window_result *r);

/* The tests that these numbers pass, `passed` aside, in a window of `span` minutes. */
uint16_t window_tests(const struct window_result *r, unsigned index, uint64_t span, uint64_t leak_after);

/* The highest floor before the newest `span` minutes, in buckets of at least `point` minutes; -INFINITY: none. */
double window_record(const struct ladder *l, double point, uint64_t span);

/* What a failed test means, a static plain clause such as "the newer half has slowed down". */
const char *window_test_failure(enum window_test test);
