/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * views/memory.c - memory over time: live, blocks, heap size and RSS with the
 * limit, major collections and the program's notes; below it every series with
 * its smallest, mean and largest value in the window.
 */
#include <math.h>
#include <string.h>

#include "client/console/views/views.h"
#include "client/console/scene/trends.h"
#include "client/console/draw/widgets.h"
#include "proto/base/array.h"
#include "proto/wire/words.h"

struct memory {
        bool zoomed; /* the axis begins near the smallest value */
};

enum { ALWAYS = 4 }; /* the first of series_in_order: rows and lines, with values or without */

static Hw__Series series_of_row(const void *row)
{
        return (Hw__Series) * (const enum series_id *)row;
}

static const Hw__Trend *trend_of_row(const struct scene *s, const void *row)
{
        return s->target->trends[series_of_row(row)];
}

/* ----------------------------------------------------------------- columns */

/* NAN: without samples. */
struct summary {
        double min, max, mean;
};

/* The same points as in the chart. */
static const struct past *past_of_row(const struct scene *s, const void *row)
{
        return history_series(s->target->history, series_of_row(row));
}

/* In the mean each point is weighted by the time until the next one, for which it held. */
static struct summary summarise_row(const struct scene *s, const void *row)
{
        const struct past *all = past_of_row(s, row);
        struct time_range range = scene_span(s, s->target);
        struct summary m = { NAN, NAN, NAN };
        double held_ns = 0, area = 0;
        uint64_t until_ns = range.to_ns;

        for (size_t i = all->n; i > 0; i--) {
                const struct point *p = &all->points[i - 1];

                if (p->cell.last_ns < range.from_ns || p->cell.last_ns > range.to_ns)
                        continue;
                m.min = fmin(m.min, p->cell.min);
                m.max = fmax(m.max, p->cell.max);
                if (until_ns > p->time_ns) {
                        area += p->cell.mean * (double)(until_ns - p->time_ns);
                        held_ns += (double)(until_ns - p->time_ns);
                        until_ns = p->time_ns;
                }
                m.mean = held_ns > 0 ? area / held_ns : p->cell.mean;
        }
        return m;
}

static struct value name_value(const struct scene *s, const void *row)
{
        return value_text(series_rows[series_of_row(row)].label);
}

static struct value now_value(const struct scene *s, const void *row)
{
        const struct past *all = past_of_row(s, row);
        double newest;

        if (world_newest(s->target, series_of_row(row), &newest))
                return value_number(true, newest);
        return value_number(all->n > 0, all->n ? all->points[all->n - 1].cell.last : 0);
}

COLUMN_VALUE(least, value_number(true, summarise_row(s, row).min))
COLUMN_VALUE(mean, value_number(true, summarise_row(s, row).mean))
COLUMN_VALUE(most, value_number(true, summarise_row(s, row).max))
COLUMN_VALUE(since_mark, value_number(true, scene_series_since_mark(s, series_of_row(row))))
COLUMN_VALUE(slope, trend_slope(trend_of_row(s, row)))
COLUMN_VALUE(slope_low, trend_slope_low(trend_of_row(s, row)))
COLUMN_VALUE(slope_high, trend_slope_high(trend_of_row(s, row)))
COLUMN_VALUE(verdict, trend_verdict(trend_of_row(s, row)))
COLUMN_VALUE(verdict_order, trend_gravity(trend_of_row(s, row)))
COLUMN_TINT(verdict_colour, trend_tint(trend_of_row(s, row)))
COLUMN_TINT(strong, TINT_STRONG)

