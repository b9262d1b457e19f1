/* SPDX-License-Identifier: BSD-3-Clause */
/* views/targets.c - all targets, a line each: is anything wrong, and where. */
#include <string.h>

#include "client/console/views/views.h"
#include "client/console/scene/trends.h"

static const struct world_target *target(const void *row)
{
        return row;
}

/* ----------------------------------------------------------------- columns */

static struct value name(const struct scene *s, const void *row)
{
        (void)s;
        return value_text(target(row)->name);
}

static struct value state(const struct scene *s, const void *row)
{
        uint64_t age_ns;

        return value_text(scene_stale(s, target(row), &age_ns) ? "stale" : state_word(target(row)));
}

static enum tint state_colour(const struct scene *s, const void *row)
{
        uint64_t age_ns;

        return scene_stale(s, target(row), &age_ns) ? TINT_BAD : state_tint(target(row));
}

static struct value up(const struct scene *s, const void *row)
{
        return value_number(target(row)->event_time_ns > 0, (double)scene_now_ns(s, target(row)));
}

static struct value live(const struct scene *s, const void *row)
{
        const Hw__Heap *h = target(row)->heap;

        (void)s;
        return value_number(h && h->has_live_bytes, h ? (double)h->live_bytes : 0);
}

static struct value heap(const struct scene *s, const void *row)
{
        const Hw__Heap *h = target(row)->heap;

        (void)s;
        return value_number(h && h->has_heap_size_bytes, h ? (double)h->heap_size_bytes : 0);
}

static struct value rss(const struct scene *s, const void *row)
{
        const Hw__Process *p = target(row)->heap ? target(row)->heap->process : NULL;

        (void)s;
        return value_number(p && p->has_rss_bytes, p ? (double)p->rss_bytes : 0);
}

static struct value live_max(const struct scene *s, const void *row)
{
        const Hw__Heap *heap = target(row)->heap;

        (void)s;
        return value_number(heap && heap->has_max_live_bytes, heap ? (double)heap->max_live_bytes : 0);
}

static struct value limit(const struct scene *s, const void *row)
{
        uint64_t bytes = 0;
        const char *what;
        bool known = memory_limit(target(row), &bytes, &what);

        (void)s;
        return value_number(known, (double)bytes);
}

/* The part of the least limit that is used, by what that limit counts. */
static struct value limit_share(const struct scene *s, const void *row)
{
        const struct world_target *t = row;
        const Hw__Process *p = t->heap ? t->heap->process : NULL;
        uint64_t bytes;
        const char *what;

        (void)s;
        if (!memory_limit(t, &bytes, &what))
                return no_value;
        if (!strcmp(what, "cgroup"))
                return value_number(p && p->has_cgroup_current_bytes,
                                    p ? (double)p->cgroup_current_bytes / (double)bytes : 0);
        if (strcmp(what, "-M") != 0 && p && p->has_rss_bytes)
                return value_number(true, (double)p->rss_bytes / (double)bytes);
        return value_number(t->heap && t->heap->has_heap_size_bytes,
                            t->heap ? (double)t->heap->heap_size_bytes / (double)bytes : 0);
}

static enum tint limit_colour(const struct scene *s, const void *row)
{
        struct value share = limit_share(s, row);

        if (share.is == VALUE_NONE || share.number < 0.8)
                return TINT_PLAIN;
        return share.number < 0.95 ? TINT_WARN : TINT_BAD;
}

static struct value verdict(const struct scene *s, const void *row)
{
        (void)s;
        return trend_verdict(target_trend(target(row)));
}

static enum tint trend_colour(const struct scene *s, const void *row)
{
        (void)s;
        return trend_tint(target_trend(target(row)));
}

static struct value slope(const struct scene *s, const void *row)
{
        (void)s;
        return trend_slope(target_trend(target(row)));
}

/* One unit for all targets. */
static struct rate_unit unit_of_slopes(const struct scene *s)
{
        double greatest = 0;

