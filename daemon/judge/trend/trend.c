/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: everything happens when a minute closes, in one order: ladder, life,
 * the windows of the levels that gained a bucket and the one of rare samples, the verdict, the onset. A gap
 * of many minutes closes each of them in turn, empty ones too, so the answers
 * do not depend on how the samples were handed over. Where no window can change
 * (only empty buckets) many minutes pass in one step, with the same state at
 * the end: 49,000 of them cost half a millisecond instead of thirty.
 *
 * The few open minutes are a ring that starts at the oldest one (number
 * ladder.minutes). Without a wait only one is ever in use.
 *
 * A gap in time longer than the widest level leaves nothing to remember, so
 * instead of closing millions of empty minutes the series starts over: the work
 * that one timestamp can cause is bounded.
 */
#include "daemon/judge/trend/trend.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define REST_MINUTES 30 /* growth that goes on after a shorter rest is the same growth */
#define ONSET_UNSURE 4  /* buckets of the ladder, as wide as those of its time */

_Static_assert(sizeof(struct trend) < 1024, "a young series is small");

struct trend_config trend_config_scaled(uint64_t resolution_ns)
{
        return (struct trend_config){
                .resolution_ns = resolution_ns,
                .leak_after_ns = TREND_LEAK_AFTER_MINUTES * resolution_ns,
        };
}

/* leak_after in minutes, rounded up. */
static uint64_t leak_after_minutes(const struct trend_config *c)
{
        return c->leak_after_ns / c->resolution_ns + (c->leak_after_ns % c->resolution_ns != 0);
}

bool trend_config_valid(const struct trend_config *c)
{
        if (c->resolution_ns == 0 || c->wait_minutes >= TREND_OPEN_MINUTES)
                return false;
        uint64_t minutes = leak_after_minutes(c);
        return minutes >= TREND_LEAK_AFTER_LEAST && minutes <= LADDER_MINUTES;
}

static void empty_minute(struct trend_open_minute *m)
{
        *m = (struct trend_open_minute){ .floor = NAN };
}

void trend_done(struct trend *t)
{
        ladder_done(&t->ladder);
        t->rare = (struct rare){ .n = 0 };
        life_done(&t->life);
        windows_done(&t->windows);
        verdict_init(&t->verdict);
        t->average = (struct recent_average){ 0 };
        for (unsigned i = 0; i < TREND_OPEN_MINUTES; i++)
                empty_minute(&t->open[i]);
        t->onset_ns = UINT64_MAX;
        t->left = VERDICT_NEVER;
        t->n_waiting = 0;
        t->started = false;
}

void trend_init(struct trend *t, const struct trend_config *config)
{
        assert(trend_config_valid(config));
        *t = (struct trend){ .config = *config };
        windows_init(&t->windows, leak_after_minutes(config));
        trend_done(t);
}

size_t trend_held(const struct trend *t)
{
        return rings_held(&t->ladder.rings) + rings_held(&t->life.means) + rings_held(&t->windows.results);
}

uint64_t trend_closed_minutes(const struct trend *t)
{
        return t->ladder.minutes + t->n_waiting;
}

/* ------------------------------------------------------------------ answer */

static uint64_t end_of_minute_ns(const struct trend *t, uint64_t minutes)
{
        return (t->first_minute + minutes) * t->config.resolution_ns;
}

static double slope_low(const struct window_result *r)
{
        return r->slope - WINDOW_INTERVAL_SE * (double)r->se;
}

/*
 * The window for a verdict that no window supports just now. One of growth stays for a while: a slope beside it is then
 * one of a certain rise, or there is none. A word must not contradict its interval.
 */
static int recent_window(const struct trend *t)
{
        int i = windows_widest(&t->windows, 0, WINDOWS_RECENT);

        if (t->verdict.now < TREND_GROWING || (i >= 0 && slope_low(windows_result(&t->windows, (unsigned)i)) > 0))
                return i;
        i = windows_widest(&t->windows, TESTS_RISES, WINDOWS_RECENT);
        return i >= 0 ? i : windows_widest(&t->windows, TESTS_RISES, WINDOWS_ALL);
}

/* The window that the answer is based on, or -1. */
static int deciding_window(const struct trend *t, enum trend_basis *basis)
{
        int i = -1;

        if (t->verdict.now == TREND_LEAK) {
                *basis = TREND_BASIS_LEAKS;
                i = windows_widest(&t->windows, TESTS_LEAKS, WINDOWS_ALL);
                if (i >= 0)
                        return i;
                *basis = TREND_BASIS_HOLDS;
                i = windows_widest(&t->windows, TESTS_HOLDS, WINDOWS_ALL);
        } else if (t->verdict.now == TREND_GROWING) {
                *basis = TREND_BASIS_GROWS;
                i = windows_widest(&t->windows, TESTS_GROWS, WINDOWS_ALL);
        }
        if (i >= 0)
                return i;
        i = t->verdict.now == TREND_UNKNOWN ? -1 : recent_window(t);
        *basis = i >= 0 ? TREND_BASIS_RECENT : TREND_BASIS_NONE;
        return i;
}

