/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * views/target_columns.c - the numbers of a target: columns of the list of targets, figures of the overview, and with
 * them the help and the JSON of both.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "client/console/draw/widgets.h"
#include "client/console/scene/trends.h"
#include "client/console/views/views.h"
#include "proto/base/array.h"

ROWS_ARE(struct world_target, target_of_row)

/* ----------------------------------------------------------------- columns */

COLUMN_VALUE(name, value_text(target_of_row(row)->name))

static struct value state_value(const struct scene *s, const void *row)
{
        uint64_t age_ns;

        return value_text(scene_stale(s, target_of_row(row), &age_ns) ? "stale" : state_word(target_of_row(row)));
}

static enum tint state_colour(const struct scene *s, const void *row)
{
        uint64_t age_ns;

        return scene_stale(s, target_of_row(row), &age_ns) ? TINT_BAD : state_tint(target_of_row(row));
}

COLUMN_VALUE(up, value_number(target_of_row(row)->event_time_ns > 0, (double)world_known_until_ns(target_of_row(row))))

static struct value limit_value(const struct scene *s, const void *row)
{
        uint64_t bytes = 0;
        Hw__TimeToLimit__Source source;
        bool known = world_limit(target_of_row(row), &bytes, &source);

        return value_number(known, (double)bytes);
}

/* How much of the lowest limit is used, by what that limit counts. */
static struct value limit_share(const struct scene *s, const void *row)
{
        const struct world_target *t = row;
        Hw__TimeToLimit__Source source;
        uint64_t bytes;

        if (!world_limit(t, &bytes, &source))
                return no_value;
        const double used = facts_get(t, world_limit_counts(t));
        return value_number(!isnan(used), used / (double)bytes);
}

static enum tint limit_colour(const struct scene *s, const void *row)
{
        struct value share = limit_share(s, row);

        if (share.is == VALUE_NONE || share.number < 0.8)
                return TINT_PLAIN;
        return share.number < 0.95 ? TINT_WARN : TINT_BAD;
}

COLUMN_VALUE(verdict, answered_word(s, target_of_row(row)))

/* "steady so far" in the width of "steady", told from a verdict as a provisional growth is, without colours, too. */
static char *verdict_text(char *out, size_t size, const struct scene *s, const void *row)
{
        const struct value v = verdict(s, row);

        if (v.is == VALUE_TEXT && !strcmp(v.text, STEADY_SO_FAR)) {
                (void)snprintf(out, size, "~steady");
                return out;
        }
        return value_show(out, size, UNIT_TEXT, v);
}

COLUMN_VALUE(verdict_of_live, trend_verdict(target_trend(target_of_row(row))))
COLUMN_VALUE(gravity, answered_rank(s, target_of_row(row)))

static enum tint verdict_colour(const struct scene *s, const void *row)
{
        enum answer_tone tone = scene_brief(s, target_of_row(row))->tone;

        return tone == ANSWER_DIM ? TINT_DIM : answer_tint(tone);
}

COLUMN_VALUE(slope, answered_slope(s, target_of_row(row)))

static struct value so_far(const struct scene *s, const void *row)
{
        struct value v = slope(s, row);

        v.is = v.provisional ? v.is : VALUE_NONE;
        v.provisional = false;
        return v;
}

COLUMN_VALUE(since, answered_onset(s, target_of_row(row)))

static char *since_text(char *out, size_t size, const struct scene *s, const void *row)
{
        const struct value v = since(s, row);
        const bool is_latest = v.is != VALUE_NONE && scene_brief(s, target_of_row(row))->onset_is_latest;
        char time[SHORT_TEXT];

        (void)snprintf(out, size, "%s%s", is_latest ? "≤" : "", value_show(time, sizeof(time), UNIT_WHEN, v));
        return out;
}
COLUMN_VALUE(culprit, value_text(scene_brief(s, target_of_row(row))->culprit_text))

COLUMN_VALUE(live_age, value_number(scene_brief(s, target_of_row(row))->has_live_age,
                                    (double)scene_brief(s, target_of_row(row))->live_age_ns))

/* Nothing beside live data that were measured lately. */
static char *live_age_text(char *out, size_t size, const struct scene *s, const void *row)
{
        const struct value v = live_age(s, row);

        *out = '\0';
        return v.is == VALUE_NONE ? out : value_show(out, size, UNIT_NS, v);
}

