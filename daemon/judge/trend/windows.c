/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one window at a time: points from the ladder, the line through them
 * (theil_sen.h), the numbers that describe its shape, the record before it, and
 * then one bit per test. `grows`, `leaks` and `holds` are sets of bits, so the
 * verdict and its explanation cannot disagree.
 *
 * Windows of all levels are judged with the same code and the same constants:
 * only the distance of the points differs.
 *
 * Cost: 276 pair slopes and their median at most, twice that with the halves;
 * three windows a minute at level 0, all others together about one. Most series
 * do not grow, so of a window only what something depends on is computed. Where
 * a bound shows that the rise is lost in the noise there is no fit at all:
 * without a rise no set of tests can pass. (446 bands, 120 steps: 290 ms
 * without this, 90 ms with it.) The halves, the last third and the pace are
 * computed only for a rise above the noise or for a series that grows.
 *
 * Only the window that represents a series that does not grow always gets its
 * line: the widest recent one with a result. Judging from the widest down finds
 * it: whenever a window is judged, so are the shorter ones that could take its
 * place.
 */
#include "daemon/judge/trend/windows.h"

#include <assert.h>
#include <math.h>

#include "proto/base/limits.h"

#define RECORD_LEVEL_FIRST 1u
#define RECORD_LEVEL_LAST  4u
#define RECORD_THIRD_FROM  3u /* from this level on the third highest: one unusual job must not hide later growth */
#define RECORD_THIRD_LEAST 6u /* filled buckets for that */
#define NO_OLDER_GROWTH    99.0
#define Z_LEAST            3.0 /* slope over its error: of TEST_Z3, */
#define Z_GROWS            5.0 /* and of TEST_Z5 */
#define RISES_SCATTER      5.0 /* slope over its error where neighbouring residuals were independent */
#define GROWTH_LEAST_BYTES (64.0 * 1024)
#define UNSEEN             ((float)NAN)

static const struct {
        uint8_t points;
        uint8_t pair; /* buckets averaged to one point */
} shapes[WINDOWS_PER_LEVEL] = { { LIMIT_VERDICT_STEPS, 1 }, { 24, 1 }, { 18, 2 }, { 24, 2 } };

const struct rings_shape windows_shape = {
        .n = LADDER_LEVELS + 1,
        .most = WINDOWS_PER_LEVEL,
        .grain = 1,
        .size = { sizeof(struct window_result), sizeof(struct window_result), sizeof(struct window_result),
                  sizeof(struct window_result), sizeof(struct window_result), sizeof(struct window_result),
                  sizeof(struct window_result) },
};

void windows_init(struct windows *w, uint64_t leak_after_minutes)
{
        assert(leak_after_minutes <= LADDER_MINUTES);
        *w = (struct windows){ .leak_after = (uint32_t)leak_after_minutes };
}

void windows_done(struct windows *w)
{
        rings_done(&w->results);
        windows_init(w, w->leak_after);
}

const struct window_result *windows_result(const struct windows *w, unsigned index)
{
        static const struct window_result none = { .filled = 0 };
        const struct window_result *r =
                rings_at(&windows_shape, &w->results, index / WINDOWS_PER_LEVEL, index % WINDOWS_PER_LEVEL);

        return r ? r : &none;
}

unsigned window_points(unsigned index)
{
        return shapes[index % WINDOWS_PER_LEVEL].points;
}

uint64_t window_point_minutes(unsigned index)
{
        return shapes[index % WINDOWS_PER_LEVEL].pair * ladder_width(index / WINDOWS_PER_LEVEL);
}

uint64_t window_span_minutes(unsigned index)
{
        return window_points(index) * window_point_minutes(index);
}

uint64_t windows_span(const struct windows *w, unsigned index)
{
        return index == RARE_WINDOW ? w->rare_span : window_span_minutes(index);
}

double windows_point(const struct windows *w, unsigned index)
{
        return (double)windows_span(w, index) / window_points(index);
}

double window_sure_rise(unsigned index, const struct window_result *r)
{
        return (r->slope - 2 * (double)r->se) * window_points(index);
}

/* Looks only at windows that may pass: a few bits instead of 24 results in as many cache lines. */
int windows_widest(const struct windows *w, uint32_t tests, unsigned below)
{
        uint32_t left = (tests & TEST_BIT(TEST_RISES) ? w->rising : w->known) & ((UINT32_C(1) << below) - 1);

        while (left) {
                int i = 31 - __builtin_clz(left);
                if (!tests || window_has(windows_result(w, (unsigned)i), tests))
                        return i;
                left &= ~(UINT32_C(1) << i);
        }
        return -1;
}