/*
 * An onset found so far back is known to a few of the buckets kept of that time: nearer ones are the same onset.
 */
static bool clearly_earlier(const struct trend *t, uint64_t minute)
{
        uint64_t unsure_ns = ONSET_UNSURE * ladder_finest_width(&t->ladder, minute) * t->config.resolution_ns;
        uint64_t ns = end_of_minute_ns(t, minute);

        return t->onset_ns == UINT64_MAX || (ns < t->onset_ns && t->onset_ns - ns > unsure_ns);
}

/* Growth that was left is over: half of its rise was given back, or it has rested for long. */
static bool is_over(const struct trend *t)
{
        uint64_t rested = t->ladder.minutes - t->left;
        uint64_t lasted = (end_of_minute_ns(t, t->left) - t->onset_ns) / t->config.resolution_ns;

        return verdict_fell(&t->verdict, &t->ladder) || (rested > REST_MINUTES && rested > lasted / 8);
}

/*
 * Follows the growth back. Whichever window shows a growth that goes on, its onset never moves to a later time, to an
 * earlier one only when that is clear, and not at all once it is called a leak. It is kept while no window shows the
 * growth, and also, for some time, when the verdict has been left.
 */
static void place_onset(struct trend *t)
{
        enum trend_basis basis;

        if (t->left != VERDICT_NEVER && is_over(t)) {
                t->onset_ns = UINT64_MAX;
                t->left = VERDICT_NEVER;
        }
        if (t->verdict.now < TREND_GROWING) {
                if (t->onset_ns != UINT64_MAX && t->left == VERDICT_NEVER)
                        t->left = t->verdict.since;
                return;
        }
        t->left = VERDICT_NEVER;
        windows_read(&t->windows, &t->ladder);
        int i = deciding_window(t, &basis);
        bool settled =
                t->verdict.now == TREND_LEAK && t->onset_ns != UINT64_MAX && t->ladder.minutes > t->verdict.since;
        if (i >= 0 && basis != TREND_BASIS_RECENT && !settled) {
                uint64_t minute = onset_minute(&t->ladder, &t->windows, (unsigned)i);

                if (clearly_earlier(t, minute)) {
                        uint64_t ns = end_of_minute_ns(t, minute);
                        t->onset_ns = ns > t->first_ns ? ns : t->first_ns;
                }
        }
}

static enum window_test first_missing(uint32_t passed, uint32_t wanted)
{
        for (unsigned test = 0; test < TEST_COUNT; test++)
                if (wanted & ~passed & TEST_BIT(test))
                        return (enum window_test)test;
        return TEST_COUNT;
}

static void fill_evidence(const struct trend *t, unsigned window, struct trend_evidence *e)
{
        const struct window_result *r = windows_result(&t->windows, window);
        uint32_t wanted = t->verdict.now < TREND_GROWING ? TESTS_GROWS : TESTS_LEAKS;

        e->passed = r->passed;
        e->missing = first_missing(r->passed, t->verdict.now == TREND_LEAK ? 0 : wanted);
        e->window = window;
        e->span_ns = windows_span(&t->windows, window) * t->config.resolution_ns;
        e->ended_ns = end_of_minute_ns(t, r->ended);
        e->points = r->filled;
        e->z = r->slope / (double)r->se;
        e->level_bytes = r->end;
        e->sure_rise_bytes = window_sure_rise(window, r);
        e->record_bytes = r->record;
        e->life_ratio = (double)r->life;
}

bool trend_is_flat(struct trend *t, uint64_t span_ns, double slope)
{
        struct theil_sen fit;
        unsigned index = 0;

        trend_settle(t);
        while (index < WINDOWS &&
               (window_span_minutes(index) * t->config.resolution_ns < span_ns || !window_fit(&t->ladder, index, &fit)))
                index++; /* rare samples fill only wider windows */
        if (index == WINDOWS)
                return false;
        double point_s = (double)window_point_minutes(index) * (double)t->config.resolution_ns / 1e9;
        double half = WINDOW_INTERVAL_SE * fit.se, most = (fit.slope + half) / point_s;
        return most < slope / TREND_EXPLAINS || (fit.slope - half <= 0 && most < slope / 2);
}