static bool any_live_is_old(const struct scene *s)
{
        for (size_t i = 0; i < world_targets(s->world); i++)
                if (live_age(s, world_target(s->world, i)).is != VALUE_NONE)
                        return true;
        return false;
}

COLUMN_VALUE(limit_in, value_number(scene_brief(s, target_of_row(row))->has_limit,
                                    (double)scene_brief(s, target_of_row(row))->limit_ns))

COLUMN_VALUE(state_detail, value_text(target_of_row(row)->target ? target_of_row(row)->target->detail : NULL))

#define ANSWER(function, question)                                                                                     \
        COLUMN_VALUE(function, value_text(scene_answered(s, target_of_row(row))->whole[question]))

ANSWER(answer_wrong, QUESTION_WRONG)
ANSWER(answer_since, QUESTION_SINCE)
ANSWER(answer_grows, QUESTION_GROWS)
ANSWER(answer_where, QUESTION_WHERE)
ANSWER(answer_why, QUESTION_WHY)
ANSWER(answer_until, QUESTION_UNTIL)
ANSWER(answer_next, QUESTION_NEXT)

COLUMN_VALUE(firing, alerts_firing(target_of_row(row)))
COLUMN_TINT(firing_colour, alerts_tint(target_of_row(row)))

static enum tint gc_colour(const struct scene *s, const void *row)
{
        const double share = facts_get(row, FACT_GC_SHARE);

        return share >= 0.5 ? TINT_BAD : share >= 0.2 ? TINT_WARN : TINT_PLAIN;
}

/* Of the worst generation, if there was a pause at all. */
static struct value pause_value(const struct scene *s, const void *row)
{
        const Hw__Gc *gc = target_of_row(row)->gc;
        uint64_t p99_ns = 0;
        bool known = false;

        for (size_t i = 0; gc && i < gc->n_generations; i++) {
                const Hw__Generation *g = gc->generations[i];

                known |= g->has_pause_max_ns && g->pause_max_ns;
                if (g->has_pause_p99_ns && g->pause_p99_ns > p99_ns)
                        p99_ns = g->pause_p99_ns;
        }
        return value_number(known, (double)p99_ns);
}

COLUMN_TINT(lost_colour, facts_get(row, FACT_STREAM_LOST) > 0 ? TINT_BAD : TINT_DIM)
COLUMN_TINT(lag_colour, facts_get(row, FACT_STREAM_LAG) > 10e9 ? TINT_WARN : TINT_DIM)

static void draw_history(struct canvas *c, struct area area, int row, int column, int width, const struct scene *s,
                         const void *data)
{
        draw_spark(c, area, row, column, width < 60 ? width : 60,
                   history_series(target_of_row(data)->history, HW__SERIES__SERIES_LIVE),
                   scene_span(s, target_of_row(data)), SPARK_GAUGE);
}

