/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/query/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/commands/event_print.h"
#include "client/state/band_name.h"
#include "client/state/facts.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/wire/fields.h"

#define NS_OF_S(s) ((s)*1e9)

/* ------------------------------------------------------------------- helpers */

static void begin_row(struct query_scan *s, const char *target, uint32_t run)
{
        query_rows_add_text(&s->rows, s->source);
        query_rows_add_text(&s->rows, target);
        query_rows_add_integer(&s->rows, run);
}

static bool is_in_time(const struct query_scan *s, uint64_t ns)
{
        return !((double)ns < NS_OF_S(s->bounds.time_from)) && !((double)ns > NS_OF_S(s->bounds.time_to));
}

static bool is_key(const struct query_scan *s, const char *name)
{
        return !s->bounds.key || (name && !strcmp(s->bounds.key, name));
}

static void add_optional(struct query_rows *r, bool has, uint64_t value)
{
        if (has)
                query_rows_add_integer(r, value);
        else
                query_rows_add_null(r);
}

static void add_optional_seconds(struct query_rows *r, bool has, uint64_t ns)
{
        query_rows_add_real(r, has ? (double)ns / 1e9 : NAN);
}

static void add_enum(struct query_rows *r, const ProtobufCEnumDescriptor *of, bool has, int value)
{
        char text[ENUM_TEXT_MAX];

        query_rows_add_text(r, has ? enum_text(text, of, value) : NULL);
}

static void forget_names(struct query_scan *s)
{
        for (size_t i = 0; i < s->n_names; i++)
                free(s->names[i]);
        s->n_names = 0;
}

void query_scan_done(struct query_scan *s)
{
        forget_names(s);
        free(s->names);
        if (s->types)
                event_types_done(s->types);
        free(s->types);
        query_rows_done(&s->rows);
}

/* The name of a band as other runs know it, made once. NULL: out of memory. */
static const char *find_band_name(struct query_scan *s, const struct world_target *t, uint32_t id)
{
        const struct world_band *band = world_band_of(t, id);
        struct band_name name;

        if (s->names_run != t->run || strcmp(s->names_target, t->name) != 0) {
                forget_names(s);
                s->names_run = t->run;
                (void)snprintf(s->names_target, sizeof(s->names_target), "%s", t->name);
        }
        if (!band || !ARRAY_RESERVE_ZEROED(s->names, s->names_room, id))
                return NULL;
        while (s->n_names < id)
                s->names[s->n_names++] = NULL;
        if (!s->names[id - 1]) {
                band_name(&name, band->def);
                s->names[id - 1] = strdup(name.text);
        }
        return s->names[id - 1];
}