/* Before the first verdict, in a run that may still have it deferred. */
static bool is_early(const struct trend *t)
{
        return t->verdict.now == TREND_UNKNOWN && t->ladder.minutes < WINDOWS_OPEN_MINUTES;
}

static bool rises_so_far(const struct trend *t)
{
        return is_early(t) && (windows_still_rise(&t->windows) || windows_bend_up(&t->ladder));
}

/*
 * The shortest window is the first that a verdict can be based on, and what rises is called growing once evidence of
 * that has lasted. Whether it rises is known only then, so that is the time from the beginning: it never gets later; a
 * run that does not rise is called steady when the window is full. When it is not clear whether a rise lasts, it may
 * also end before, and there may be no verdict until WINDOWS_OPEN_MINUTES.
 */
static void set_verdict_time(const struct trend *t, uint64_t growing_in, struct trend_result *ret)
{
        const uint64_t minutes = t->ladder.minutes, step_ns = t->config.resolution_ns;
        const bool rises = !ret->rises_so_far && ret->provisional.known && ret->provisional.slope_low > 0;
        const uint64_t first = window_span_minutes(0), growing = first + VERDICT_GROWING_FOR;
        uint64_t in = minutes < first || (rises && minutes < growing) ? growing - minutes : 0;

        if (growing_in > 0) {
                in = growing_in;
        } else if (ret->rises_so_far) {
                const uint64_t by = WINDOWS_OPEN_MINUTES - minutes;
                in = minutes + VERDICT_GROWING_FOR < first ? first - minutes : VERDICT_GROWING_FOR;
                if (in < by)
                        ret->verdict_by_ns = by * step_ns;
                else
                        in = by;
        }
        if (in > 0)
                ret->verdict_in_ns = in * step_ns;
}

void trend_result(struct trend *t, struct trend_result *ret)
{
        enum trend_basis basis;

        trend_settle(t);
        int i = deciding_window(t, &basis);

        *ret = (struct trend_result){
                .verdict = t->verdict.now,
                .since_ns = t->started ? end_of_minute_ns(t, t->verdict.since) : 0,
                .as_of_ns = t->started ? end_of_minute_ns(t, t->ladder.minutes) : 0,
                .has_slope = i >= 0,
                .slope = NAN,
                .slope_low = NAN,
                .slope_high = NAN,
                .onset_ns = t->verdict.now < TREND_GROWING ? UINT64_MAX : t->onset_ns,
                .onset_error_ns = UINT64_MAX,
                .evidence = { .basis = basis,
                              .missing = TEST_COUNT,
                              .z = NAN,
                              .level_bytes = NAN,
                              .sure_rise_bytes = NAN,
                              .record_bytes = -INFINITY,
                              .life_ratio = NAN },
        };
        ret->verdict_in_ns = ret->verdict_by_ns = UINT64_MAX;
        uint64_t growing_in = verdict_growing_in(&t->verdict, t->ladder.minutes);
        if (t->verdict.now == TREND_UNKNOWN && t->started) {
                ret->rises_so_far = rises_so_far(t);
                ret->provisional = provisional_line(&t->ladder, t->config.resolution_ns);
                set_verdict_time(t, growing_in, ret);
        } else if (growing_in > 0) {
                ret->provisional = provisional_line(&t->ladder, t->config.resolution_ns);
                ret->verdict_in_ns = growing_in * t->config.resolution_ns;
        } else if (t->verdict.now == TREND_STEADY) {
                ret->provisional = provisional_rise(&t->ladder, t->config.resolution_ns);
        }
        if (i < 0)
                return;
        const struct window_result *r = windows_result(&t->windows, (unsigned)i);
        double point_s = windows_point(&t->windows, (unsigned)i) * (double)t->config.resolution_ns / 1e9;
        ret->slope = r->slope / point_s;
        ret->slope_low = slope_low(r) / point_s;
        ret->slope_high = (r->slope + WINDOW_INTERVAL_SE * (double)r->se) / point_s;
        fill_evidence(t, (unsigned)i, &ret->evidence);
}

bool trend_time_to_limit(struct trend *t, double limit, struct time_to_limit *ret)
{
        enum trend_basis basis;

        trend_settle(t);
        int i = deciding_window(t, &basis);

        if (t->verdict.now < TREND_GROWING || i < 0)
                return false;
        *ret = time_to_limit(&t->windows, (unsigned)i, &t->average, limit, (double)t->config.resolution_ns / 1e9);
        return true;
}

/* ----------------------------------------------------------------- samples */