/* It would grow, but too few of its newest points are there. */
static bool is_open(const struct window_result *r)
{
        const uint32_t seen = TEST_BIT(TEST_RISES) | TEST_BIT(TEST_FRESH) | TEST_BIT(TEST_Z5) | TEST_BIT(TEST_SIZE_1);

        return window_has(r, seen) && (isnan(r->new_slope) || isnan(r->last_slope));
}

uint32_t windows_deciding(const struct windows *w)
{
        uint32_t deciding = w->known & ~(UINT32_C(1) << RARE_WINDOW);

        for (uint32_t left = deciding & w->rising; left; left &= left - 1)
                if (is_open(windows_result(w, (unsigned)__builtin_ctz(left))))
                        deciding &= ~(left & -left);
        return deciding;
}

bool windows_still_rise(const struct windows *w)
{
        int i = windows_widest(w, TEST_BIT(TEST_RISES) | TEST_BIT(TEST_FRESH), WINDOWS_RECENT);

        if (i < 0)
                return false;
        const struct window_result *r = windows_result(w, (unsigned)i);
        double rise = r->slope * window_points((unsigned)i), z = r->slope * sqrt(r->sxx) / (double)r->sd;
        return z >= RISES_SCATTER && rise >= fmax(0.01 * fabs(r->end), GROWTH_LEAST_BYTES) &&
               (double)r->new_slope >= 0.25 * r->slope && (double)r->last_slope > 0;
}

/* The newest buckets of the lowest level, and where their newer half begins. */
struct newest {
        double p[THEIL_SEN_MAX];
        unsigned n, older;
};

/* Whether the newer half is all above the older one, and rises, by its own scatter alone. *fit: its line. */
static bool newer_rise(const struct ladder *l, struct newest *ret, struct theil_sen *fit)
{
        unsigned kept = ladder_kept(l, 0);
        double most = -INFINITY;

        ret->n = kept < THEIL_SEN_MAX ? kept : THEIL_SEN_MAX;
        ret->older = ret->n - ret->n / 2;
        ladder_newest(l, 0, ret->n, ret->p);
        for (unsigned i = 0; i < ret->n; i++) {
                if (i < ret->older)
                        most = fmax(most, ret->p[i]);
                else if (ret->p[i] <= most)
                        return false;
        }
        if (!theil_sen_fit(ret->p + ret->older, ret->n - ret->older, fit))
                return false;
        double rise = fit->slope * (ret->n - ret->older), z = fit->slope * sqrt(fit->sxx) / fit->sd;
        return z >= RISES_SCATTER && rise >= fmax(0.01 * fabs(fit->intercept + rise), GROWTH_LEAST_BYTES);
}

bool windows_bend_up(const struct ladder *l)
{
        struct newest newest;
        struct theil_sen newer, all;

        return newer_rise(l, &newest, &newer) && theil_sen_fit(newest.p, newest.n, &all) &&
               newer.sd * WINDOWS_BEND <= all.sd;
}

unsigned windows_rise_lately(const struct ladder *l, struct theil_sen *ret)
{
        struct newest newest;

        if (!newer_rise(l, &newest, ret) || ret->intercept < window_record(l, 1, newest.n))
                return 0;
        return newest.n - newest.older;
}

bool windows_are_known(const struct windows *w, uint64_t minutes)
{
        uint32_t lowest = 0;

        for (unsigned k = 0; k < WINDOWS_PER_LEVEL; k++)
                if (window_span_minutes(k) <= minutes)
                        lowest |= UINT32_C(1) << k;
        return lowest && (w->known & lowest) == lowest && !(w->known >> RARE_WINDOW & 1);
}

bool windows_silent(const struct windows *w, unsigned levels)
{
        return windows_widest(w, 0, levels * WINDOWS_PER_LEVEL) < 0;
}

/* ------------------------------------------------------------------ points */

/* Oldest first. Returns the number of filled points. */
static unsigned gather_points(const struct ladder *l, unsigned level, unsigned n, unsigned pair, double *p)
{
        double floors[LADDER_BUCKETS];
        unsigned filled = 0;

        ladder_newest(l, level, n * pair, pair == 2 ? floors : p);
        for (unsigned i = 0; pair == 2 && i < n; i++)
                p[i] = floors_mean(floors[2 * i], floors[2 * i + 1]);
        for (unsigned i = 0; i < n; i++)
                filled += !isnan(p[i]);
        return filled;
}

/* ------------------------------------------------------------------ record */

