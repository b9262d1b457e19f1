/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN:
 *
 *      unknown        ──a window decides, and the
 *                       run does not rise any more
 *                       or is 48 min old─────────────▶ steady
 *      unknown/steady ──some window grows for 4 min────▶ growing
 *      any            ──some window leaks for 16 min───▶ leak
 *      growing        ──15 min after the last growth,
 *                       or when half of the rise has
 *                       been given back for 4 min, or
 *                       at once when most of it was────▶ steady
 *      leak           ──no window holds for 30 min─────▶ as if judged from the start
 *      growing/leak   ──no new high for longer than the
 *                       window that showed it──────────▶ as if judged from the start
 *
 * "Some window" may be a different one at each minute: growth moves from the
 * short windows to the long ones as it lasts.
 */
#include "daemon/judge/trend/verdict.h"
#include "proto/base/array.h"

#include <math.h>

#define LEAK_FOR      16u /* minutes of evidence before the verdict */
#define LEAK_STAYS    30u /* minutes after the last evidence */
#define GROWING_STAYS 15u
#define RISE_MIDDLE   9    /* points back from the end of the line */
#define BELOW_MIDDLE  0.25 /* of the rise: a floor so far below its middle has given it back */
#define NEW_HIGH      0.25 /* of the rise: what is higher by less is no new high, but may be noise */

#define RELEASE_SHARE  0.05                 /* of the peak: a smaller fall lets no rise go ... */
#define RELEASE_BYTES  ((double)(1u << 20)) /* ... nor does this one */
#define RELEASED_SHARE 0.25                 /* of the peak: smaller rises that are let go are noise */
#define RELEASE_FACTOR 1.5 /* growth must show in a window so many times as long as what was let go before */

void verdict_init(struct verdict *v)
{
        *v = (struct verdict){
                .now = TREND_UNKNOWN,
                .leaks_since = VERDICT_NEVER,
                .grows_since = VERDICT_NEVER,
                .last_grew = VERDICT_NEVER,
                .last_held = VERDICT_NEVER,
                .top = -INFINITY,
                .trough = INFINITY,
                .peak = -INFINITY,
        };
}

static void update_since(uint64_t *start, bool on, uint64_t minute)
{
        if (!on)
                *start = VERDICT_NEVER;
        else if (*start == VERDICT_NEVER)
                *start = minute;
}

static bool is_lasting(uint64_t start, uint64_t minute, uint64_t least)
{
        return start != VERDICT_NEVER && minute - start >= least;
}

bool verdict_fell(const struct verdict *v, const struct ladder *l)
{
        return ladder_kept(l, 1) > 0 && ladder_floor(l, 1, 0) < v->rise_middle;
}

/* A fall from the peak that may let a rise go: smaller ones are noise. */
static bool is_fall(double peak, double floor)
{
        return peak - floor > fmax(RELEASE_SHARE * peak, RELEASE_BYTES);
}

static bool gives_back(double middle, double rise, double floor)
{
        return floor < middle - BELOW_MIDDLE * rise && is_fall(middle + rise / 2, floor);
}

static bool growth_is_given_back(const struct verdict *v, double floor)
{
        return v->now == TREND_GROWING && gives_back(v->rise_middle, v->rise, floor);
}

static void leave_growth(struct verdict *v, uint64_t minute)
{
        v->now = TREND_STEADY;
        v->since = minute;
        v->grows_since = v->last_grew = VERDICT_NEVER;
}

bool verdict_release(struct verdict *v, double value, uint64_t minute)
{
        if (!growth_is_given_back(v, value))
                return false;
        leave_growth(v, minute);
        return true;
}

static bool growing_stays(const struct verdict *v, const struct ladder *l, uint64_t minute)
{
        if (v->grows_since != VERDICT_NEVER)
                return true;
        if (is_lasting(v->last_grew, minute, GROWING_STAYS))
                return false;
        return !verdict_fell(v, l);
}

/*
 * What has been flat for longer than it was seen to rise is no such rise any more, although wider windows may hold.
 * Without a floor it is not known to be flat.
 */
static bool is_flat(const struct verdict *v, const struct verdict_signs *signs, uint64_t minute)
{
        return !signs->leaks && !isnan(signs->floor) && isfinite(v->top) && minute - v->top_at > v->rise_span;
}

static enum trend_verdict decide_verdict(const struct verdict *v, const struct verdict_signs *signs,
                                         const struct ladder *l, uint64_t minute)
{
        bool held_lately = v->last_held != VERDICT_NEVER && minute - v->last_held <= LEAK_STAYS;
        bool flat = is_flat(v, signs, minute);

        if (v->now == TREND_LEAK && held_lately && !flat)
                return TREND_LEAK;
        if (is_lasting(v->leaks_since, minute, LEAK_FOR))
                return TREND_LEAK;
        if (is_lasting(v->grows_since, minute, VERDICT_GROWING_FOR))
                return TREND_GROWING;
        if (v->now == TREND_GROWING && !flat && growing_stays(v, l, minute))
                return TREND_GROWING;
        bool open = v->grows_since != VERDICT_NEVER || (signs->rises && minute < WINDOWS_OPEN_MINUTES);
        if (v->now == TREND_UNKNOWN && open)
                return TREND_UNKNOWN;
        return signs->any ? TREND_STEADY : TREND_UNKNOWN;
}