/* A growth looks at the shapes of windows, the first verdict at how the run rises. */
static enum windows_read what_is_read(const struct trend *t)
{
        if (t->verdict.now >= TREND_GROWING)
                return WINDOWS_SHAPES;
        return is_early(t) ? WINDOWS_LINES : WINDOWS_STEADY;
}

/* All that follows from one more minute. */
static void judge_minute(struct trend *t, double floor)
{
        bool was_needed = rare_is_needed(&t->windows, &t->rare, &t->ladder);
        unsigned gained = ladder_push(&t->ladder, floor);

        rare_push(&t->rare, t->ladder.minutes - 1, floor);
        if (gained > 1)
                life_push(&t->life, ladder_floor(&t->ladder, 1, 0));
        windows_judge(&t->windows, &t->ladder, &t->life, gained, what_is_read(t));
        rare_judge(&t->windows, &t->rare, &t->ladder, &t->life, was_needed);
        struct verdict_signs signs = verdict_signs(&t->windows);
        signs.floor = floor;
        signs.rises = signs.rises || (is_early(t) && windows_bend_up(&t->ladder));
        (void)verdict_step(&t->verdict, &signs, &t->ladder, t->ladder.minutes); /* changes show in the result */
        place_onset(t);
}

static void judge_waiting(struct trend *t)
{
        const uint32_t n = t->n_waiting;

        t->n_waiting = 0;
        for (uint32_t i = 0; i < n; i++)
                judge_minute(t, t->waiting[i]);
}

void trend_settle(struct trend *t)
{
        judge_waiting(t);
        windows_read(&t->windows, &t->ladder);
}

/*
 * Growth is called that after five minutes of evidence, so a steady series need not be judged at each: when level 1
 * gains a bucket and nothing grows then, no minute since the one before can have mattered. This is so when nothing is
 * remembered of an earlier growth, and each minute has a floor and all windows of the lowest level a result, which
 * leaves nothing to the rare ones.
 */
static bool may_wait(const struct trend *t)
{
        const struct verdict *v = &t->verdict;

        if (t->n_waiting > 0)
                return t->n_waiting < LADDER_FAN - 1;
        return v->now == TREND_STEADY && t->ladder.minutes % LADDER_FAN == 0 && v->grows_since == VERDICT_NEVER &&
               v->leaks_since == VERDICT_NEVER && t->left == VERDICT_NEVER && t->onset_ns == UINT64_MAX &&
               windows_are_known(&t->windows, t->ladder.minutes);
}

_Static_assert(VERDICT_GROWING_FOR >= LADDER_FAN, "growth within the minutes that wait is too short for a verdict");

/* Judges the minutes that wait and one more together; false, with nothing done: something may grow at the last. */
static bool pass_steadily(struct trend *t, double floor)
{
        double floors[LADDER_BUCKETS];
        const unsigned most = LADDER_BUCKETS - LADDER_FAN;
        const unsigned before = t->ladder.minutes < most ? (unsigned)t->ladder.minutes : most, n = before + LADDER_FAN;
        struct verdict_signs signs = { .any = true };

        ladder_newest(&t->ladder, 0, before, floors);
        memcpy(floors + before, t->waiting, sizeof(t->waiting));
        floors[n - 1] = floor;
        if (!floors_are_known(floors, n) || !windows_rest(floors, n))
                return false;
        t->n_waiting = 0;
        for (unsigned i = before;; i++) {
                const unsigned gained = ladder_push(&t->ladder, floors[i]);

                rare_push(&t->rare, t->ladder.minutes - 1, floors[i]);
                if (gained > 1) {
                        life_push(&t->life, ladder_floor(&t->ladder, 1, 0));
                        windows_judge_rest(&t->windows, &t->ladder, &t->life, gained);
                        signs = verdict_signs(&t->windows);
                }
                signs.floor = floors[i];
                (void)verdict_step(&t->verdict, &signs, &t->ladder, t->ladder.minutes);
                if (gained > 1)
                        break;
        }
        place_onset(t);
        return true;
}

static void close_minute(struct trend *t)
{
        struct trend_open_minute *m = &t->open[trend_closed_minutes(t) % TREND_OPEN_MINUTES];
        const double floor = m->floor;

        if (m->n > 0)
                recent_average_add(&t->average, m->sum / (double)m->n);
        empty_minute(m);
        if (!isnan(floor) && may_wait(t)) {
                t->waiting[t->n_waiting++] = floor;
                return;
        }
        if (t->n_waiting == LADDER_FAN - 1 && !isnan(floor) && pass_steadily(t, floor))
                return;
        judge_waiting(t);
        judge_minute(t, floor);
}