/* The highest (or third highest) floor of one level before a window of `span` minutes; -INFINITY: none. */
static double record_of_level(const struct ladder *l, unsigned level, uint64_t span)
{
        double top[3] = { -INFINITY, -INFINITY, -INFINITY };
        uint64_t width = ladder_width(level), skip = (span + width - 1) / width + 1;
        unsigned kept = ladder_kept(l, level), filled = 0;

        for (uint64_t age = skip; age < kept; age++) {
                double high = ladder_high(l, level, (unsigned)age);

                if (isnan(high))
                        continue;
                filled++;
                for (unsigned k = 0; k < 3; k++) {
                        if (high > top[k]) {
                                double lower = top[k];
                                top[k] = high;
                                high = lower;
                        }
                }
        }
        bool third = level >= RECORD_THIRD_FROM && filled >= RECORD_THIRD_LEAST;
        return third ? top[2] : top[0];
}

double window_record(const struct ladder *l, double point, uint64_t span)
{
        double record = -INFINITY;

        for (unsigned level = RECORD_LEVEL_FIRST; level <= RECORD_LEVEL_LAST; level++)
                if ((double)ladder_width(level) >= point)
                        record = fmax(record, record_of_level(l, level, span));
        return record;
}

/* ------------------------------------------------------------------- tests */

/* Pace within the window: the newer increments over the older ones, the middle one in neither. */
static double median_pace(const double *p, unsigned n)
{
        struct increments inc;
        unsigned older_filled, newer_filled;

        increments_of_blocks(p, n, n / 3, &inc);
        unsigned half = inc.n / 2;
        double older = increments_sum(&inc, 0, half, &older_filled);
        double newer = increments_sum(&inc, inc.n - half, inc.n, &newer_filled);
        if (older <= 0)
                return newer > 0 ? NO_OLDER_GROWTH : 0;
        return (newer / newer_filled) / (older / older_filled);
}

static unsigned test_bit(enum window_test test, bool passed)
{
        return passed ? TEST_BIT(test) : 0;
}

/* Comparisons are written so that NaN fails them. */
uint16_t window_tests(const struct window_result *r, unsigned index, uint64_t span, uint64_t leak_after)
{
        double n = window_points(index), s = r->slope, z = s / (double)r->se;
        double rise = window_sure_rise(index, r), level = fabs(r->end);
        double older = (double)r->old_slope, newer = (double)r->new_slope, last = (double)r->last_slope;

        return (uint16_t)(test_bit(TEST_RISES, s > 0) | test_bit(TEST_FRESH, r->end - r->record >= 0.5 * s * n) |
                          test_bit(TEST_Z3, z >= Z_LEAST) | test_bit(TEST_Z5, z >= Z_GROWS) |
                          test_bit(TEST_Z7, z >= 7) |
                          test_bit(TEST_SIZE_1, rise >= fmax(0.01 * level, GROWTH_LEAST_BYTES)) |
                          test_bit(TEST_SIZE_2, rise >= 0.02 * level) | test_bit(TEST_NEW_25, newer >= 0.25 * s) |
                          test_bit(TEST_NEW_40, newer >= 0.4 * s) | test_bit(TEST_NEW_OLD, newer >= 0.7 * older) |
                          test_bit(TEST_LAST, last > 0) | test_bit(TEST_LAST_HALF, last > 0.5 * s) |
                          test_bit(TEST_SPAN, span >= leak_after) | test_bit(TEST_CLIP, (double)r->clip >= 0.6) |
                          test_bit(TEST_LIFE, (double)r->life >= 0.7));
}

/* While no window supports a verdict of growth, the widest recent one gives the slope and the time to the limit. */
static bool speaks_for_all(const struct windows *w, unsigned index)
{
        return index < WINDOWS_RECENT && windows_widest(w, 0, WINDOWS_RECENT) <= (int)index;
}

static struct window_result unevaluated_window(unsigned filled, uint64_t minutes)
{
        return (struct window_result){
                .slope = NAN,
                .end = NAN,
                .record = NAN,
                .se = UNSEEN,
                .sd = UNSEEN,
                .old_slope = UNSEEN,
                .new_slope = UNSEEN,
                .last_slope = UNSEEN,
                .clip = UNSEEN,
                .life = UNSEEN,
                .sxx = UNSEEN,
                .ended = (uint32_t)minutes,
                .filled = (uint16_t)filled,
        };
}

