/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/commands/query/tables.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/world/state/band_name.h"
#include "client/world/state/world.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/hash.h"
#include "proto/base/labels.h"
#include "proto/base/time.h"
#include "proto/wire/message.h"

/* ------------------------------------------------------------------- helpers */

void query_begin_row(struct query_scan *s, const char *target, uint32_t run)
{
        query_rows_add_text(&s->rows, s->source);
        query_rows_add_text(&s->rows, target);
        query_rows_add_integer(&s->rows, run);
}

bool query_is_in_bounds(const struct query_scan *s, double time)
{
        return !(time < s->bounds.time_from) && !(time > s->bounds.time_to);
}

bool query_is_in_time(const struct query_scan *s, uint64_t ns)
{
        return query_is_in_bounds(s, (double)ns / NS_PER_S); /* as query_rows_add_seconds: what equals the column is */
}

bool query_is_key(const struct query_scan *s, const char *name)
{
        return !s->bounds.key || (name && !strcmp(s->bounds.key, name));
}

/* A row of a message's fields, if its key is wanted. */
static void add_message(struct query_scan *s, const struct world_target *t, const char *key, const ProtobufCMessage *m,
                        const char *fields)
{
        if (!query_is_key(s, key))
                return;
        query_begin_row(s, t->name, t->run);
        query_rows_add_fields(&s->rows, m, fields);
}

static void forget_bands(struct query_scan *s)
{
        for (size_t i = 0; i < s->n_bands; i++)
                free(s->bands[i].name);
        s->n_bands = 0;
        idtable_done(&s->bands_by_name);
}

void query_scan_forget(struct query_scan *s)
{
        forget_bands(s);
        s->bands_run = 0;
        s->least_note = s->newest_census_ns = 0;
        query_threads_destroy(&s->threads);
}

void query_scan_done(struct query_scan *s)
{
        query_scan_forget(s);
        free(s->bands);
        json_decref(s->graph);
        if (s->types)
                event_types_done(s->types);
        free(s->types);
        query_rows_done(&s->rows);
}

/* Finds the first band of the name that the band has, and adds it to the table if it is the first. */
static bool find_first(struct query_scan *s, uint32_t id)
{
        struct query_band *band = &s->bands[id - 1];
        const uint64_t hash = hash_bytes(band->name, strlen(band->name), 0);
        uint32_t at = idtable_start(&s->bands_by_name, hash), other;

        while ((other = idtable_next(&s->bands_by_name, hash, &at)))
                if (!strcmp(s->bands[other - 1].name, band->name))
                        break;
        band->first = other ? other : id;
        return other || idtable_add(&s->bands_by_name, hash, id) == 0;
}

struct query_band *query_find_band(struct query_scan *s, const struct world_target *t, uint32_t id)
{
        const struct world_band *band = world_band_of(t, id);
        struct band_name name;

        if (s->bands_run != t->run || strcmp(s->bands_target, t->name) != 0) {
                forget_bands(s);
                s->bands_run = t->run;
                (void)snprintf(s->bands_target, sizeof(s->bands_target), "%s", t->name);
        }
        if (!band || !ARRAY_RESERVE_ZEROED(s->bands, s->bands_room, id))
                return NULL;
        while (s->n_bands < id)
                s->bands[s->n_bands++] = (struct query_band){ .name = NULL };
        if (!s->bands[id - 1].name) {
                band_name(&name, band->def);
                s->bands[id - 1].name = strdup(name.text);
                if (!s->bands[id - 1].name || !find_first(s, id))
                        return NULL;
        }
        return &s->bands[id - 1];
}

static const char *find_band_name(struct query_scan *s, const struct world_target *t, uint32_t id)
{
        const struct query_band *band = query_find_band(s, t, id);

        return band ? band->name : NULL;
}

/* ---------------------------------------------------------------------- runs */

static const struct query_column run_columns[] = {
        { "program", QUERY_TEXT, "", "base name of the program" },
        { "ghc", QUERY_TEXT, "", "version of GHC that made it" },
        { "pid", QUERY_INTEGER, "", "its process" },
        { "state", QUERY_TEXT, "", "running, ended, crashed, failed ..." },
        { "detail", QUERY_TEXT, "", "why this state, in words" },
        { "started", QUERY_TEXT, "", "UTC of event time 0" },
        { "elapsed", QUERY_REAL, "s",
          "up to which its log tells: an event, or the end of a block; NULL: no event has come" },
        { "breakdown", QUERY_TEXT, "", "of the heap profile" },
        { "max_heap", QUERY_INTEGER, "B", "-M" },
        { "exit_status", QUERY_INTEGER, "", "of the program, from its parent" },
        { "exit_signal", QUERY_INTEGER, "", "that ended it" },
        { "labels", QUERY_TEXT, "", "NAME=VALUE, with a space between" },
};