        for (size_t i = 0; i < world_targets(s->world); i++) {
                struct value v = trend_slope(target_trend(world_target(s->world, i)));

                if (v.is == VALUE_NUMBER)
                        greatest = rate_greater(greatest, v.number);
        }
        return rate_unit(greatest);
}

static void draw_trend(struct canvas *c, struct area area, int row, int column, int width, const struct scene *s,
                       const void *data)
{
        enum tint tint = trend_colour(s, data);
        char text[SHORT_TEXT];

        (void)canvas_put(c, area, row, column, 1, tint, trend_arrow(target_trend(target(data))));
        (void)canvas_put_right(c, area, row, column + 2, width - 2, tint,
                               value_show_rate(text, sizeof(text), UNIT_SLOPE, unit_of_slopes(s), slope(s, data)));
}

static struct value firing(const struct scene *s, const void *row)
{
        (void)s;
        return alerts_firing(target(row));
}

static enum tint firing_colour(const struct scene *s, const void *row)
{
        return firing(s, row).number > 0 ? TINT_BAD : TINT_DIM;
}

static struct value gc_share(const struct scene *s, const void *row)
{
        const Hw__Gc *gc = target(row)->gc;

        (void)s;
        return value_number(gc && gc->has_gc_share, gc ? gc->gc_share : 0);
}

static enum tint gc_colour(const struct scene *s, const void *row)
{
        struct value share = gc_share(s, row);

        if (share.is == VALUE_NONE || share.number < 0.2)
                return TINT_PLAIN;
        return share.number < 0.5 ? TINT_WARN : TINT_BAD;
}

static struct value pause(const struct scene *s, const void *row)
{
        uint64_t p99_ns, max_ns;
        bool known = worst_pause(target(row), &p99_ns, &max_ns);

        (void)s;
        return value_number(known, (double)p99_ns);
}

static struct value allocation(const struct scene *s, const void *row)
{
        const Hw__Heap *h = target(row)->heap;

        (void)s;
        return value_number(h && h->has_allocation_rate_bps, h ? h->allocation_rate_bps : 0);
}

static struct value lost(const struct scene *s, const void *row)
{
        const Hw__Health *h = target(row)->health;

        (void)s;
        return value_number(h && h->has_lost_bytes, h ? (double)h->lost_bytes : 0);
}

static enum tint lost_colour(const struct scene *s, const void *row)
{
        return lost(s, row).number > 0 ? TINT_BAD : TINT_DIM;
}

static struct value lag(const struct scene *s, const void *row)
{
        const Hw__Health *h = target(row)->health;

        (void)s;
        return value_number(h && h->has_lag_ns, h ? (double)h->lag_ns : 0);
}

static enum tint lag_colour(const struct scene *s, const void *row)
{
        return lag(s, row).number > 10e9 ? TINT_WARN : TINT_DIM;
}

static void draw_history(struct canvas *c, struct area area, int row, int column, int width, const struct scene *s,
                         const void *data)
{
        double values[SPARK_MAX];
        bool known[SPARK_MAX];

        if (width > 60)
                width = 60;
        spark_sample(scene_series(s, target(data), HW__SERIES__SERIES_LIVE), scene_span(s, target(data)), SPARK_GAUGE,
                     width, values, known);
        draw_spark(c, area, row, column, width, values, known);
}