/* clang-format off */
const struct column target_columns[] = {
        { .title = "target", .name = "target", .help = "name of the monitored program", .width = -11, .value = name,
          .searched = true },
        { .title = "verdict", .name = "word", .width = -7, .value = verdict, .order = gravity,
          .text = verdict_text, .tint = verdict_colour,
          .help = "steady (~ so far, without a verdict yet), rising, growing or leak, wherever it grows; how it "
                  "ended, if badly. The worst comes first: dead, running out of memory, leak, growing, rising; ended "
                  "ones last" },
        { .title = "live", .fact = FACT_LIVE, .width = 8 },
        { .title = "age", .name = "live_age_ns", .unit = UNIT_NS, .width = 7, .value = live_age, .text = live_age_text,
          .shown = any_live_is_old, .help = "how old live data are that were not measured lately" },
        { .title = "history", .fact = FACT_LIVE_MAX, .width = -7, .rank = 4, .draw = draw_history,
          .help = "live bytes over the window; sorted by maximum residency" },
        { .title = "growth", .name = "slope_bps", .unit = UNIT_SLOPE, .width = 13, .rank = 1, .value = slope,
          .tint = verdict_colour,
          .help = "robust slope of what was judged, usually live bytes; ~ is provisional: from the few points "
                  "before there is a verdict" },
        { .title = "of live", .name = "verdict", .value = verdict_of_live, .hidden = true,
          .help = "only in files: the verdict of live bytes, or of RSS where live is unknown" },
        { .title = "so far", .name = "provisional_slope_bps", .unit = UNIT_SLOPE, .value = so_far, .hidden = true,
          .help = "only in files: the provisional slope" },
        { .title = "since", .name = "onset_ns", .unit = UNIT_WHEN, .width = 9, .rank = 2, .value = since,
          .text = since_text, .help = "when the growth began, or ≤ by when at the latest; c for the other clock" },
        { .title = "what grows", .name = "culprit", .width = -10, .rank = 3, .value = culprit, .by_end = true,
          .help = "the band that grows most, or where else memory grows" },
        { .title = "alerts", .name = "alerts_firing", .unit = UNIT_COUNT, .width = 6, .rank = 5, .value = firing,
          .tint = firing_colour, .help = "alerts that fire; those of a leak's bands count with the leak's" },
        { .title = "state", .name = "state", .width = 9, .rank = 6, .value = state_value, .tint = state_colour,
          .help = "running, ended, crashed, waiting for its source ...; stale: its daemon is silent" },
        { .title = "limit in", .name = "limit_in_ns", .unit = UNIT_NS, .width = 8, .rank = 9, .value = limit_in,
          .help = "when the growth reaches the limit, if it goes on: by the rate" },
        { .title = "RSS", .name = "rss_bytes", .fact = FACT_RESIDENT, .width = 8, .rank = 7,
          .help = "resident memory of the process, as the system says; known for local programs" },
        { .title = "heap", .fact = FACT_HEAP_SIZE, .width = 8, .rank = 12 },
        { .title = "limit", .name = "limit_bytes", .unit = UNIT_BYTES, .width = 8, .rank = 13, .value = limit_value,
          .help = "the lowest of -M, the control group's, --limit and the machine's memory" },
        { .title = "used", .name = "limit_share", .unit = UNIT_SHARE, .width = 7, .rank = 10, .value = limit_share,
          .tint = limit_colour, .help = "share of that limit in use: heap for -M, the cgroup's memory for its limit" },
        { .title = "GC", .fact = FACT_GC_SHARE, .width = 7, .rank = 8, .tint = gc_colour },
        { .title = "p99 pause", .name = "pause_p99_ns", .unit = UNIT_NS, .width = 9, .rank = 14, .value = pause_value,
          .help = "99 of 100 pauses of the worst generation were no longer than this" },
        { .title = "alloc", .name = "allocation_rate_bps", .fact = FACT_ALLOCATION, .width = 12, .rank = 15 },
        { .title = "up", .name = "up_ns", .unit = UNIT_NS, .width = 8, .rank = 11, .value = up,
          .help = "time since the program started; how long it ran when it has ended" },
        { .title = "lost", .name = "lost_bytes", .fact = FACT_STREAM_LOST, .width = 8, .rank = 16,
          .tint = lost_colour },
        { .title = "lag", .name = "lag_ns", .fact = FACT_STREAM_LAG, .width = 8, .rank = 17, .tint = lag_colour },
        /* from here on only in the overview: TARGET_LIST_COLUMNS */
        { .title = "wrong", .name = "wrong", .value = answer_wrong,
          .help = "is anything wrong: the verdict with its evidence, how it ended, what else fires" },
        { .title = "since", .name = "since", .value = answer_since,
          .help = "when it began, and what the program said then" },
        { .title = "grows", .name = "grows", .value = answer_grows,
          .help = "the bands that grow most, what they hold, and how fast they grow" },
        { .title = "where", .name = "where", .value = answer_where,
          .help = "in live data (held by the program), elsewhere on the heap (held by the runtime), or in foreign "
                  "memory" },
        { .title = "why", .name = "why", .value = answer_why,
          .help = "what keeps what grows alive; while nothing grows none" },
        { .title = "until", .name = "until", .value = answer_until,
          .help = "when the growth reaches the limit, as an interval, if it goes on; which limit" },
        { .title = "next", .name = "next", .value = answer_next, .help = "what to do about it" },
        { .title = "detail", .name = "detail", .value = state_detail, .help = "why the source is in its state" },
};
/* clang-format on */

_Static_assert(ARRAY_SIZE(target_columns) == TARGET_COLUMNS, "see target_columns.c");