#define FOR_EACH_TARGET(s, t)                                                                                          \
        for (size_t at_##t = 0; at_##t < world_targets((s)->world); at_##t++)                                          \
                for (const struct world_target *t = world_target((s)->world, at_##t); t; t = NULL)

/* ---------------------------------------------------------------------- runs */

static const struct query_column run_columns[] = {
        { "program", QUERY_TEXT, "", "base name of the program" },
        { "ghc", QUERY_TEXT, "", "version of GHC that made it" },
        { "pid", QUERY_INTEGER, "", "its process" },
        { "state", QUERY_TEXT, "", "running, ended, crashed, failed ..." },
        { "detail", QUERY_TEXT, "", "why this state, in words" },
        { "started", QUERY_TEXT, "", "UTC of event time 0" },
        { "elapsed", QUERY_REAL, "s", "newest event time" },
        { "breakdown", QUERY_TEXT, "", "of the heap profile" },
        { "max_heap", QUERY_INTEGER, "B", "-M" },
        { "exit_status", QUERY_INTEGER, "", "of the program, from its parent" },
        { "exit_signal", QUERY_INTEGER, "", "that ended it" },
};

static void finish_runs(struct query_scan *s)
{
        FOR_EACH_TARGET(s, t)
        {
                const Hw__Run none = HW__RUN__INIT,
                              *run = t->target && t->target->run_info ? t->target->run_info : &none;
                const Hw__Target no = HW__TARGET__INIT, *state = t->target ? t->target : &no;
                struct query_rows *r = &s->rows;
                char started[64];

                if (!is_key(s, run->program))
                        continue;
                begin_row(s, t->name, t->run);
                query_rows_add_text(r, run->program);
                query_rows_add_text(r, run->ghc_version);
                add_optional(r, run->has_pid, run->pid);
                add_enum(r, &hw__target__state__descriptor, state->has_state, (int)state->state);
                query_rows_add_text(r, state->detail);
                query_rows_add_text(
                        r, run->has_start_wall_ns ? hw_time_text(started, sizeof(started), run->start_wall_ns) : NULL);
                query_rows_add_seconds(r, t->event_time_ns);
                add_enum(r, &hw__breakdown__descriptor, run->has_breakdown, (int)run->breakdown);
                add_optional(r, run->has_max_heap_bytes, run->max_heap_bytes);
                add_optional(r, state->has_exit_status, state->exit_status);
                add_optional(r, state->has_exit_signal, state->exit_signal);
        }
}

/* --------------------------------------------------------------------- facts */

static const struct query_column fact_columns[] = {
        { "fact", QUERY_TEXT, "", "its name in docs/METRICS.md, with its unit" },
        { "value", QUERY_REAL, "", "the newest value, in the unit of its name; a fact that is not known has no row" },
        { "unit", QUERY_TEXT, "", "B, ns, B/s, share, count, Unix time in ns" },
        { "help", QUERY_TEXT, "", "what it is" },
};

static void finish_facts(struct query_scan *s)
{
        static const char *const units[] = {
                [FACT_COUNT] = "count", [FACT_BYTES] = "B",  [FACT_NS] = "ns",
                [FACT_SHARE] = "share", [FACT_RATE] = "B/s", [FACT_WALL] = "Unix time in ns",
        };

        FOR_EACH_TARGET(s, t)
        {
                for (enum fact id = FACT_NONE + 1; id < FACTS; id++) {
                        const struct fact_row *row = &fact_rows[id];

                        if (!facts_is_known(t, id) || !is_key(s, row->name))
                                continue;
                        begin_row(s, t->name, t->run);
                        query_rows_add_text(&s->rows, row->name);
                        query_rows_add_real(&s->rows, facts_get(t, id));
                        query_rows_add_text(&s->rows, units[row->unit]);
                        query_rows_add_text(&s->rows, row->help);
                }
        }
}

/* -------------------------------------------------------------------- series */

static const struct query_column series_columns[] = {
        { "series", QUERY_TEXT, "",
          "live, heap_size, blocks_size, rss, foreign, gc_pause ... (`heapwatch help pipe`)" },
        { "time", QUERY_REAL, "s", "of the sample; of a live target's past: the last one of its interval" },
        { "value", QUERY_REAL, "", "bytes, or seconds: the sample, or the last one" },
        { "unit", QUERY_TEXT, "", "B or s" },
        { "samples", QUERY_INTEGER, "", "in the interval; 1 of a log" },
        { "min", QUERY_REAL, "", "of them" },
        { "max", QUERY_REAL, "", "of them" },
        { "mean", QUERY_REAL, "", "of them" },
};

static double series_scale(Hw__Series series)
{
        return strcmp(hw_series_unit(series), "ns") ? 1 : 1e-9;
}

static void add_series_row(struct query_scan *s, const char *target, uint32_t run, Hw__Series series,
                           const Hw__Point *p)
{
        const double scale = series_scale(series);
        struct query_rows *r = &s->rows;

        begin_row(s, target, run);
        query_rows_add_text(r, hw_series_name(series));
        query_rows_add_seconds(r, p->has_last_time_ns ? p->last_time_ns : p->time_ns);
        query_rows_add_real(r, p->last * scale);
        query_rows_add_text(r, scale < 1 ? "s" : "B");
        query_rows_add_integer(r, p->count);
        query_rows_add_real(r, p->min * scale);
        query_rows_add_real(r, p->max * scale);
        query_rows_add_real(r, p->mean * scale);
}

static void add_series(struct query_scan *s, const Hw__Update *u)
{
        for (size_t i = 0; u->body_case == HW__UPDATE__BODY_HEAP && i < u->heap->n_samples; i++) {
                const Hw__Samples *samples = u->heap->samples[i];

                if (!is_key(s, hw_series_name(samples->series)))
                        continue;
                for (size_t k = 0; k < samples->n_times_ns && k < samples->n_values; k++) {
                        const double value = (double)samples->values[k];
                        const Hw__Point p = { .time_ns = samples->times_ns[k],
                                              .count = 1,
                                              .min = value,
                                              .max = value,
                                              .mean = value,
                                              .last = value };

                        if (is_in_time(s, p.time_ns))
                                add_series_row(s, u->target, u->run, samples->series, &p);
                }
        }
}

void query_add_points(struct query_scan *s, const Hw__History *history)
{
        for (size_t i = 0; i < history->n_points; i++)
                if (is_in_time(s, history->points[i]->time_ns))
                        add_series_row(s, history->target, history->run, history->series, history->points[i]);
}

/* --------------------------------------------------------------- collections */

static const struct query_column collection_columns[] = {
        { "time", QUERY_REAL, "s", "its end" },
        { "pause", QUERY_REAL, "s", "how long the program was stopped; NULL: its start was not seen" },
        { "generation", QUERY_INTEGER, "", "that was collected, with all younger ones" },
        { "major", QUERY_INTEGER, "", "1: all generations" },
        { "copied", QUERY_INTEGER, "B", "live data that was copied" },
        { "slop", QUERY_INTEGER, "B", "in blocks, unused" },
        { "fragmentation", QUERY_INTEGER, "B", "in blocks in no use" },
        { "threads", QUERY_INTEGER, "", "that collected" },
        { "capability", QUERY_INTEGER, "", "that led it" },
};

static void add_collections(struct query_scan *s, const Hw__Update *u)
{
        struct query_rows *r = &s->rows;

        for (size_t i = 0; u->body_case == HW__UPDATE__BODY_GC && i < u->gc->n_collections; i++) {
                const Hw__Collection *c = u->gc->collections[i];

                if (!is_in_time(s, c->end_time_ns))
                        continue;
                begin_row(s, u->target, u->run);
                query_rows_add_seconds(r, c->end_time_ns);
                add_optional_seconds(r, c->has_pause_ns, c->pause_ns);
                add_optional(r, c->has_generation, c->generation);
                query_rows_add_integer(r, c->has_major && c->major);
                add_optional(r, c->has_copied_bytes, c->copied_bytes);
                add_optional(r, c->has_slop_bytes, c->slop_bytes);
                add_optional(r, c->has_fragmentation_bytes, c->fragmentation_bytes);
                add_optional(r, c->has_parallel_threads, c->parallel_threads);
                add_optional(r, c->has_capability, c->capability);
        }
}

/* -------------------------------------------------------------- heap profile */

static const struct query_column census_columns[] = {
        { "time", QUERY_REAL, "s", "of the census" },
        { "census", QUERY_INTEGER, "", "its number, from 1" },
        { "bytes", QUERY_INTEGER, "B", "of all bands" },
        { "bands", QUERY_INTEGER, "", "with a row in it" },
        { "outside", QUERY_INTEGER, "", "1: read without a pause" },
        { "left_out", QUERY_INTEGER, "B", "in bands beyond the daemon's limit" },
};

static void add_censuses(struct query_scan *s, const Hw__Update *u)
{
        const Hw__Census *c = u->body_case == HW__UPDATE__BODY_CENSUS ? u->census : NULL;

        if (!c || !is_in_time(s, c->time_ns))
                return;
        begin_row(s, u->target, u->run);
        query_rows_add_seconds(&s->rows, c->time_ns);
        query_rows_add_integer(&s->rows, c->number);
        query_rows_add_integer(&s->rows, c->total_bytes);
        query_rows_add_integer(&s->rows, c->n_band);
        query_rows_add_integer(&s->rows, c->has_outside && c->outside);
        query_rows_add_integer(&s->rows, c->bytes_left_out);
}

static const struct query_column band_columns[] = {
        { "name", QUERY_TEXT, "", "of the band, the same in another run" },
        { "time", QUERY_REAL, "s", "of the census" },
        { "census", QUERY_INTEGER, "", "its number" },
        { "band", QUERY_INTEGER, "", "id in this run: band_names has more of it" },
        { "bytes", QUERY_INTEGER, "B", "that it holds" },
        { "closures", QUERY_INTEGER, "", "how many; NULL: the census did not count them" },
};

static void add_bands(struct query_scan *s, const Hw__Update *u)
{
        const Hw__Census *c = u->body_case == HW__UPDATE__BODY_CENSUS ? u->census : NULL;
        const struct world_target *t = c && is_in_time(s, c->time_ns) ? world_find(s->world, u->target) : NULL;

        for (size_t i = 0; t && i < c->n_band && i < c->n_bytes; i++) {
                const char *name = find_band_name(s, t, c->band[i]);

                if (!is_key(s, name))
                        continue;
                begin_row(s, u->target, u->run);
                query_rows_add_text(&s->rows, name);
                query_rows_add_seconds(&s->rows, c->time_ns);
                query_rows_add_integer(&s->rows, c->number);
                query_rows_add_integer(&s->rows, c->band[i]);
                query_rows_add_integer(&s->rows, c->bytes[i]);
                add_optional(&s->rows, i < c->n_closures, i < c->n_closures ? c->closures[i] : 0);
        }
}

static const struct query_column band_name_columns[] = {
        { "name", QUERY_TEXT, "", "as in bands" },
        { "band", QUERY_INTEGER, "", "id in this run" },
        { "label", QUERY_TEXT, "", "as the log has it" },
        { "module", QUERY_TEXT, "", "of its code, where the log says" },
        { "function", QUERY_TEXT, "", "or cost centre" },
        { "type", QUERY_TEXT, "", "of its values" },
        { "closure_type", QUERY_TEXT, "", "such as THUNK_1_1" },
        { "place", QUERY_TEXT, "", "file and lines in the program's source" },
        { "first_seen", QUERY_REAL, "s", "its first census" },
        { "max", QUERY_INTEGER, "B", "its maximum" },
        { "holds", QUERY_TEXT, "", "what most of it is, in the newest census" },
};

static void finish_band_names(struct query_scan *s)
{
        struct query_rows *r = &s->rows;

        FOR_EACH_TARGET(s, t)
        {
                for (uint32_t id = 1; id <= t->n_bands; id++) {
                        const struct world_band *b = world_band_of(t, id);
                        const char *name = b ? find_band_name(s, t, id) : NULL;

                        if (!b || !is_key(s, name))
                                continue;
                        const Hw__InfoTable *info = b->def->info_table;
                        const Hw__CostCentre *centre = b->def->n_stack ? b->def->stack[0] : NULL;
                        begin_row(s, t->name, t->run);
                        query_rows_add_text(r, name);
                        query_rows_add_integer(r, id);
                        query_rows_add_text(r, b->def->label);
                        query_rows_add_text(r, info ? info->module : centre ? centre->module : NULL);
                        query_rows_add_text(r, info ? info->label : centre ? centre->label : NULL);
                        query_rows_add_text(r, info ? info->type : NULL);
                        query_rows_add_text(r, info ? info->closure_type : NULL);
                        query_rows_add_text(r, band_source(b->def));
                        add_optional_seconds(r, b->def->has_first_seen_ns, b->def->first_seen_ns);
                        query_rows_add_integer(r, b->max_bytes);
                        query_rows_add_text(r, b->contents ? b->contents->name : NULL);
                }
        }
}

/* --------------------------------------------------------------------- notes */

static const struct query_column note_columns[] = {
        { "text", QUERY_TEXT, "", "that the program wrote" },
        { "time", QUERY_REAL, "s", "of the note" },
        { "what", QUERY_TEXT, "", "marker, message, thread_label, binary, log" },
        { "number", QUERY_INTEGER, "", "from 1 within the run" },
        { "capability", QUERY_INTEGER, "", "that wrote it" },
        { "thread", QUERY_INTEGER, "", "of a thread_label" },
        { "size", QUERY_INTEGER, "B", "as the program wrote it" },
};

static void add_notes(struct query_scan *s, const Hw__Update *u)
{
        struct query_rows *r = &s->rows;

        for (size_t i = 0; u->body_case == HW__UPDATE__BODY_NOTES && i < u->notes->n_notes; i++) {
                const Hw__Note *n = u->notes->notes[i];

                if (!is_in_time(s, n->time_ns) || !is_key(s, n->text))
                        continue;
                begin_row(s, u->target, u->run);
                query_rows_add_text(r, n->text);
                query_rows_add_seconds(r, n->time_ns);
                add_enum(r, &hw__note__what__descriptor, n->has_what, (int)n->what);
                query_rows_add_integer(r, n->number);
                add_optional(r, n->has_capability, n->capability);
                add_optional(r, n->has_thread, n->thread);
                add_optional(r, n->has_size_bytes, n->size_bytes);
        }
}

/* ----------------------------------------------------------------- scheduler */

static const struct query_column stop_columns[] = {
        { "reason", QUERY_TEXT, "", "why Haskell threads stopped running" },
        { "stops", QUERY_INTEGER, "", "how often, since the run began" },
};

static void finish_thread_states(struct query_scan *s)
{
        FOR_EACH_TARGET(s, t)
        {
                for (size_t i = 0; t->sched && i < t->sched->n_stops; i++) {
                        if (!is_key(s, t->sched->stops[i]->reason))
                                continue;
                        begin_row(s, t->name, t->run);
                        query_rows_add_text(&s->rows, t->sched->stops[i]->reason);
                        query_rows_add_integer(&s->rows, t->sched->stops[i]->count);
                }
        }
}

static const struct query_column capability_columns[] = {
        { "capability", QUERY_INTEGER, "", "its number" },
        { "running", QUERY_REAL, "s", "time with a Haskell thread" },
        { "collecting", QUERY_REAL, "s", "time in collections" },
        { "runs", QUERY_INTEGER, "", "times that a thread was run" },
};

static void finish_capabilities(struct query_scan *s)
{
        FOR_EACH_TARGET(s, t)
        {
                for (size_t i = 0; t->sched && i < t->sched->n_capabilities; i++) {
                        const Hw__Capability *c = t->sched->capabilities[i];

                        begin_row(s, t->name, t->run);
                        query_rows_add_integer(&s->rows, c->number);
                        add_optional_seconds(&s->rows, c->has_run_ns, c->run_ns);
                        add_optional_seconds(&s->rows, c->has_gc_ns, c->gc_ns);
                        query_rows_add_integer(&s->rows, c->runs);
                }
        }
}

/* -------------------------------------------------------------- time profile */

static const struct query_column stack_columns[] = {
        { "centre", QUERY_TEXT, "", "the innermost cost centre" },
        { "stack", QUERY_INTEGER, "", "id in this run" },
        { "depth", QUERY_INTEGER, "", "cost centres in it" },
        { "path", QUERY_TEXT, "", "of cost centres, the outermost first, with ; between" },
        { "ticks", QUERY_INTEGER, "", "of the profile's timer, since the run began" },
};

static void add_path(struct query_rows *r, const Hw__Stack *stack)
{
        struct band_name name;
        char *path = NULL;
        size_t size = 0;
        FILE *to = open_memstream(&path, &size);

        for (size_t i = stack->n_centres; to && i-- > 0;) {
                centre_name(&name, stack->centres[i]);
                (void)fprintf(to, "%s%s", name.text, i ? ";" : "");
        }
        if (to && fclose(to) == 0)
                query_rows_add_text(r, path);
        else
                r->failed = true;
        free(path);
}

static void finish_stacks(struct query_scan *s)
{
        struct band_name name;

        FOR_EACH_TARGET(s, t)
        {
                for (uint32_t i = 0; i < t->n_stacks; i++) {
                        const Hw__Stack *stack = t->stacks[i];

                        if (!stack)
                                continue;
                        centre_name(&name, stack->n_centres ? stack->centres[0] : NULL);
                        if (!is_key(s, name.text))
                                continue;
                        begin_row(s, t->name, t->run);
                        query_rows_add_text(&s->rows, name.text);
                        query_rows_add_integer(&s->rows, stack->id);
                        query_rows_add_integer(&s->rows, stack->n_centres);
                        add_path(&s->rows, stack);
                        query_rows_add_integer(&s->rows, stack->ticks);
                }
        }
}

static const struct query_column ticky_columns[] = {
        { "name", QUERY_TEXT, "", "of the counter; NULL until the program ends" },
        { "counter", QUERY_INTEGER, "", "its id" },
        { "arity", QUERY_INTEGER, "", "of the function" },
        { "arguments", QUERY_TEXT, "", "their kinds" },
        { "entries", QUERY_INTEGER, "", "how often it was entered" },
        { "allocated_by", QUERY_INTEGER, "B", "by it" },
        { "allocated_of", QUERY_INTEGER, "B", "of it" },
};

static void finish_ticky(struct query_scan *s)
{
        FOR_EACH_TARGET(s, t)
        {
                for (uint32_t i = 0; i < t->n_ticky; i++) {
                        const Hw__TickyCounter *c = t->ticky[i];

                        if (!is_key(s, c->name))
                                continue;
                        begin_row(s, t->name, t->run);
                        query_rows_add_text(&s->rows, c->name);
                        query_rows_add_integer(&s->rows, c->id);
                        add_optional(&s->rows, c->has_arity, c->arity);
                        query_rows_add_text(&s->rows, c->argument_kinds);
                        query_rows_add_integer(&s->rows, c->entries);
                        query_rows_add_integer(&s->rows, c->allocs);
                        query_rows_add_integer(&s->rows, c->allocd);
                }
        }
}

/* ------------------------------------------------------------------ judgement */

static const struct query_column alert_columns[] = {
        { "rule", QUERY_TEXT, "", "that fired" },
        { "severity", QUERY_TEXT, "", "warning, critical ..." },
        { "state", QUERY_TEXT, "", "pending, firing, resolved" },
        { "band", QUERY_TEXT, "", "of a rule over bands" },
        { "value", QUERY_REAL, "", "of its expression" },
        { "since", QUERY_REAL, "s", "when its expression began to hold" },
        { "fired", QUERY_REAL, "s", "when it fired" },
        { "resolved", QUERY_REAL, "s", "when it was over" },
        { "sentence", QUERY_TEXT, "", "the evidence in words" },
};

static void finish_alerts(struct query_scan *s)
{
        struct query_rows *r = &s->rows;

        FOR_EACH_TARGET(s, t)
        {
                for (size_t i = 0; t->alerts && i < t->alerts->n_alerts; i++) {
                        const Hw__Alert *a = t->alerts->alerts[i];

                        if (!is_key(s, a->rule))
                                continue;
                        begin_row(s, t->name, t->run);
                        query_rows_add_text(r, a->rule);
                        query_rows_add_text(r, a->severity);
                        add_enum(r, &hw__alert__state__descriptor, a->has_state, (int)a->state);
                        query_rows_add_text(r, a->band_label);
                        query_rows_add_real(r, a->has_value ? a->value : NAN);
                        add_optional_seconds(r, a->has_since_ns, a->since_ns);
                        add_optional_seconds(r, a->has_fired_ns, a->fired_ns);
                        add_optional_seconds(r, a->has_resolved_ns, a->resolved_ns);
                        query_rows_add_text(r, a->sentence);
                }
        }
}

static const struct query_column standing_columns[] = {
        { "of", QUERY_TEXT, "", "a series, or the name of a band" },
        { "is_band", QUERY_INTEGER, "", "1: a band" },
        { "verdict", QUERY_TEXT, "", "unknown, steady, growing, leak" },
        { "slope", QUERY_REAL, "B/s", "robust" },
        { "slope_low", QUERY_REAL, "B/s", "of its interval, about 95 %" },
        { "slope_high", QUERY_REAL, "B/s", "likewise" },
        { "onset", QUERY_REAL, "s", "when the growth began" },
        { "as_of", QUERY_REAL, "s", "up to when samples count" },
        { "gained", QUERY_REAL, "B", "over the window that decided" },
        { "sentence", QUERY_TEXT, "", "verdict and evidence in words" },
};

static void add_standing(struct query_scan *s, const struct world_target *t, const char *of, bool is_band,
                         const Hw__Trend *trend)
{
        struct query_rows *r = &s->rows;

        if (!trend || !trend->has_verdict || !is_key(s, of))
                return;
        begin_row(s, t->name, t->run);
        query_rows_add_text(r, of);
        query_rows_add_integer(r, is_band);
        add_enum(r, &hw__verdict__descriptor, true, (int)trend->verdict);
        query_rows_add_real(r, trend->has_slope ? trend->slope : NAN);
        query_rows_add_real(r, trend->has_slope_low ? trend->slope_low : NAN);
        query_rows_add_real(r, trend->has_slope_high ? trend->slope_high : NAN);
        add_optional_seconds(r, trend->has_onset_ns, trend->onset_ns);
        add_optional_seconds(r, trend->has_as_of_ns, trend->as_of_ns);
        query_rows_add_real(r, trend->has_gained_bytes ? trend->gained_bytes : NAN);
        query_rows_add_text(r, trend->sentence);
}

static void finish_standing(struct query_scan *s)
{
        FOR_EACH_TARGET(s, t)
        {
                for (unsigned series = 0; series < WORLD_SERIES; series++)
                        add_standing(s, t, hw_series_name((Hw__Series)series), false, t->trends[series]);
                for (uint32_t id = 1; id <= t->n_bands; id++)
                        if (world_band_of(t, id))
                                add_standing(s, t, find_band_name(s, t, id), true, world_band_of(t, id)->trend);
        }
}

/* -------------------------------------------------------------------- events */

static const struct query_column event_columns[] = {
        { "name", QUERY_TEXT, "", "as in the runtime system: GC_START" },
        { "time", QUERY_REAL, "s", "of the event" },
        { "id", QUERY_INTEGER, "", "of its type" },
        { "capability", QUERY_INTEGER, "", "NULL: none" },
        { "size", QUERY_INTEGER, "B", "of its payload" },
        { "place", QUERY_INTEGER, "B", "offset in the log" },
        { "fields", QUERY_TEXT, "", "its fields, a JSON object: json_extract(fields, '$.thread')" },
};

static void add_fields(struct query_rows *r, const struct event *e)
{
        char *text = NULL;
        size_t size = 0;
        FILE *to = open_memstream(&text, &size);

        if (to)
                event_print_fields(to, e);
        if (to && fclose(to) == 0)
                query_rows_add_text(r, text);
        else
                r->failed = true;
        free(text);
}

static void add_events(struct query_scan *s, const Hw__Update *u)
{
        struct event_cursor cursor = { .types = s->types, .message = u->events };
        struct query_rows *r = &s->rows;
        char number[16];
        struct event e;

        if (u->body_case != HW__UPDATE__BODY_EVENTS)
                return;
        event_types_define(s->types, u->events);
        while (event_cursor_next(&cursor, &e)) {
                const char *name = event_type_name(e.type, number);

                if (!is_in_time(s, e.time_ns) || !is_key(s, name))
                        continue;
                begin_row(s, u->target, u->run);
                query_rows_add_text(r, name);
                query_rows_add_seconds(r, e.time_ns);
                query_rows_add_integer(r, e.type->id);
                add_optional(r, e.capability != EVENT_CAP_NONE, e.capability);
                query_rows_add_integer(r, e.size_bytes);
                query_rows_add_integer(r, e.offset);
                add_fields(r, &e);
        }
}

/* ---------------------------------------------------------------- the tables */

#define COLUMNS(c) .columns = c, .n_columns = ARRAY_SIZE(c)

const struct query_table query_tables[] = {
        { "runs", "the newest run of each target: what runs, and how it ended", COLUMNS(run_columns), -1, 0, NULL,
          finish_runs, false },
        { "facts", "the newest value of every number that is known", COLUMNS(fact_columns), -1, 0, NULL, finish_facts,
          false },
        { "series", "numbers over time", COLUMNS(series_columns), 1, 0, add_series, NULL, .remembered = true },
        { "collections", "garbage collections, each", COLUMNS(collection_columns), 0, -1, add_collections, NULL,
          false },
        { "censuses", "heap censuses, each", COLUMNS(census_columns), 0, -1, add_censuses, NULL, false },
        { "bands", "what each band of each census holds", COLUMNS(band_columns), 1, 0, add_bands, NULL, false },
        { "band_names", "the bands of the heap profile", COLUMNS(band_name_columns), -1, 0, NULL, finish_band_names,
          false },
        { "notes", "markers and messages of the program, labels of its threads", COLUMNS(note_columns), 1, 0, add_notes,
          NULL, false },
        { "thread_states", "why threads stopped running, counted", COLUMNS(stop_columns), -1, 0, NULL,
          finish_thread_states, false },
        { "capabilities", "what each did", COLUMNS(capability_columns), -1, -1, NULL, finish_capabilities, false },
        { "stacks", "cost-centre stacks of a time profile", COLUMNS(stack_columns), -1, 0, NULL, finish_stacks, false },
        { "ticky", "ticky counters", COLUMNS(ticky_columns), -1, 0, NULL, finish_ticky, false },
        { "alerts", "of the built-in rules, and of --rules", COLUMNS(alert_columns), -1, 0, NULL, finish_alerts,
          false },
        { "standing", "the verdict on each series and band", COLUMNS(standing_columns), -1, 0, NULL, finish_standing,
          false },
        { "events", "every event of a finished log as decoded", COLUMNS(event_columns), 1, 0, add_events, NULL, true },
};
const unsigned n_query_tables = ARRAY_SIZE(query_tables);

const struct query_column *query_column_at(const struct query_table *t, unsigned place)
{
        static const struct query_column first[QUERY_FIRST_COLUMNS] = {
                { "source", QUERY_TEXT, "", "the source's name" },
                { "target", QUERY_TEXT, "", "the program's name" },
                { "run", QUERY_INTEGER, "", "of the target, from 1" },
        };

        return place < QUERY_FIRST_COLUMNS ? &first[place] : &t->columns[place - QUERY_FIRST_COLUMNS];
}