static void finish_runs(struct query_scan *s, const struct world_target *t)
{
        const Hw__Run none = HW__RUN__INIT, *run = t->target && t->target->run_info ? t->target->run_info : &none;
        const Hw__Target no = HW__TARGET__INIT, *state = t->target ? t->target : &no;
        struct query_rows *r = &s->rows;
        char started[64], labels[LABELS_SIZE];

        if (!query_is_key(s, run->program))
                return;
        query_begin_row(s, t->name, t->run);
        query_rows_add_fields(r, &run->base, "program ghc_version pid");
        query_rows_add_fields(r, &state->base, "state detail");
        query_rows_add_text(r,
                            run->has_start_wall_ns ? hw_time_text(started, sizeof(started), run->start_wall_ns) : NULL);
        query_rows_add_real(r, t->event_time_ns > 0 ? (double)t->event_time_ns / 1e9 : NAN);
        query_rows_add_fields(r, &run->base, "breakdown max_heap_bytes");
        query_rows_add_fields(r, &state->base, "exit_status exit_signal");
        query_rows_add_text(
                r, labels_join((const char *const *)state->labels, state->n_labels, labels, NULL) && labels[0] ? labels
                                                                                                               : NULL);
}

/* --------------------------------------------------------------------- facts */

static const struct query_column fact_columns[] = {
        { "fact", QUERY_TEXT, "", "its name in docs/METRICS.md, with its unit" },
        { "value", QUERY_REAL, "", "the newest value, in the unit of its name; a fact that is not known has no row" },
        { "unit", QUERY_TEXT, "", "B, ns, B/s, share, count, Unix time in ns" },
        { "help", QUERY_TEXT, "", "what it is" },
};

static void add_fact(struct query_scan *s, const char *target, uint32_t run, enum fact id, double value)
{
        static const char *const units[] = {
                [FACT_COUNT] = "count", [FACT_BYTES] = "B",  [FACT_NS] = "ns",
                [FACT_SHARE] = "share", [FACT_RATE] = "B/s", [FACT_WALL] = "Unix time in ns",
        };
        const struct fact_row *row = &fact_rows[id];

        if (isnan(value) || !query_is_key(s, row->name))
                return;
        query_begin_row(s, target, run);
        query_rows_add_text(&s->rows, row->name);
        query_rows_add_real(&s->rows, value);
        query_rows_add_text(&s->rows, units[row->unit]);
        query_rows_add_text(&s->rows, row->help);
}

void query_add_fact(struct query_scan *s, const char *target, uint32_t run, const char *name, double value)
{
        for (enum fact id = FACT_NONE + 1; id < FACTS; id++)
                if (!strcmp(fact_rows[id].name, name))
                        add_fact(s, target, run, id, value);
}

static void finish_facts(struct query_scan *s, const struct world_target *t)
{
        for (enum fact id = FACT_NONE + 1; id < FACTS; id++)
                add_fact(s, t->name, t->run, id, facts_get(t, id));
}

/* -------------------------------------------------------------------- series */

static const struct query_column series_columns[] = {
        { "series", QUERY_TEXT, "",
          "live, heap_size, blocks_size, rss, foreign, gc_pause ... (`heapwatch help pipe`)" },
        { "time", QUERY_REAL, "s", "of the sample; of a live target's past: the last one of its interval" },
        { "value", QUERY_REAL, QUERY_UNIT_OF_SERIES, "the sample, or the last one" },
        { "unit", QUERY_TEXT, "", "B, s, or empty for counts" },
        { "samples", QUERY_INTEGER, "", "in the interval; 1 of a log" },
        { "min", QUERY_REAL, QUERY_UNIT_OF_SERIES, "of them" },
        { "max", QUERY_REAL, QUERY_UNIT_OF_SERIES, "of them" },
        { "mean", QUERY_REAL, QUERY_UNIT_OF_SERIES, "of them" },
};

const char *query_series_unit(Hw__Series series)
{
        const char *unit = hw_series_unit(series);

        return strcmp(unit, "ns") != 0 ? unit : "s";
}