void windows_put(struct windows *w, unsigned index, const struct window_result *result)
{
        const unsigned ring = index / WINDOWS_PER_LEVEL, place = index % WINDOWS_PER_LEVEL;
        uint32_t bit = UINT32_C(1) << index;
        struct window_result *r = result->filled ? rings_reach(&windows_shape, &w->results, ring, place)
                                                 : rings_at(&windows_shape, &w->results, ring, place);

        if (r)
                *r = *result;
        w->known = r && result->filled ? w->known | bit : w->known & ~bit;
        w->rising = r && window_has(result, TEST_BIT(TEST_RISES)) ? w->rising | bit : w->rising & ~bit;
}

/* All that follows from a line through the points, record and life aside. */
static void set_line(struct window_result *r, const struct windows *w, unsigned index, const struct theil_sen *fit,
                     const double *p, enum windows_read read)
{
        const unsigned n = window_points(index);

        r->slope = fit->slope;
        r->end = fit->intercept + fit->slope * (n - 1);
        r->se = (float)fit->se;
        r->sd = (float)fit->sd;
        r->sxx = (float)fit->sxx;
        if (read == WINDOWS_SHAPES || fit->slope / fit->se >= Z_LEAST || r->ended < WINDOWS_OPEN_MINUTES) {
                /* How the rise went on inside the window. */
                r->old_slope = (float)theil_sen_slope(p, n / 2);
                r->new_slope = (float)theil_sen_slope(p + n / 2, n / 2);
                r->last_slope = (float)theil_sen_slope(p + n - n / 3, n / 3);
                r->clip = (float)median_pace(p, n);
        }
        r->passed = window_tests(r, index, window_span_minutes(index), w->leak_after);
}

void windows_read(struct windows *w, const struct ladder *ladder)
{
        const int i = windows_widest(w, 0, WINDOWS_RECENT);
        double p[THEIL_SEN_MAX];
        struct theil_sen fit;

        if (i < 0 || !(windows_result(w, (unsigned)i)->passed & WINDOW_UNREAD))
                return;
        const unsigned index = (unsigned)i, level = index / WINDOWS_PER_LEVEL, place = index % WINDOWS_PER_LEVEL;
        const unsigned n = window_points(index), pair = shapes[place].pair;
        struct window_result *r = rings_at(&windows_shape, &w->results, level, place);
        struct ladder then = *ladder; /* whose buckets it borrows */
        then.minutes = r->ended;
        (void)gather_points(&then, level, n, pair, p);
        if (n * pair == LADDER_BUCKETS)
                p[0] = floors_mean(r->end, ladder_floor(&then, level, LADDER_BUCKETS - 2));
        r->passed = 0;
        if (theil_sen_fit(p, n, &fit))
                set_line(r, w, index, &fit, p, WINDOWS_STEADY);
}

/* One that had no result before has none, either, when its newest point is empty. */
static bool stays_empty(const struct windows *w, const struct ladder *l, unsigned index)
{
        const unsigned level = index / WINDOWS_PER_LEVEL, pair = shapes[index % WINDOWS_PER_LEVEL].pair;

        return !(w->known >> index & 1) && ladder_count(l, level) > window_points(index) * pair &&
               isnan(ladder_floor(l, level, 0)) && isnan(ladder_floor(l, level, pair - 1));
}

/* What is known of a window before its line. */
static struct window_result begin_result(const struct ladder *l, const struct life *life, unsigned index,
                                         unsigned filled)
{
        struct window_result r = unevaluated_window(filled, l->minutes);

        r.record = window_record(l, (double)window_point_minutes(index), window_span_minutes(index));
        r.life = (float)life_ratio(life);
        return r;
}

/* The result of a window now. */
static struct window_result evaluate_window(struct windows *w, const struct ladder *l, const struct life *life,
                                            unsigned index, enum windows_read read)
{
        unsigned n = window_points(index), pair = shapes[index % WINDOWS_PER_LEVEL].pair;
        const bool speaks = speaks_for_all(w, index);
        double p[THEIL_SEN_MAX];
        struct theil_sen fit;

        if (stays_empty(w, l, index))
                return (struct window_result){ 0 };
        unsigned filled = gather_points(l, index / WINDOWS_PER_LEVEL, n, pair, p);
        if (3 * filled < 2 * n)
                return (struct window_result){ 0 };
        const bool may_be_lost = speaks ? read == WINDOWS_STEADY : read != WINDOWS_SHAPES;
        const bool lost = may_be_lost && theil_sen_lost(p, n, Z_LEAST);
        if ((lost && !speaks) || (!lost && !theil_sen_fit(p, n, &fit)))
                return unevaluated_window(filled, l->minutes);
        struct window_result r = begin_result(l, life, index, filled);
        if (lost) {
                r.passed = WINDOW_UNREAD;
                r.end = ladder_floor(l, index / WINDOWS_PER_LEVEL, n * pair - 1);
        } else {
                set_line(&r, w, index, &fit, p, read);
        }
        return r;
}

