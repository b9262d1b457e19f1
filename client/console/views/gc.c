/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * views/gc.c - what the collector does: pauses over time, pauses of each
 * generation with their distribution, and what collections leave behind.
 */
#include <math.h>
#include <string.h>

#include "client/console/views/views.h"
#include "client/console/draw/widgets.h"
#include "proto/base/array.h"
#include "proto/base/sketch.h"

#define PAUSE_BITS  5u
#define PAUSE_CELLS SKETCH_CELLS(PAUSE_BITS, 42u)

ROWS_ARE(Hw__Generation, generation_of_row)

/* ------------------------------------------------------------- generations */

COLUMN_VALUE(number, value_number(generation_of_row(row)->has_generation, generation_of_row(row)->generation))

#define GENERATION_VALUE(function, field)                                                                              \
        COLUMN_VALUE(function, value_number(generation_of_row(row)->has_##field, (double)generation_of_row(row)->field))

GENERATION_VALUE(count, count)
GENERATION_VALUE(parallel, parallel_count)
GENERATION_VALUE(median, pause_p50_ns)
GENERATION_VALUE(p99, pause_p99_ns)
GENERATION_VALUE(longest, pause_max_ns)
GENERATION_VALUE(total, pause_total_ns)

/* The middle of a cell of pauses, see docs/PROTOCOL.md; cell numbers from the wire are checked. */
static double pause_ns(uint32_t cell)
{
        return sketch_middle(PAUSE_BITS, cell < PAUSE_CELLS ? cell : PAUSE_CELLS - 1);
}

enum { FIRST_DECADE = 3, DECADES = 7, MOST_COLUMNS = 64 }; /* 1 us to 10 s */

/* The distribution of pauses, one column for each part of a decade. All rows have the same axis. */
static void draw_distribution(struct canvas *c, struct area area, int row, int column, int width, const struct scene *s,
                              const void *data)
{
        const Hw__Generation *g = generation_of_row(data);
        double counts[MOST_COLUMNS] = { 0 };
        bool known[MOST_COLUMNS] = { false };

        if (width > MOST_COLUMNS)
                width = MOST_COLUMNS;
        for (size_t i = 0; i < g->n_bucket && i < g->n_bucket_count; i++) {
                double decades = log10(fmax(pause_ns(g->bucket[i]), 1)) - FIRST_DECADE;
                int at = (int)(decades / DECADES * width);

                at = at < 0 ? 0 : at >= width ? width - 1 : at;
                counts[at] += (double)g->bucket_count[i];
                known[at] = true;
        }
        for (int i = 0; i < width; i++) {
                counts[i] = known[i] ? log1p(counts[i]) : 0;
                if (!known[i])
                        (void)canvas_put(c, area, row, column + i, 1, TINT_FAINT, "·");
        }
        draw_bars(c, area, row, column, width, counts, known);
}

/* clang-format off */
static const struct column generation_columns[] = {
        { .title = "gen", .name = "generation", .unit = UNIT_COUNT, .width = 3, .value = number, .rising = true,
          .help = "generation; the oldest is the major one" },
        { .title = "collections", .name = "count", .unit = UNIT_COUNT, .width = 11, .value = count,
          .help = "since the run began" },
        { .title = "parallel", .name = "parallel_count", .unit = UNIT_COUNT, .width = 9, .rank = 4, .value = parallel,
          .help = "collections with more than one thread" },
        { .title = "p50", .name = "pause_p50_ns", .unit = UNIT_NS, .width = 8, .rank = 2, .value = median,
          .help = "half of all pauses were no longer than this" },
        { .title = "p99", .name = "pause_p99_ns", .unit = UNIT_NS, .width = 8, .value = p99,
          .help = "99 of 100 pauses were no longer than this" },
        { .title = "max", .name = "pause_max_ns", .unit = UNIT_NS, .width = 8, .value = longest,
          .help = "longest pause" },
        { .title = "total", .name = "pause_total_ns", .unit = UNIT_NS, .width = 8, .rank = 3, .value = total,
          .help = "sum of all pauses" },
        { .title = "pauses from 1 us to 10 s", .name = "histogram_pauses", .unit = UNIT_COUNT, .width = -24, .rank = 1,
          .value = count, .draw = draw_distribution,
          .help = "how pauses are distributed: left 1 us, right 10 s, both scales logarithmic" },
};
/* clang-format on */

static void fill_rows(const struct console *c, struct table *t)
{
        const struct world_target *target = c->scene.target;

        for (size_t i = 0; target && target->gc && i < target->gc->n_generations; i++)
                table_add(t, i, target->gc->generations[i]);
}

static const char *why_empty(const struct scene *s)
{
        if (s->target && scene_process_only(s->target))
                return UNKNOWN_TEXT "  not known: the program has no log, only its process is watched";
        return UNKNOWN_TEXT "  no collection seen yet";
}

static const struct table_class generations = {
        .name = "generations",
        .why_empty = why_empty,
        .columns = generation_columns,
        .n_columns = ARRAY_SIZE(generation_columns),
        .sort = 0,
        .rows = fill_rows,
};

/* ----------------------------------------------------------------- figures */

COLUMN_VALUE(mutator, value_number(true, 1 - facts_get(row, FACT_GC_SHARE)))

/* Those of the nonmoving collector come last, so that they can be left out for programs without it. */
/* clang-format off */
static const struct column figures[] = {
        { .title = "GC, last 10 s", .fact = FACT_GC_SHARE },
        { .title = "mutator, last 10 s", .name = "mutator_share", .unit = UNIT_SHARE, .value = mutator,
          .help = "the rest: what the program could use" },
        { .title = "GC, whole run", .fact = FACT_GC_SHARE_RUN },
        { .title = "total pause", .name = "all_pauses_ns", .fact = FACT_GC_PAUSES },
        { .title = "heapwatch's", .name = "watch_pauses_ns", .fact = FACT_WATCH_PAUSES },
        { .title = "its longest", .name = "watch_pause_max_ns", .fact = FACT_WATCH_PAUSE_MAX },
        { .title = "GC sync time", .name = "sync_total_ns", .fact = FACT_GC_SYNC },
        { .title = "parallel balance", .name = "parallel_balance", .fact = FACT_GC_BALANCE },
        { .title = "copied", .name = "copied_bytes", .fact = FACT_GC_COPIED },
        { .title = "slop, last", .name = "slop_bytes", .fact = FACT_GC_SLOP },
        { .title = "max slop, major", .name = "max_slop_bytes", .fact = FACT_GC_SLOP_MAX },
        { .title = "free blocks", .name = "free_blocks_bytes", .fact = FACT_GC_FRAGMENTATION,
          .help = "in the heap but in no use after the last collection, which the runtime's own statistics call "
                  "fragmentation; most of it is where the next collection copies to" },
        { .title = "fragmentation", .fact = FACT_UNNEEDED },
        { .title = "megablocks held", .fact = FACT_MEGABLOCKS_HELD },
        { .title = "megablocks needed", .fact = FACT_MEGABLOCKS_NEEDED },
        { .title = "megablocks returned", .fact = FACT_MEGABLOCKS_RETURNED },
        { .title = "nonmoving cycles", .fact = FACT_NONMOVING_CYCLES },
        { .title = "nonmoving mark", .fact = FACT_NONMOVING_MARK },
        { .title = "nonmoving sync", .fact = FACT_NONMOVING_SYNC },
        { .title = "longest sync", .fact = FACT_NONMOVING_SYNC_MAX },
        { .title = "nonmoving sweep", .fact = FACT_NONMOVING_SWEEP },
};
/* clang-format on */

enum { FIGURES = ARRAY_SIZE(figures) };

static size_t shown_figures(const struct console *c)
{
        const Hw__Gc *g = c->scene.target->gc;
        const bool nonmoving = g && g->nonmoving;
        size_t n = FIGURES;

        while (!nonmoving && figures[n - 1].fact >= FACT_NONMOVING_CYCLES &&
               figures[n - 1].fact <= FACT_NONMOVING_SWEEP)
                n--;
        return n;
}

/* -------------------------------------------------------------------- view */

/* What stands in place of the chart; NULL: it has pauses. */
static const char *why_no_pauses(const struct scene *s)
{
        const struct past *pauses = history_series(s->target->history, HW__SERIES__SERIES_GC_PAUSE);

        if (s->target && world_untimed(s->target))
                return "Pauses are not known: collections are counted from outside, not timed.";
        return pauses && pauses->n ? NULL : "No collection of the program's own so far.";
}

static void draw_view(struct console *c, struct canvas *canvas, struct area area)
{
        struct table *t = &c->shown->tables[0];
        int table_height = 1 + (t->n ? (int)t->n : 1), numbers;
        struct area part = area;
        struct chart drawn;

        if (table_height > area.height / 2)
                table_height = area.height / 2;
        numbers = figures_rows(shown_figures(c), area.width);
        const struct scene *s = &c->scene;
        const char *none = why_no_pauses(s);

        part.height = none ? 2 : area.height - table_height - numbers - 1;
        if (part.height < 7 && !none)
                part.height = area.height - table_height < 12 ? area.height - table_height : 7;
        if (none) {
                (void)canvas_put(canvas, part, 0, 1, area.width - 1, TINT_DIM, none);
        } else {
                timeline_begin(c, &drawn, UNIT_NS);
                chart_line(&drawn, "pause", history_series(s->target->history, HW__SERIES__SERIES_GC_PAUSE),
                           SPARK_EVENTS, TINT_LINE_2);
                drawn.ticks = history_series(s->target->history, HW__SERIES__SERIES_LIVE);
                timeline_draw(c, canvas, part, &drawn);
        }
        part = area_below(area, part.height);
        part.height = table_height;
        console_table(c, canvas, part, t);
        part = area_below(area, part.row - area.row + table_height);
        (void)figures_draw(canvas, part, part.height > numbers, &c->scene, figures, shown_figures(c), c->scene.target);
}

static int wanted_height(struct console *c, int width)
{
        size_t n = c->shown->tables[0].n;

        return (why_no_pauses(&c->scene) ? 2 : 14) + 1 + (n ? (int)n : 1) + 1 + figures_rows(shown_figures(c), width);
}

const struct console_view view_gc = {
        .name = "gc",
        .title = "GC",
        .brief = "GC",
        .letter = 'g',
        .about = "What garbage collection costs and leaves behind. The chart shows the longest pause of each moment; "
                 "a tick under it is a major collection.",
        .tables = { &generations },
        .figures = figures,
        .n_figures = FIGURES,
        .draw = draw_view,
        .rows = wanted_height,
};
