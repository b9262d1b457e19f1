/* SPDX-License-Identifier: BSD-3-Clause */
/* trends.c - trends and alerts as values of columns. */
#include "client/console/scene/trends.h"

#include "client/answers/answers.h"
#include "proto/base/array.h"

static const struct {
        const char *word;
        enum tint tint;
        double gravity;
} words[] = {
        [HW__WORD__WORD_UNKNOWN] = { "unknown", TINT_DIM, 0 }, [HW__WORD__WORD_STEADY] = { "steady", TINT_GOOD, 1 },
        [HW__WORD__WORD_RISING] = { "rising", TINT_WARN, 2 },  [HW__WORD__WORD_GROWING] = { "growing", TINT_WARN, 3 },
        [HW__WORD__WORD_LEAK] = { "leak", TINT_BAD, 4 },
};

/* One that a later version of the daemon may have sent is unknown; one of an earlier version says the verdict alone. */
static Hw__Word word_of(const Hw__Trend *trend)
{
        const size_t word = !trend ? 0 : trend->has_word ? (size_t)trend->word : (size_t)trend->verdict;

        return word < ARRAY_SIZE(words) ? (Hw__Word)word : HW__WORD__WORD_UNKNOWN;
}

struct value trend_verdict(const Hw__Trend *trend)
{
        return trend && trend->has_verdict ? value_text(words[word_of(trend)].word) : no_value;
}

enum tint trend_tint(const Hw__Trend *trend)
{
        return words[word_of(trend)].tint;
}

bool trend_known(const Hw__Trend *trend)
{
        return trend && trend->has_verdict && trend->verdict != HW__VERDICT__VERDICT_UNKNOWN;
}

/* What is known, or else what can be said so far. */
static struct value so_far(bool known, double v, bool provisional, double so_far)
{
        struct value value = value_number(known || provisional, known ? v : so_far);

        value.provisional = !known;
        return value;
}

struct value trend_slope(const Hw__Trend *trend)
{
        return trend ? so_far(trend->has_slope, trend->slope, trend->has_provisional_slope, trend->provisional_slope)
                     : no_value;
}

struct value trend_slope_low(const Hw__Trend *trend)
{
        return trend ? so_far(trend->has_slope_low, trend->slope_low, trend->has_provisional_low,
                              trend->provisional_low)
                     : no_value;
}

struct value trend_slope_high(const Hw__Trend *trend)
{
        return trend ? so_far(trend->has_slope_high, trend->slope_high, trend->has_provisional_high,
                              trend->provisional_high)
                     : no_value;
}

struct value trend_gravity(const Hw__Trend *trend)
{
        return value_number(trend && trend->has_verdict, words[word_of(trend)].gravity);
}

struct value value_when(const struct scene *s, const struct world_target *t, bool known, uint64_t time_ns)
{
        struct value v = value_number(known, (double)time_ns);

        v.start_wall_ns = scene_start_wall_ns(s, t);
        v.now_wall_ns = s->now_wall_ns;
        return v;
}

struct value trend_onset(const struct scene *s, const struct world_target *t, const Hw__Trend *trend)
{
        return value_when(s, t, trend && trend->has_onset_ns, trend ? trend->onset_ns : 0);
}

/* The window of the whole run has no length. */
static uint64_t length_of(const Hw__WindowStatistics *w)
{
        return w->has_window_ns ? w->window_ns : UINT64_MAX;
}

const Hw__WindowStatistics *trend_window(const Hw__Trend *trend, uint64_t window_ns)
{
        const Hw__WindowStatistics *best = NULL;
        uint64_t wanted = window_ns ? window_ns : UINT64_MAX;

        for (size_t i = 0; trend && i < trend->n_windows; i++) {
                const Hw__WindowStatistics *w = trend->windows[i];

                if (!best || (length_of(w) >= wanted ? length_of(best) < wanted || length_of(w) < length_of(best)
                                                     : length_of(best) < wanted && length_of(w) > length_of(best)))
                        best = w;
        }
        return best;
}

const Hw__Trend *target_trend(const struct world_target *t)
{
        const Hw__Trend *live = t->trends[HW__SERIES__SERIES_LIVE];

        return live && live->has_verdict ? live : t->trends[HW__SERIES__SERIES_RSS];
}

struct value alerts_firing(const struct world_target *t)
{
        return value_number(t->alerts != NULL, (double)alerts_counted(t->alerts, HW__ALERT__STATE__STATE_FIRING));
}

enum tint severity_tint(enum severity severity)
{
        static const enum tint tints[SEVERITIES] = {
                [SEVERITY_INFO] = TINT_PLAIN,
                [SEVERITY_WARNING] = TINT_WARN,
                [SEVERITY_CRITICAL] = TINT_BAD,
        };

        return tints[severity];
}

enum tint alerts_tint(const struct world_target *t)
{
        const Hw__Alert *worst = alerts_gravest(t->alerts, HW__ALERT__STATE__STATE_FIRING);

        return worst ? severity_tint(alert_severity(worst)) : TINT_DIM;
}