/* clang-format off */
static const struct column columns[] = {
        { .title = "target", .name = "target", .help = "name of the monitored program", .width = -14, .value = name },
        { .title = "state", .name = "state", .width = 9, .value = state, .tint = state_colour,
          .help = "running, ended, crashed, waiting for its source ...; stale: its daemon is silent" },
        { .title = "up", .name = "up_ns", .unit = UNIT_NS, .width = 8, .rank = 7, .value = up,
          .help = "time since the program started; how long it ran when it has ended" },
        { .title = "live", .name = "live_bytes", .unit = UNIT_BYTES, .width = 9, .value = live,
          .help = "bytes that the last major collection found in use" },
        { .title = "heap", .name = "heap_size_bytes", .unit = UNIT_BYTES, .width = 9, .rank = 10, .value = heap,
          .help = "memory that the runtime holds from the system" },
        { .title = "RSS", .name = "rss_bytes", .unit = UNIT_BYTES, .width = 9, .rank = 5, .value = rss,
          .help = "resident memory of the process, as the system says; known for local programs" },
        { .title = "limit", .name = "limit_bytes", .unit = UNIT_BYTES, .width = 9, .rank = 12, .value = limit,
          .help = "the least of --limit, -M, the cgroup's limit and the machine's memory" },
        { .title = "used", .name = "limit_share", .unit = UNIT_SHARE, .width = 7, .rank = 6, .value = limit_share,
          .tint = limit_colour, .help = "part of that limit in use: heap for -M, the cgroup's memory for its limit" },
        { .title = "trend", .name = "slope_bps", .unit = UNIT_SLOPE, .width = 17, .rank = 3, .value = slope,
          .draw = draw_trend,
          .help = "robust slope of live bytes, of RSS when live is not known; an arrow points up or down when all of "
                  "its interval does" },
        { .title = "verdict", .name = "verdict", .width = 8, .rank = 1, .value = verdict, .tint = trend_colour,
          .help = "steady, growing or leak; unknown: too little data" },
        { .title = "alerts", .name = "alerts_firing", .unit = UNIT_COUNT, .width = 6, .rank = 2, .value = firing,
          .tint = firing_colour, .help = "alerts that are firing" },
        { .title = "GC", .name = "gc_share", .unit = UNIT_SHARE, .width = 7, .rank = 4, .value = gc_share,
          .tint = gc_colour, .help = "share of the last 10 s that went into collections" },
        { .title = "p99 pause", .name = "pause_p99_ns", .unit = UNIT_NS, .width = 9, .rank = 13, .value = pause,
          .help = "99 of 100 collections of the worst generation were not longer" },
        { .title = "alloc", .name = "allocation_rate_bps", .unit = UNIT_RATE, .width = 10, .rank = 9,
          .value = allocation, .help = "bytes allocated per second over the last 10 s" },
        { .title = "lost", .name = "lost_bytes", .unit = UNIT_BYTES, .width = 8, .rank = 11, .value = lost,
          .tint = lost_colour, .help = "bytes of the stream that were damaged and skipped" },
        { .title = "lag", .name = "lag_ns", .unit = UNIT_NS, .width = 8, .rank = 14, .value = lag, .tint = lag_colour,
          .help = "how far the stream is behind the program's clock" },
        { .title = "live history", .name = "live_max_bytes", .unit = UNIT_BYTES, .width = -12, .rank = 8,
          .value = live_max, .draw = draw_history,
          .help = "live bytes over the window; in order of maximum residency" },
};
/* clang-format on */

/* -------------------------------------------------------------------- rows */

/* FNV-1a of name and daemon: what identifies a target. */
static uint64_t identity(const struct world_target *t)
{
        uint64_t h = UINT64_C(0xcbf29ce484222325) ^ t->daemon;

        for (const char *p = t->name; *p; p++)
                h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
        return h;
}

static void rows(const struct console *c, struct table *t)
{
        for (size_t i = 0; i < world_targets(c->scene.world); i++) {
                const struct world_target *row = world_target(c->scene.world, i);

                table_add(t, identity(row), row);
        }
}

static const char *text(const void *row)
{
        return target(row)->name;
}

static void open_target(struct console *c, const void *row)
{
        console_choose(c, row);
        console_show(c, &view_overview);
}

static const struct table_class table = {
        .name = "targets",
        .empty = "no target",
        .columns = columns,
        .n_columns = sizeof(columns) / sizeof(columns[0]),
        .rows = rows,
        .text = text,
        .open = open_target,
};

static const struct console_key keys[] = {
        { "↑ ↓", "move" }, { "enter", "open" }, { "< >", "sort" }, { "r", "reverse" },
        { "/", "search" }, { "f", "filter" },   { NULL, NULL },
};

const struct console_view view_targets_list = {
        .name = "targets",
        .title = "Targets",
        .brief = "Targ",
        .letter = 't',
        .about = "All monitored programs, a line each.",
        .keys = keys,
        .tables = { &table },
        .all_targets = true,
};