struct verdict_signs verdict_signs(const struct windows *w)
{
        int growing = windows_widest(w, TESTS_GROWS, WINDOWS_ALL),
            leaking = windows_widest(w, TESTS_LEAKS, WINDOWS_ALL);
        struct verdict_signs signs = {
                .grows = growing >= 0,
                .leaks = leaking >= 0,
                .holds = windows_widest(w, TESTS_HOLDS, WINDOWS_ALL) >= 0,
                .any = windows_deciding(w) != 0,
                .rises = windows_still_rise(w),
                .floor = NAN,
        };

        if (growing >= 0) {
                const struct window_result *r = windows_result(w, (unsigned)growing);
                const unsigned shows = (unsigned)(leaking >= 0 ? leaking : growing);

                signs.rise_middle = r->end - RISE_MIDDLE * r->slope;
                signs.rise = windows_result(w, shows)->slope * window_points(shows);
                signs.rise_span = windows_span(w, shows);
                signs.grows_span = windows_span(w, (unsigned)growing);
        }
        return signs;
}

bool verdict_rests(const struct verdict *v, const struct verdict_signs *signs)
{
        return !signs->grows && !signs->leaks && !signs->holds && v->leaks_since == VERDICT_NEVER &&
               v->grows_since == VERDICT_NEVER && v->now == (signs->any ? TREND_STEADY : TREND_UNKNOWN);
}

/* A fall of half of a rise lets it go. What rises again for no longer, such as the next batch, is no growth by that. */
static void note_release(struct verdict *v, double floor, uint64_t minute)
{
        const double rise = v->peak - v->trough, fall = v->peak - floor;

        if (isnan(floor))
                return;
        if (floor > v->peak && floor >= v->trough) {
                v->peak = floor;
                v->peak_at = minute;
                return;
        }
        const bool released = fall >= rise / 2 && is_fall(v->peak, floor);
        if (!released && floor >= v->trough)
                return;
        if (released && rise >= RELEASED_SHARE * v->peak && v->peak_at - v->trough_at > v->longest_released)
                v->longest_released = v->peak_at - v->trough_at;
        v->trough = v->peak = floor;
        v->trough_at = v->peak_at = minute;
}

/* The widest window that grows is longer than what was let go before, or it may be the same again. */
static bool outlasts_released(const struct verdict *v, const struct verdict_signs *signs)
{
        return (double)signs->grows_span >= RELEASE_FACTOR * (double)v->longest_released;
}

bool verdict_step(struct verdict *v, const struct verdict_signs *all, const struct ladder *l, uint64_t minute)
{
        struct verdict_signs judged = *all, *signs = &judged;
        const enum trend_verdict before = v->now;
        const bool given_back = gives_back(signs->rise_middle, signs->rise, signs->floor); /* of what still grows */

        if (!signs->leaks && growth_is_given_back(v, signs->floor))
                leave_growth(v, minute);
        note_release(v, signs->floor, minute);
        signs->grows = signs->grows && (signs->leaks || (!given_back && outlasts_released(v, signs)));
        update_since(&v->leaks_since, signs->leaks, minute);
        update_since(&v->grows_since, signs->grows, minute);
        if (signs->grows) {
                v->last_grew = minute;
                v->rise_middle = signs->rise_middle;
        }
        if (signs->leaks || (signs->grows && v->now < TREND_LEAK)) {
                v->rise = fmax(v->rise, signs->rise); /* the first flat minutes make it smaller */
                v->rise_span = signs->rise_span;
        }
        if (signs->floor > v->top + NEW_HIGH * v->rise) { /* without a floor nothing is known of this minute */
                v->top = signs->floor;
                v->top_at = minute;
        }
        if (signs->holds)
                v->last_held = minute;

        enum trend_verdict next = decide_verdict(v, signs, l, minute);
        if (next != v->now) {
                v->now = next;
                v->since = minute;
        }
        if (next < TREND_GROWING && !signs->grows) {
                /* At once, so that a verdict that rests has nothing left to forget. */
                v->top = -INFINITY;
                v->rise = 0;
                v->top_at = v->rise_span = 0;
        }
        return next != before;
}

uint64_t verdict_growing_in(const struct verdict *v, uint64_t minute)
{
        if (v->now >= TREND_GROWING || v->grows_since == VERDICT_NEVER)
                return 0;
        return v->grows_since + VERDICT_GROWING_FOR > minute ? v->grows_since + VERDICT_GROWING_FOR - minute : 1;
}

const char *trend_verdict_name(enum trend_verdict verdict)
{
        static const char *const names[] = { "unknown", "steady", "growing", "leak" };

        return (unsigned)verdict < ARRAY_SIZE(names) ? names[verdict] : "unknown";
}