void query_add_series_row(struct query_scan *s, const char *target, uint32_t run, Hw__Series series, const Hw__Point *p)
{
        const char *unit = query_series_unit(series);
        const double scale = *unit == 's' ? 1e-9 : 1;
        struct query_rows *r = &s->rows;

        query_begin_row(s, target, run);
        query_rows_add_text(r, hw_series_name(series));
        query_rows_add_seconds(r, p->has_last_time_ns ? p->last_time_ns : p->time_ns);
        query_rows_add_real(r, p->last * scale);
        query_rows_add_text(r, unit);
        query_rows_add_integer(r, p->count);
        query_rows_add_real(r, p->min * scale);
        query_rows_add_real(r, p->max * scale);
        query_rows_add_real(r, p->mean * scale);
}

static void add_series(struct query_scan *s, const Hw__Update *u)
{
        for (size_t i = 0; u->body_case == HW__UPDATE__BODY_HEAP && i < u->heap->n_samples; i++) {
                const Hw__Samples *samples = u->heap->samples[i];

                if (!query_is_key(s, hw_series_name(samples->series)))
                        continue;
                for (size_t k = 0; k < samples->n_times_ns && k < samples->n_values; k++) {
                        const double value = (double)samples->values[k];
                        const Hw__Point p = { .time_ns = samples->times_ns[k],
                                              .count = 1,
                                              .min = value,
                                              .max = value,
                                              .mean = value,
                                              .last = value };

                        if (query_is_in_time(s, p.time_ns))
                                query_add_series_row(s, u->target, u->run, samples->series, &p);
                }
        }
}

/* --------------------------------------------------------------- collections */

static const struct query_column collection_columns[] = {
        { "time", QUERY_REAL, "s", "its end" },
        { "pause", QUERY_REAL, "s", "how long the program was stopped; NULL: its start was not seen" },
        { "caused_by", QUERY_TEXT, "", "program, or heapwatch: for a heap census" },
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

                if (!query_is_in_time(s, c->end_time_ns))
                        continue;
                query_begin_row(s, u->target, u->run);
                query_rows_add_fields(r, &c->base, "end_time_ns");
                query_rows_add_fields(r, &c->base, c->has_watch_pause_ns ? "watch_pause_ns" : "pause_ns");
                query_rows_add_text(r, c->has_watch_pause_ns ? "heapwatch" : "program");
                query_rows_add_fields(r, &c->base, "generation");
                query_rows_add_integer(r, c->has_major && c->major);
                query_rows_add_fields(r, &c->base,
                                      "copied_bytes slop_bytes fragmentation_bytes parallel_threads capability");
        }
}

/* -------------------------------------------------------------- heap profile */

static const struct query_column census_columns[] = {
        { "time", QUERY_REAL, "s", "of the census; of an interval that a daemon remembers: its end" },
        { "census", QUERY_INTEGER, "", "its number, from 1; NULL: of an interval" },
        { "bytes", QUERY_INTEGER, "B", "of all bands" },
        { "bands", QUERY_INTEGER, "", "with a row in it" },
        { "outside", QUERY_INTEGER, "", "1: read without a pause" },
        { "left_out", QUERY_INTEGER, "B", "in bands beyond the daemon's limit" },
};

static void add_censuses(struct query_scan *s, const Hw__Update *u)
{
        const Hw__Census *c = u->body_case == HW__UPDATE__BODY_CENSUS ? u->census : NULL;

        s->newest_census_ns = c ? c->time_ns : s->newest_census_ns;
        if (!c || !query_is_in_time(s, c->time_ns))
                return;
        query_begin_row(s, u->target, u->run);
        query_rows_add_seconds(&s->rows, c->time_ns);
        query_rows_add_integer(&s->rows, c->number);
        query_rows_add_integer(&s->rows, c->total_bytes);
        query_rows_add_integer(&s->rows, c->n_band);
        query_rows_add_integer(&s->rows, c->has_outside && c->outside);
        query_rows_add_integer(&s->rows, c->bytes_left_out);
}

static const struct query_column band_columns[] = {
        { "name", QUERY_TEXT, "", "of the band, the same in another run" },
        { "time", QUERY_REAL, "s", "of the census; of an interval that a daemon remembers: its end" },
        { "census", QUERY_INTEGER, "", "its number; NULL: of an interval" },
        { "band", QUERY_INTEGER, "", "id in this run, of the first band of that name: band_names has more of it" },
        { "bytes", QUERY_INTEGER, "B", "that it holds; of an interval: at its last census" },
        { "closures", QUERY_INTEGER, "", "how many; NULL: the census did not count them" },
        { "max", QUERY_INTEGER, "B", "the most of its interval, NULL: not known; of a single census: bytes" },
};

