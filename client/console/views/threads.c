/* SPDX-License-Identifier: BSD-3-Clause */
/* views/threads.c - what threads wait for (W), why they stop, sparks, and how each capability is used. */
#include "client/console/views/views.h"
#include "client/answers/answers.h"
#include "client/answers/census.h"
#include "proto/base/array.h"

static double elapsed_ns(const struct scene *s)
{
        return (double)s->target->event_time_ns;
}

/* ------------------------------------------------------------ capabilities */

ROWS_ARE(Hw__Capability, capability_of_row)

#define CAPABILITY_VALUE(function, field)                                                                              \
        COLUMN_VALUE(function, value_number(capability_of_row(row)->has_##field, (double)capability_of_row(row)->field))

CAPABILITY_VALUE(number, number)
CAPABILITY_VALUE(run, run_ns)
CAPABILITY_VALUE(collecting, gc_ns)
CAPABILITY_VALUE(runs, runs)

static struct value used_value(const struct scene *s, const void *row)
{
        bool known = capability_of_row(row)->has_run_ns && elapsed_ns(s) > 0;

        return value_number(known, known ? (double)capability_of_row(row)->run_ns / elapsed_ns(s) : 0);
}

COLUMN_VALUE(state, value_text(capability_of_row(row)->disabled ? "disabled" : "enabled"))

/* Running Haskell, collecting, and neither, over the whole run. */
static void draw_use(struct canvas *c, struct area area, int row, int column, int width, const struct scene *s,
                     const void *data)
{
        double all = elapsed_ns(s);
        int running = 0, gc = 0;

        if (width > 60)
                width = 60;
        if (all > 0) {
                running = (int)((double)capability_of_row(data)->run_ns / all * width + 0.5);
                gc = (int)((double)capability_of_row(data)->gc_ns / all * width + 0.5);
        }
        running = running > width ? width : running;
        gc = gc > width - running ? width - running : gc;
        canvas_rule(c, area, row, column, running, TINT_LINE_1, "█");
        canvas_rule(c, area, row, column + running, gc, TINT_LINE_4, "▒");
        canvas_rule(c, area, row, column + running + gc, width - running - gc, TINT_FAINT, "·");
}

/* clang-format off */
static const struct column capability_columns[] = {
        { .title = "capability", .name = "capability", .unit = UNIT_COUNT, .width = 10, .value = number,
          .rising = true, .help = "number of the capability" },
        { .title = "used", .name = "used_share", .unit = UNIT_SHARE, .width = 7, .value = used_value,
          .help = "share of the run in which it ran Haskell threads" },
        { .title = "running", .name = "run_ns", .unit = UNIT_NS, .width = 8, .rank = 2, .value = run,
          .help = "time in which it ran Haskell threads" },
        { .title = "in GC", .name = "gc_ns", .unit = UNIT_NS, .width = 8, .rank = 3, .value = collecting,
          .help = "time between its own start and end of collections" },
        { .title = "runs", .name = "runs", .unit = UNIT_COUNT, .width = 10, .rank = 4, .value = runs,
          .help = "how often it began to run a thread" },
        { .title = "state", .name = "state", .width = 8, .rank = 5, .value = state, .help = "enabled or disabled" },
        { .title = "use", .name = "busy_share", .unit = UNIT_SHARE, .width = -16, .rank = 1, .value = used_value,
          .draw = draw_use, .help = "of the whole run: full blocks ran Haskell, shaded ones collected, dots are idle" },
};
/* clang-format on */

static const char *why_no_events(const struct scene *s)
{
        static char line[CENSUS_LINE];

        (void)snprintf(line, sizeof(line), UNKNOWN_TEXT "  %s", s->target ? answers_no_scheduler(s->target) : "");
        return line;
}

static void capability_rows(const struct console *c, struct table *t)
{
        const Hw__Sched *s = c->scene.target ? c->scene.target->sched : NULL;

        for (size_t i = 0; s && i < s->n_capabilities; i++)
                table_add(t, s->capabilities[i]->number, s->capabilities[i]);
}

static const struct table_class capabilities = {
        .name = "capabilities",
        .why_empty = why_no_events,
        .columns = capability_columns,
        .n_columns = ARRAY_SIZE(capability_columns),
        .sort = 0,
        .rows = capability_rows,
};

/* ------------------------------------------------------------------- stops */

ROWS_ARE(Hw__StopReason, stop_of_row)

COLUMN_VALUE(reason, value_text(stop_of_row(row)->reason))
COLUMN_VALUE(count, value_number(stop_of_row(row)->has_count, (double)stop_of_row(row)->count))

static double all_stops(const struct scene *s)
{
        const Hw__Sched *sched_state = s->target->sched;
        double all = 0;

        for (size_t i = 0; sched_state && i < sched_state->n_stops; i++)
                all += (double)sched_state->stops[i]->count;
        return all;
}

static struct value part_value(const struct scene *s, const void *row)
{
        double all = all_stops(s);

        return value_number(all > 0, all > 0 ? (double)stop_of_row(row)->count / all : 0);
}

static struct value per_second(const struct scene *s, const void *row)
{
        double ns = elapsed_ns(s);

        return value_number(ns > 0, ns > 0 ? (double)stop_of_row(row)->count / ns * 1e9 : 0);
}

/* clang-format off */
static const struct column stop_columns[] = {
        { .title = "threads stopped because", .name = "reason", .width = -28, .value = reason, .searched = true,
          .help = "why threads stopped running: finished; needed memory (its part of the allocation "
                  "area was full), needed more stack, yielding (the time slice is over), migrating; "
                  "a foreign call; delay; blocked on what is named (MVar, STM, throwTo, I/O; "
                  "black hole: a thunk that another thread evaluates)" },
        { .title = "times", .name = "count", .unit = UNIT_COUNT, .width = 13, .value = count,
          .help = "since the run began" },
        { .title = "share", .name = "share", .unit = UNIT_SHARE, .width = 7, .value = part_value,
          .help = "of all stops" },
        { .title = "a second", .name = "per_second", .unit = UNIT_RATIO, .width = 12, .rank = 1, .value = per_second,
          .help = "mean over the run" },
};
/* clang-format on */

static void stop_rows(const struct console *c, struct table *t)
{
        const Hw__Sched *s = c->scene.target ? c->scene.target->sched : NULL;

        for (size_t i = 0; s && i < s->n_stops; i++)
                table_add(t, s->stops[i]->status, s->stops[i]);
}

static const struct table_class stops = {
        .name = "stops",
        .why_empty = why_no_events,
        .columns = stop_columns,
        .n_columns = ARRAY_SIZE(stop_columns),
        .sort = 1,
        .rows = stop_rows,
};

/* ------------------------------------------------------------------ groups */

ROWS_ARE(struct thread_group, group_of_row)

#define GROUP_VALUE(function, is_known, field)                                                                         \
        COLUMN_VALUE(function, value_number(is_known, (double)group_of_row(row)->field))

GROUP_VALUE(group_threads, true, threads)
GROUP_VALUE(group_stack, true, most_stack_bytes)
GROUP_VALUE(group_allocated, group_of_row(row)->has_allocated, allocated_bytes)

COLUMN_VALUE(group_state, value_text(group_of_row(row)->state))
COLUMN_VALUE(group_place, value_text(group_of_row(row)->place))

/* clang-format off */
static const struct column group_columns[] = {
        { .title = "threads", .name = "threads", .unit = UNIT_COUNT, .width = 10, .value = group_threads,
          .help = "with this state and this stack; a group that grows is threads that nobody ends" },
        { .title = "doing", .name = "state", .width = -24, .value = group_state,
          .help = "what each of them does, or waits for" },
        { .title = "where", .name = "place", .width = -28, .value = group_place, .searched = true,
          .help = "the innermost function on their stacks that is none of the runtime's, and the C function that it "
                  "has called" },
        { .title = "stack", .name = "stack_bytes", .unit = UNIT_BYTES, .width = 10, .rank = 1, .value = group_stack,
          .help = "in use, of the deepest of them" },
        { .title = "allocated", .name = "allocated_bytes", .unit = UNIT_BYTES, .width = 10, .rank = 2,
          .value = group_allocated, .help = "by all of them together, since each began" },
};
/* clang-format on */

static void group_rows(const struct console *c, struct table *t)
{
        const struct thread_groups *g = c->scene.groups;

        for (size_t i = 0; g && i < g->n; i++)
                table_add(t, i, &g->items[i]);
}

static const struct table_class group_table = {
        .name = "groups",
        .empty = "",
        .columns = group_columns,
        .n_columns = ARRAY_SIZE(group_columns),
        .sort = 0,
        .rows = group_rows,
};

/* ----------------------------------------------------------------- figures */

static struct value threads_alive(const struct scene *s, const void *row)
{
        const double alive = facts_get(row, FACT_THREADS_CREATED) - facts_get(row, FACT_THREADS_FINISHED);

        return value_number(alive >= 0, alive);
}

/* clang-format off */
static const struct column figures[] = {
        { .title = "threads created", .fact = FACT_THREADS_CREATED },
        { .title = "threads alive", .name = "threads_alive", .unit = UNIT_COUNT, .value = threads_alive,
          .help = "made and not finished: running, waiting or blocked" },
        { .title = "threads finished", .fact = FACT_THREADS_FINISHED },
        { .title = "wake-ups", .name = "wakeups", .fact = FACT_WAKEUPS },
        { .title = "migrations", .name = "migrations", .fact = FACT_MIGRATIONS },
        { .title = "sparks created", .fact = FACT_SPARKS_CREATED },
        { .title = "sparks converted", .fact = FACT_SPARKS_CONVERTED },
        { .title = "sparks fizzled", .fact = FACT_SPARKS_FIZZLED },
        { .title = "sparks collected", .fact = FACT_SPARKS_COLLECTED },
        { .title = "sparks dud", .fact = FACT_SPARKS_DUD },
        { .title = "sparks overflowed", .fact = FACT_SPARKS_OVERFLOWED },
        { .title = "sparks waiting", .fact = FACT_SPARKS_REMAINING },
};
/* clang-format on */

enum { FIGURES = ARRAY_SIZE(figures) };

/* -------------------------------------------------------------------- view */

static int table_rows(const struct table *t)
{
        return 1 + (t->n ? (int)t->n : 1);
}

#define SENTENCE_TEXT 512

/* What was read of the threads, in the upper two thirds at most. Returns its rows. */
static int draw_groups(struct console *c, struct canvas *canvas, struct area area)
{
        struct table *t = &c->shown->tables[2];
        const struct thread_groups *g = c->scene.groups;
        const int most = area.height * 2 / 3;
        int rows = 0;

        if (!g)
                return 0;
        for (size_t i = 0; i < g->n_sentences && rows < area.height / 4; i++)
                (void)canvas_put(canvas, area, rows++, 1, area.width - 2, TINT_DIM,
                                 SAFE_TEXT(SENTENCE_TEXT, g->sentences[i]));
        struct area part = area_below(area, rows);
        part.height = table_rows(t) < most - rows ? table_rows(t) : most - rows;
        console_table(c, canvas, part, t);
        return rows + part.height + 1;
}

static void draw_view(struct console *c, struct canvas *canvas, struct area area)
{
        struct table *upper = &c->shown->tables[0], *lower = &c->shown->tables[1];

        area = area_below(area, draw_groups(c, canvas, area));
        int numbers = figures_draw(canvas, area, 0, &c->scene, figures, FIGURES, c->scene.target);
        struct area part = area_below(area, numbers + (area.height > 20));
        int rest = part.height;

        part.height = table_rows(upper) < rest / 2 ? table_rows(upper) : rest / 2;
        if (table_rows(lower) < rest - part.height)
                part.height =
                        table_rows(upper) < rest - table_rows(lower) ? table_rows(upper) : rest - table_rows(lower);
        console_table(c, canvas, part, upper);
        rest -= part.height + (area.height > 20);
        part = area_below(part, part.height + (area.height > 20));
        part.height = rest;
        console_table(c, canvas, part, lower);
}

static int wanted_height(struct console *c, int width)
{
        return figures_rows(FIGURES, width) + 2 + table_rows(&c->shown->tables[0]) + table_rows(&c->shown->tables[1]) +
               20;
}

/* clang-format off */
static const struct console_key keys[] = {
        { "W", "what they wait for" }, { "tab", "other table" }, { "< >", "sort" }, { NULL, NULL },
};
/* clang-format on */

const struct console_view view_threads = {
        .name = "threads",
        .title = "Threads",
        .brief = "Thr",
        .letter = 'h',
        .about = "Haskell threads, why they stop, sparks, and how each capability is used. From scheduler events "
                 "(+RTS -ls) and spark events (-lp). Above, after W: what they wait for and where, in groups of one "
                 "state and one stack, which needs no events. `heapwatch threads` has their stacks.",
        .keys = keys,
        .tables = { &capabilities, &stops, &group_table },
        .figures = figures,
        .n_figures = FIGURES,
        .draw = draw_view,
        .rows = wanted_height,
};