/* clang-format off */
static const struct column columns[] = {
        { .title = "series", .name = "series", .width = 21, .value = name_value,
          .help = "live: what major collections found in use; blocks: in blocks of the heap; heap: held from the "
                  "system; RSS: resident memory, and its six parts: live data, slop and copy reserve, kept by the "
                  "runtime, given back (the kernel takes it when it needs memory), files, foreign (malloc, C code, "
                  "stacks); PSS (shared pages by their part), swap: of the process; cgroup: of its control group; "
                  "census total: all bands of a heap profile's sample; slop "
                  "(within blocks), free blocks: what the last collection left unused" },
        { .title = "now", .name = "bytes", .unit = UNIT_BYTES, .width = 9, .value = now_value, .tint = strong,
          .help = "newest sample; of a run that is over, the program's last, not what its shutdown left" },
        { .title = "since mark", .name = "since_mark_bytes", .unit = UNIT_CHANGE, .width = 10, .value = since_mark,
          .shown = scene_has_mark, .help = "after M: now, compared with the marked moment" },
        { .title = "min", .name = "min_bytes", .unit = UNIT_BYTES, .width = 9, .rank = 3, .value = least,
          .help = "smallest sample in the window" },
        { .title = "mean", .name = "mean_bytes", .unit = UNIT_BYTES, .width = 9, .rank = 4, .value = mean,
          .help = "mean in the window, each sample weighted by the time for which it held" },
        { .title = "max", .name = "max_bytes", .unit = UNIT_BYTES, .width = 9, .rank = 2, .value = most,
          .help = "largest sample in the window" },
        { .title = "slope", .name = "slope_bps", .unit = UNIT_SLOPE, .width = 14, .rank = 5, .value = slope,
          .help = "robust slope (Theil-Sen) behind the verdict; ~ is provisional: from the few points before it" },
        { .title = "at least", .name = "slope_low_bps", .unit = UNIT_SLOPE, .width = 14, .rank = 7,
          .value = slope_low, .help = "low end of the slope's interval of about 95 %" },
        { .title = "at most", .name = "slope_high_bps", .unit = UNIT_SLOPE, .width = 14, .rank = 8,
          .value = slope_high, .help = "high end of the slope's interval" },
        { .title = "verdict", .name = "verdict", .width = 8, .rank = 1, .value = verdict, .order = verdict_order,
          .tint = verdict_colour, .help = "steady, rising, growing or leak; unknown: too little data yet" },
};
/* clang-format on */

/* Levels in bytes: the first, and those that have samples. */
static void fill_rows(const struct console *c, struct table *t)
{
        for (size_t i = 0; i < ARRAY_SIZE(series_in_order) && c->scene.target; i++) {
                const struct series_row *row = &series_rows[series_in_order[i]];
                const bool level = row->kind == SERIES_LEVEL || row->kind == SERIES_MEASURED;

                if (i < ALWAYS || (level && row->unit == FACT_BYTES && past_of_row(&c->scene, &series_in_order[i])->n))
                        table_add(t, i, &series_in_order[i]);
        }
}

static const struct table_class table = {
        .name = "series",
        .empty = "no series",
        .columns = columns,
        .n_columns = ARRAY_SIZE(columns),
        .sort = SIZE_MAX,
        .rows = fill_rows,
};

/* ------------------------------------------------------------------- chart */

static void fill_chart(struct console *c, struct chart *chart)
{
        static const enum tint tints[ALWAYS] = { TINT_LINE_1, TINT_LINE_2, TINT_LINE_3, TINT_LINE_4 };
        const struct scene *s = &c->scene;
        const struct memory *m = console_state(c);
        Hw__TimeToLimit__Source source;
        uint64_t limit;

        timeline_begin(c, chart, UNIT_BYTES);
        chart->from_zero = !m->zoomed;
        for (size_t i = 0; i < ALWAYS; i++) {
                const enum series_id id = series_in_order[i];

                chart_line(chart, series_rows[id].label, past_of_row(s, &series_in_order[i]), SPARK_GAUGE, tints[i]);
                (void)world_newest(s->target, (Hw__Series)id, &chart->lines[i].newest);
        }
        if (world_limit(s->target, &limit, &source)) {
                chart->limit = (double)limit;
                chart->limit_name = limit_name(source);
        }
        chart->ticks = chart->lines[0].past; /* one sample for each major collection */
}

static void draw_view(struct console *c, struct canvas *canvas, struct area area)
{
        struct table *t = &c->shown->tables[0];
        int below = 1 + (int)t->n;
        struct area upper = area, lower;
        struct chart drawn;

        if (below > area.height / 2)
                below = area.height / 2 < 1 + ALWAYS ? area.height / 2 : 1 + ALWAYS;
        upper.height -= below;
        lower = area_below(area, upper.height);
        fill_chart(c, &drawn);
        timeline_draw(c, canvas, upper, &drawn);
        console_table(c, canvas, lower, t);
}

static int wanted_height(struct console *c, int width)
{
        return 20 + 1 + (int)c->shown->tables[0].n;
}

static bool handle_key(struct console *c, int k)
{
        struct memory *m = console_state(c);

        if (k != 'z')
                return false;
        m->zoomed = !m->zoomed;
        return true;
}

static const struct console_key keys[] = {
        { "z", "zoom" },
        { NULL, NULL },
};

const struct console_view view_memory = {
        .name = "memory",
        .title = "Memory",
        .brief = "Mem",
        .letter = 'm',
        .about = "Memory over the window. The dashed line is the lowest limit; its legend says which. Under the chart "
                 "a tick "
                 "is a major collection, a full triangle a marker of the program, an empty one a message: put the "
                 "cursor on it to read it. z makes the axis begin near the smallest value instead of 0.",
        .keys = keys,
        .tables = { &table },
        .state_size = sizeof(struct memory),
        .draw = draw_view,
        .rows = wanted_height,
        .key = handle_key,
};