/* Bands are defined, some of them anew: a log is read on without rows of those whose name is not the key. */
static void choose_bands(struct query_scan *s, const Hw__Update *u)
{
        const struct world_target *t = world_find(s->world, u->target);
        struct band_name name;

        for (size_t i = 0; t && i < u->bands->n_bands; i++) {
                const uint32_t id = u->bands->bands[i]->id;
                const struct world_band *band = world_band_of(t, id);

                if (band && id <= s->n_bands && s->bands[id - 1].name) {
                        band_name(&name, band->def);
                        if (strcmp(name.text, s->bands[id - 1].name) != 0)
                                forget_bands(s);
                }
                if (s->bounds.key)
                        feed_want_band(s->feed, u->run, id, query_is_key(s, find_band_name(s, t, id)));
        }
}

/* Sums up what the bands of each name have in a census, with the first of them. */
static void sum_bands(struct query_scan *s, const struct world_target *t, const Hw__Census *c)
{
        for (size_t i = 0; i < c->n_band && i < c->n_bytes; i++) {
                const struct query_band *band = query_find_band(s, t, c->band[i]);
                struct query_band *first = band ? &s->bands[band->first - 1] : NULL;

                if (!first)
                        continue;
                if (first->census != c->number)
                        first->bytes = first->closures = 0;
                first->census = c->number;
                first->bytes += c->bytes[i];
                first->closures += i < c->n_closures ? c->closures[i] : 0;
        }
}

/* One row of a census: a band, or all of its name where it is the first of them in the census. */
static void add_band(struct query_scan *s, const Hw__Update *u, size_t i, const struct world_target *t)
{
        const Hw__Census *c = u->census;
        const struct query_band *band = query_find_band(s, t, c->band[i]);
        struct query_band *first = band ? &s->bands[band->first - 1] : NULL;
        struct query_rows *r = &s->rows;

        if (!query_is_key(s, band ? band->name : NULL) || (first && first->census != c->number))
                return;
        query_begin_row(s, u->target, u->run);
        query_rows_add_text(r, band ? band->name : NULL);
        query_rows_add_seconds(r, c->time_ns);
        query_rows_add_integer(r, c->number);
        query_rows_add_integer(r, band ? band->first : c->band[i]);
        query_rows_add_integer(r, first ? first->bytes : c->bytes[i]);
        query_rows_add_optional(r, i < c->n_closures, first ? first->closures : i < c->n_closures ? c->closures[i] : 0);
        query_rows_add_integer(r, first ? first->bytes : c->bytes[i]);
        if (first)
                first->census = 0; /* numbers of censuses begin with 1 */
}