bool trend_has_open(const struct trend *t)
{
        for (unsigned i = 0; i < TREND_OPEN_MINUTES; i++)
                if (t->open[i].n > 0)
                        return true;
        return false;
}

/* How many minutes can pass without a window changing: no samples, and only empty levels gain a bucket. */
static uint64_t quiet_minutes(const struct trend *t)
{
        uint64_t most = rare_lasts(&t->windows, &t->rare, &t->ladder) - 1; /* the minute that ends it is no quiet one */
        unsigned levels;

        if (is_early(t) || t->n_waiting > 0 || trend_has_open(t))
                return 0; /* the newest buckets decide, too */
        levels = ladder_empty_levels(&t->ladder);
        while (levels > 0 && !windows_silent(&t->windows, levels))
                levels--;
        if (levels == LADDER_LEVELS)
                return most;
        uint64_t empty = ladder_width(levels) - 1 - t->ladder.minutes % ladder_width(levels);
        return empty < most ? empty : most;
}

/*
 * The same as closing n quiet minutes one by one. The verdict still changes with
 * time alone; the onset is that of the last minute of each verdict.
 */
static void pass_quietly(struct trend *t, uint64_t n)
{
        struct verdict_signs signs = verdict_signs(&t->windows);
        uint64_t end = t->ladder.minutes + n;

        for (uint64_t k = end / LADDER_FAN - t->ladder.minutes / LADDER_FAN; k > 0; k--)
                life_push(&t->life, NAN);
        while (t->ladder.minutes < end && !verdict_rests(&t->verdict, &signs)) {
                struct verdict next = t->verdict;

                if (verdict_step(&next, &signs, &t->ladder, t->ladder.minutes + 1))
                        place_onset(t);
                t->verdict = next;
                ladder_pass(&t->ladder, 1);
        }
        ladder_pass(&t->ladder, end - t->ladder.minutes);
        place_onset(t);
}

/* Minutes to close; starts over when they are too many. */
static uint64_t minutes_due(struct trend *t, uint64_t watermark_ns)
{
        uint64_t now = watermark_ns / t->config.resolution_ns, open = t->first_minute + trend_closed_minutes(t);

        if (!t->started || now <= open)
                return 0;
        if (now - open <= LADDER_MINUTES)
                return now - open;
        trend_done(t);
        t->jumps++;
        return 0;
}

bool trend_step(struct trend *t, uint64_t watermark_ns)
{
        if (minutes_due(t, watermark_ns) == 0)
                return false;
        close_minute(t);
        return true;
}

void trend_close(struct trend *t, uint64_t watermark_ns)
{
        uint64_t due = minutes_due(t, watermark_ns);

        while (due > 0) {
                uint64_t quiet = due > 1 ? quiet_minutes(t) : 0, n = quiet < due ? quiet : due;

                if (n > 1)
                        pass_quietly(t, n);
                else
                        close_minute(t);
                due -= n > 1 ? n : 1;
        }
}

uint64_t trend_watermark(const struct trend *t, uint64_t time_ns)
{
        uint64_t minute = time_ns / t->config.resolution_ns, wait = t->config.wait_minutes;

        return minute > wait ? time_ns - wait * t->config.resolution_ns : 0;
}

void trend_begin(struct trend *t, uint64_t time_ns)
{
        t->started = true;
        t->first_minute = time_ns / t->config.resolution_ns;
        t->first_ns = time_ns;
}

enum trend_push_status trend_push_many(struct trend *t, uint64_t time_ns, uint64_t n, double least, double sum)
{
        uint64_t minute = time_ns / t->config.resolution_ns;

        if (!(fabs(least) <= TREND_VALUE_MAX && fabs(sum) <= (double)n * TREND_VALUE_MAX)) {
                t->refused += n;
                return TREND_PUSH_REFUSED;
        }
        trend_close(t, trend_watermark(t, time_ns));
        if (!t->started)
                trend_begin(t, time_ns);
        if (minute < t->first_minute + trend_closed_minutes(t)) {
                t->late += n;
                return TREND_PUSH_LATE;
        }
        struct trend_open_minute *m = &t->open[(minute - t->first_minute) % TREND_OPEN_MINUTES];
        m->floor = fmin(m->floor, least);
        m->sum += sum;
        m->n += n;
        t->samples += n;
        if (minute == t->first_minute + trend_closed_minutes(t) &&
            verdict_release(&t->verdict, least, t->ladder.minutes))
                place_onset(t);
        return TREND_PUSH_OK;
}

enum trend_push_status trend_push(struct trend *t, uint64_t time_ns, double value)
{
        return trend_push_many(t, time_ns, 1, value, value);
}