bool window_fit(const struct ladder *ladder, unsigned index, struct theil_sen *ret)
{
        unsigned n = window_points(index), level = index / WINDOWS_PER_LEVEL,
                 pair = shapes[index % WINDOWS_PER_LEVEL].pair;
        double p[THEIL_SEN_MAX];

        if (ladder_kept(ladder, level) < n * pair)
                return false;
        return 3 * gather_points(ladder, level, n, pair, p) >= 2 * n && theil_sen_fit(p, n, ret);
}

/* The windows of levels from..to-1. */
static void judge_levels(struct windows *w, const struct ladder *ladder, const struct life *life, unsigned from,
                         unsigned to, enum windows_read read)
{
        assert(to <= LADDER_LEVELS);
        for (unsigned level = to; level-- > from;) {
                uint64_t count = ladder_count(ladder, level);

                for (unsigned k = WINDOWS_PER_LEVEL; k-- > 0;) {
                        unsigned pair = shapes[k].pair;

                        if (count % pair == 0 && count >= shapes[k].points * pair) {
                                unsigned index = level * WINDOWS_PER_LEVEL + k;
                                struct window_result r = evaluate_window(w, ladder, life, index, read);

                                windows_put(w, index, &r);
                        }
                }
        }
}

void windows_judge(struct windows *w, const struct ladder *ladder, const struct life *life, unsigned gained,
                   enum windows_read read)
{
        judge_levels(w, ladder, life, 0, gained, read);
}

/* Whether a line so clear and so steep is growth, if its shape, record and life are. */
static bool may_grow(const struct theil_sen *fit, unsigned index)
{
        const uint32_t clear = TEST_BIT(TEST_RISES) | TEST_BIT(TEST_Z5) | TEST_BIT(TEST_SIZE_1);
        struct window_result r = { .slope = fit->slope,
                                   .end = fit->intercept + fit->slope * (window_points(index) - 1),
                                   .se = (float)fit->se };

        return (window_tests(&r, index, 0, 0) & clear) == clear;
}

bool windows_rest(const double *floors, unsigned n)
{
        double pairs[THEIL_SEN_MAX];
        struct theil_sen fit;

        for (unsigned k = 0; k < WINDOWS_PER_LEVEL && shapes[k].points * shapes[k].pair <= n; k++) {
                const unsigned points = shapes[k].points;
                const double *p = floors + n - points * shapes[k].pair;

                if (shapes[k].pair == 2) {
                        for (unsigned i = 0; i < points; i++)
                                pairs[i] = floors_mean(p[2 * i], p[2 * i + 1]);
                        p = pairs;
                }
                if (!theil_sen_lost(p, points, Z_GROWS) && (!theil_sen_fit(p, points, &fit) || may_grow(&fit, k)))
                        return false;
        }
        return true;
}

void windows_judge_rest(struct windows *w, const struct ladder *ladder, const struct life *life, unsigned gained)
{
        judge_levels(w, ladder, life, 1, gained, WINDOWS_STEADY);
        for (unsigned index = WINDOWS_PER_LEVEL; index-- > 0;) {
                if (shapes[index].points * shapes[index].pair > ladder->minutes)
                        continue;
                struct window_result r = speaks_for_all(w, index)
                                                 ? evaluate_window(w, ladder, life, index, WINDOWS_STEADY)
                                                 : unevaluated_window(window_points(index), ladder->minutes);
                windows_put(w, index, &r);
        }
}

const char *window_test_failure(enum window_test test)
{
        static const char *const texts[TEST_COUNT] = {
                [TEST_RISES] = "no rise",
                [TEST_FRESH] = "as much was held before",
                [TEST_Z3] = "a rise lost in the noise",
                [TEST_Z5] = "a rise not clearly above the noise",
                [TEST_SIZE_1] = "a rise below 1 % or 64 KiB",
                [TEST_NEW_25] = "hardly a rise in its newer half",
                [TEST_NEW_40] = "a much slower rise in its newer half",
                [TEST_LAST] = "no rise in its last third",
                [TEST_SPAN] = "not observed for long enough",
                [TEST_Z7] = "too noisy to be sure",
                [TEST_SIZE_2] = "a rise below 2 %",
                [TEST_NEW_OLD] = "slower in its newer half",
                [TEST_CLIP] = "smaller and smaller steps",
                [TEST_LAST_HALF] = "slower in its last third",
                [TEST_LIFE] = "slower and slower over the whole life of the program",
        };

        return (unsigned)test < TEST_COUNT ? texts[test] : "unknown";
}