static void add_bands(struct query_scan *s, const Hw__Update *u)
{
        const Hw__Census *c = u->body_case == HW__UPDATE__BODY_CENSUS ? u->census : NULL;
        const struct world_target *t = c && query_is_in_time(s, c->time_ns) ? world_find(s->world, u->target) : NULL;

        s->newest_census_ns = c ? c->time_ns : s->newest_census_ns;
        if (u->body_case == HW__UPDATE__BODY_BANDS)
                choose_bands(s, u);
        if (t)
                sum_bands(s, t, c);
        for (size_t i = 0; t && i < c->n_band && i < c->n_bytes; i++)
                add_band(s, u, i, t);
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

static void finish_band_names(struct query_scan *s, const struct world_target *t)
{
        struct query_rows *r = &s->rows;

        for (uint32_t id = 1; id <= t->n_bands; id++) {
                const struct world_band *b = world_band_of(t, id);
                const char *name = b ? find_band_name(s, t, id) : NULL;

                if (!b || !query_is_key(s, name))
                        continue;
                const Hw__InfoTable *info = b->def->info_table;
                const Hw__CostCentre *centre = b->def->n_stack ? b->def->stack[0] : NULL;
                query_begin_row(s, t->name, t->run);
                query_rows_add_text(r, name);
                query_rows_add_integer(r, id);
                query_rows_add_text(r, b->def->label);
                query_rows_add_text(r, info ? info->module : centre ? centre->module : NULL);
                query_rows_add_text(r, info ? info->label : centre ? centre->label : NULL);
                query_rows_add_text(r, info ? info->type : NULL);
                query_rows_add_text(r, info ? info->closure_type : NULL);
                query_rows_add_text(r, band_source(b->def));
                query_rows_add_fields(r, &b->def->base, "first_seen_ns");
                query_rows_add_integer(r, b->max_bytes);
                query_rows_add_text(r, b->contents ? b->contents->name : NULL);
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

                s->least_note = s->least_note && s->least_note < n->number ? s->least_note : n->number;
                if (!query_is_in_time(s, n->time_ns) || !query_is_key(s, n->text))
                        continue;
                query_begin_row(s, u->target, u->run);
                query_rows_add_fields(r, &n->base, "text time_ns what number capability thread size_bytes");
        }
}

/* A live target's daemon keeps the newest. */
static void finish_notes(struct query_scan *s, const struct world_target *t)
{
        if (feed_is_live(s->feed) && s->least_note > 1)
                (void)fprintf(stderr, "heapwatch: %s: the first %" PRIu64 " notes are missing; recording:%s has all\n",
                              t->name, s->least_note - 1, t->name);
}

/* ----------------------------------------------------------------- scheduler */

static const struct query_column stop_columns[] = {
        { "reason", QUERY_TEXT, "", "why Haskell threads stopped running" },
        { "stops", QUERY_INTEGER, "", "how often, since the run began" },
};

static void finish_thread_states(struct query_scan *s, const struct world_target *t)
{
        for (size_t i = 0; t->sched && i < t->sched->n_stops; i++)
                add_message(s, t, t->sched->stops[i]->reason, &t->sched->stops[i]->base, "reason count");
}

static const struct query_column capability_columns[] = {
        { "capability", QUERY_INTEGER, "", "its number" },
        { "running", QUERY_REAL, "s", "time with a Haskell thread" },
        { "collecting", QUERY_REAL, "s", "time in collections" },
        { "runs", QUERY_INTEGER, "", "times that a thread was run" },
};

static void finish_capabilities(struct query_scan *s, const struct world_target *t)
{
        for (size_t i = 0; t->sched && i < t->sched->n_capabilities; i++)
                add_message(s, t, NULL, &t->sched->capabilities[i]->base, "number run_ns gc_ns runs");
}

/* -------------------------------------------------------------- time profile */

static const struct query_column stack_columns[] = {
        { "centre", QUERY_TEXT, "", "the innermost cost centre" },
        { "stack", QUERY_INTEGER, "", "id in this run" },
        { "depth", QUERY_INTEGER, "", "cost centres in it" },
        { "path", QUERY_TEXT, "", "of cost centres, the outermost first, with ; between" },
        { "places", QUERY_TEXT, "", "of each in the program's source, likewise: what tells stacks of one path apart" },
        { "ticks", QUERY_INTEGER, "", "of the profile's timer, or samples, since the run began" },
        { "thread", QUERY_INTEGER, "", "of samples; NULL: of ticks, or of a thread beyond the first 64" },
};

static const char *place_of(const Hw__CostCentre *centre)
{
        return centre->source && centre->source[0] ? centre->source : NULL;
}

/* Of the names of cost centres, or of their places. */
static void add_path(struct query_rows *r, const Hw__Stack *stack, bool of_places)
{
        struct band_name name;
        char *path = NULL;
        size_t size = 0;
        FILE *to = open_memstream(&path, &size);

        if (to && stack->n_centres == 0) {
                centre_name(&name, NULL);
                (void)fputs(name.text, to);
        }
        for (size_t i = stack->n_centres; to && i-- > 0;) {
                const char *place = place_of(stack->centres[i]);

                centre_name(&name, stack->centres[i]);
                (void)fprintf(to, "%s%s", !of_places ? name.text : place ? place : "", i ? ";" : "");
        }
        if (to && fclose(to) == 0)
                query_rows_add_text(r, path);
        else
                r->failed = true;
        free(path);
}

/* One of several stacks that differ only in how deep they recurse: neighbours of one name are one frame. */
struct alike {
        const Hw__Stack *stack; /* the first */
        uint64_t ticks;         /* of all */
};

static uint64_t hash_stack(const Hw__Stack *stack)
{
        uint64_t hash = hash_u64(stack->has_thread ? stack->thread : UINT64_MAX, stack->n_centres);

        for (size_t i = 0; i < stack->n_centres; i++)
                hash = hash_u64(stack->centres[i]->id, hash);
        return hash;
}

static bool are_alike(const Hw__Stack *a, const Hw__Stack *b)
{
        bool yes = a->n_centres == b->n_centres && a->has_thread == b->has_thread && a->thread == b->thread;

        for (size_t i = 0; yes && i < a->n_centres; i++)
                yes = a->centres[i]->id == b->centres[i]->id;
        return yes;
}

/* Returns how many; `ret` has room for all. SIZE_MAX: out of memory. */
static size_t merge_stacks(const struct world_target *t, struct alike *ret)
{
        struct idtable by_stack = { 0 };
        size_t n = 0;

        for (uint32_t i = 0; i < t->n_stacks && n != SIZE_MAX; i++) {
                const Hw__Stack *stack = t->stacks[i];
                const uint64_t hash = stack ? hash_stack(stack) : 0;
                uint32_t at = idtable_start(&by_stack, hash), id = 0;

                while (stack && (id = idtable_next(&by_stack, hash, &at)) && !are_alike(ret[id - 1].stack, stack))
                        ;
                if (id)
                        ret[id - 1].ticks += stack->ticks;
                else if (stack) {
                        ret[n++] = (struct alike){ stack, stack->ticks };
                        n = idtable_add(&by_stack, hash, (uint32_t)n) == 0 ? n : SIZE_MAX;
                }
        }
        idtable_done(&by_stack);
        return n;
}

static void finish_stacks(struct query_scan *s, const struct world_target *t)
{
        struct alike *stacks = calloc(t->n_stacks + 1, sizeof(*stacks));
        const size_t n = stacks ? merge_stacks(t, stacks) : SIZE_MAX;

        s->rows.failed = s->rows.failed || n == SIZE_MAX;
        for (size_t i = 0; n != SIZE_MAX && i < n; i++) {
                const Hw__Stack *stack = stacks[i].stack;
                struct band_name name;

                centre_name(&name, stack->n_centres ? stack->centres[0] : NULL);
                if (!query_is_key(s, name.text))
                        continue;
                query_begin_row(s, t->name, t->run);
                query_rows_add_text(&s->rows, name.text);
                query_rows_add_integer(&s->rows, stack->id);
                query_rows_add_integer(&s->rows, stack->n_centres);
                add_path(&s->rows, stack, false);
                if (stack->n_centres > 0)
                        add_path(&s->rows, stack, true);
                else
                        query_rows_add_null(&s->rows);
                query_rows_add_integer(&s->rows, stacks[i].ticks);
                query_rows_add_optional(&s->rows, stack->has_thread, stack->thread);
        }
        free(stacks);
}

static const struct query_column centre_columns[] = {
        { "centre", QUERY_TEXT, "", "its name: module and label; MAIN: in none" },
        { "id", QUERY_INTEGER, "", "in this run; NULL: of MAIN" },
        { "module", QUERY_TEXT, "", "of its code" },
        { "label", QUERY_TEXT, "", "as the log has it; NULL: the log does not define it" },
        { "place", QUERY_TEXT, "", "file and lines in the program's source" },
        { "caf", QUERY_INTEGER, "", "1: of a constant" },
        { "ticks", QUERY_INTEGER, "", "of a time profile, in its own code" },
        { "ticks_inherited", QUERY_INTEGER, "", "and in what it called" },
        { "bytes", QUERY_INTEGER, "B", "that its own code holds in the newest census" },
        { "bytes_inherited", QUERY_INTEGER, "B", "and what it called" },
};

struct centre {
        const Hw__CostCentre *def;
        uint64_t ticks, ticks_inherited, bytes, bytes_inherited;
};

struct centres {
        struct centre *items;
        size_t n, room;
        struct idtable by_id;
        bool failed;
};

static struct centre *find_centre(struct centres *c, const Hw__CostCentre *def)
{
        const uint64_t hash = hash_u64(def->id, 0);
        uint32_t at = idtable_start(&c->by_id, hash), i;

        while ((i = idtable_next(&c->by_id, hash, &at)))
                if (c->items[i - 1].def->id == def->id)
                        return &c->items[i - 1];
        if (!ARRAY_RESERVE(c->items, c->room, c->n + 1) || idtable_add(&c->by_id, hash, (uint32_t)c->n + 1) < 0) {
                c->failed = true;
                return NULL;
        }
        c->items[c->n] = (struct centre){ .def = def };
        return &c->items[c->n++];
}

/* What is in no cost centre, as the runtime calls it: an empty stack. It called everything. No other has its id. */
static const Hw__CostCentre main_centre = { .id = UINT32_MAX, .label = (char *)"MAIN", .module = (char *)"MAIN" };

/* A stack, innermost first, with what belongs to it: once to each centre of it, whatever calls itself. */
static void add_stack(struct centres *c, Hw__CostCentre *const *stack, size_t n, uint64_t ticks, uint64_t bytes)
{
        struct centre *none = n == 0 ? find_centre(c, &main_centre) : NULL;

        if (none) {
                none->ticks += ticks;
                none->bytes += bytes;
        }
        for (size_t i = 0; i < n; i++) {
                struct centre *centre = find_centre(c, stack[i]);
                bool is_again = false;

                for (size_t k = 0; k < i; k++)
                        is_again = is_again || stack[k]->id == stack[i]->id;
                if (!centre || is_again)
                        continue;
                centre->ticks_inherited += ticks;
                centre->bytes_inherited += bytes;
                centre->ticks += i == 0 ? ticks : 0;
                centre->bytes += i == 0 ? bytes : 0;
        }
}

static void add_centre(struct query_scan *s, const struct world_target *t, const struct centre *c)
{
        struct query_rows *r = &s->rows;
        const bool is_main = c->def == &main_centre;
        struct band_name name;

        centre_name(&name, is_main ? NULL : c->def);
        if (!query_is_key(s, name.text))
                return;
        query_begin_row(s, t->name, t->run);
        query_rows_add_text(r, name.text);
        query_rows_add_optional(r, !is_main, c->def->id);
        query_rows_add_text(r, c->def->module);
        query_rows_add_text(r, c->def->label);
        query_rows_add_text(r, place_of(c->def));
        query_rows_add_integer(r, c->def->has_caf && c->def->caf);
        query_rows_add_optional(r, t->n_stacks > 0, c->ticks);
        query_rows_add_optional(r, t->n_stacks > 0 && !is_main, c->ticks_inherited);
        query_rows_add_optional(r, t->n_bands > 0, c->bytes);
        query_rows_add_optional(r, t->n_bands > 0 && !is_main, c->bytes_inherited);
}

static void finish_centres(struct query_scan *s, const struct world_target *t)
{
        const Hw__Run *run = t->target ? t->target->run_info : NULL;
        const bool of_stacks = run && run->breakdown == HW__BREAKDOWN__BREAKDOWN_COST_CENTRE_STACK;
        struct centres c = { .n = 0 };

        for (uint32_t i = 0; i < t->n_stacks; i++)
                if (t->stacks[i])
                        add_stack(&c, t->stacks[i]->centres, t->stacks[i]->n_centres, t->stacks[i]->ticks, 0);
        for (uint32_t id = 1; id <= t->n_bands; id++) {
                const struct world_band *b = world_band_of(t, id);

                if (b && of_stacks)
                        add_stack(&c, b->def->stack, b->def->n_stack, 0, b->bytes);
        }
        for (size_t i = 0; i < c.n; i++)
                add_centre(s, t, &c.items[i]);
        s->rows.failed = s->rows.failed || c.failed;
        free(c.items);
        idtable_done(&c.by_id);
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

static void finish_ticky(struct query_scan *s, const struct world_target *t)
{
        for (uint32_t i = 0; i < t->n_ticky; i++)
                add_message(s, t, t->ticky[i]->name, &t->ticky[i]->base,
                            "name id arity argument_kinds entries allocs allocd");
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

static void finish_alerts(struct query_scan *s, const struct world_target *t)
{
        for (size_t i = 0; t->alerts && i < t->alerts->n_alerts; i++)
                add_message(s, t, t->alerts->alerts[i]->rule, &t->alerts->alerts[i]->base,
                            "rule severity state band_label value since_ns fired_ns resolved_ns sentence");
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
        { "word", QUERY_TEXT, "", "as all faces show it: the verdict, or rising before there is one" },
};

static void add_standing(struct query_scan *s, const struct world_target *t, const char *of, bool is_band,
                         const Hw__Trend *trend)
{
        struct query_rows *r = &s->rows;

        if (!trend || !trend->has_verdict || !query_is_key(s, of))
                return;
        query_begin_row(s, t->name, t->run);
        query_rows_add_text(r, of);
        query_rows_add_integer(r, is_band);
        query_rows_add_fields(r, &trend->base,
                              "verdict slope slope_low slope_high onset_ns as_of_ns gained_bytes sentence");
        query_rows_add_fields(r, &trend->base, trend->has_word ? "word" : "verdict");
}

static void finish_standing(struct query_scan *s, const struct world_target *t)
{
        for (unsigned series = 0; series < SERIES_COUNT; series++)
                add_standing(s, t, hw_series_name((Hw__Series)series), false, t->trends[series]);
        for (uint32_t id = 1; id <= t->n_bands; id++)
                if (world_band_of(t, id))
                        add_standing(s, t, find_band_name(s, t, id), true, world_band_of(t, id)->trend);
}

/* ---------------------------------------------------------------- the tables */

#define COLUMNS(c) .columns = c, .n_columns = ARRAY_SIZE(c)

#define NONE      (-1) /* no such column */
#define OF(a)     (1u << HW__KIND__KIND_TARGET | 1u << HW__KIND__KIND_##a)
#define OF2(a, b) (OF(a) | OF(b))

const struct query_table query_tables[] = {
        { "runs", "the newest run of each target, all of an archive: what runs, and how it ended", COLUMNS(run_columns),
          NONE, 0, .finish = finish_runs, .kinds = OF(HEAP) },
        { "facts", "the newest value of every number that is known", COLUMNS(fact_columns), NONE, 0,
          .finish = finish_facts },
        { "series", "numbers over time", COLUMNS(series_columns), 1, 0, add_series,
          .remembers = QUERY_REMEMBERED_SERIES, .kinds = OF(HEAP) },
        { "collections", "garbage collections, each, of a finished log or a recording", COLUMNS(collection_columns), 0,
          NONE, add_collections, .kinds = OF(GC), .of_logs = true },
        { "censuses", "heap censuses, each", COLUMNS(census_columns), 0, NONE, add_censuses,
          .remembers = QUERY_REMEMBERED_CENSUSES, .kinds = OF(CENSUS), .of_profile = true },
        { "bands", "what each band of each census holds", COLUMNS(band_columns), 1, 0, add_bands,
          .remembers = QUERY_REMEMBERED_BANDS, .kinds = OF2(BAND, CENSUS), .of_profile = true },
        { "band_names", "the bands of the heap profile", COLUMNS(band_name_columns), NONE, 0,
          .finish = finish_band_names, .kinds = OF2(BAND, CENSUS), .of_profile = true },
        { "notes", "markers and messages of the program, labels of its threads", COLUMNS(note_columns), 1, 0, add_notes,
          finish_notes, .kinds = OF(NOTE) },
        { "thread_states", "why threads stopped running, counted", COLUMNS(stop_columns), NONE, 0,
          .finish = finish_thread_states, .kinds = OF(SCHED) },
        { "capabilities", "what each did", COLUMNS(capability_columns), NONE, NONE, .finish = finish_capabilities,
          .kinds = OF(SCHED) },
        { "cost_centres", "cost centres that a profile of the heap or of time has", COLUMNS(centre_columns), NONE, 0,
          .finish = finish_centres, .kinds = OF2(PROFILE, BAND) | OF(CENSUS) },
        { "stacks", "cost-centre stacks of a time profile, or stacks sampled by ghc-stack-profiler",
          COLUMNS(stack_columns), NONE, 0, .finish = finish_stacks, .kinds = OF(PROFILE) },
        { "ticky", "ticky counters", COLUMNS(ticky_columns), NONE, 0, .finish = finish_ticky, .kinds = OF(TICKY) },
        { "alerts", "of the built-in rules, and of --rules", COLUMNS(alert_columns), NONE, 0, .finish = finish_alerts },
        { "standing", "the verdict on each series and band", COLUMNS(standing_columns), NONE, 0,
          .finish = finish_standing },
        { "events", "every event of a finished log as decoded", query_event_columns, QUERY_EVENT_COLUMNS, 1, 0,
          query_add_events, .event_ids = query_event_ids, .of_logs = true },
        { "threads", "Haskell threads of a finished log, by its events", query_thread_columns, QUERY_THREAD_COLUMNS,
          NONE, NONE, query_add_threads, .event_ids = query_thread_ids, .of_logs = true },
        { "heap", "types of a heap graph, FILE.heapgraph", COLUMNS(query_heap_columns), NONE, 0,
          .add_graph = query_add_heap },
        { "retainers", "of a heap graph: what holds a type, root by root", COLUMNS(query_retainer_columns), NONE, 0,
          .add_graph = query_add_retainers, .needs_key = true },
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
