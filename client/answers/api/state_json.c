/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * state_json.c - a world as updates.
 *
 * DESIGN: each kept message is put back into an Update and printed by
 * reflection, so a new field of the schema needs no code here. Lists are arrays
 * of borrowed pointers.
 */
#include "client/answers/api/state_json.h"

#include <stdlib.h>

#include "proto/base/ckd.h"
#include "proto/base/clock.h"
#include "proto/wire/message.h"
#include "proto/wire/program_command.h"

/* -------------------------------------------------------------------- rows */

/* Prints an update with this message as its body. */
#define PRINT_BODY(j, t, CASE, field, message)                                                                         \
        do {                                                                                                           \
                Hw__Update body_update = row_frame(t);                                                                 \
                                                                                                                       \
                body_update.body_case = HW__UPDATE__BODY_##CASE;                                                       \
                body_update.field = (void *)(message);                                                                 \
                state_print_update((j), (t)->daemon, &body_update);                                                    \
        } while (0)

/* An update of this target without a body. */
static Hw__Update row_frame(const struct world_target *t)
{
        Hw__Update u = HW__UPDATE__INIT;

        u.target = (char *)t->name;
        u.has_run = t->run > 0;
        u.run = t->run;
        u.has_event_time_ns = t->event_time_ns > 0;
        u.event_time_ns = t->event_time_ns;
        u.has_published_wall_ns = t->published_wall_ns > 0;
        u.published_wall_ns = t->published_wall_ns;
        return u;
}

/* Its state, without the sequences of its topics, which concern subscribers alone. */
static void row_print_target(struct json_out *j, const struct world_target *t, const Hw__Run *run)
{
        Hw__Target target = *t->target;

        target.n_heads = 0;
        target.run_info = (Hw__Run *)run;
        PRINT_BODY(j, t, TARGET_STATE, target_state, &target);
}

/* Its alerts, if any are judged. */
static void row_print_alerts(struct json_out *j, const struct world_target *t)
{
        if (t->alerts)
                PRINT_BODY(j, t, ALERTS, alerts, t->alerts);
}

/* A few fields: what a table shows of one target among a thousand. Its numbers and its verdict are in the answers. */
static void row_print_state(struct json_out *j, const struct world_target *t)
{
        const Hw__Run *from = t->target->run_info;
        Hw__Run run = HW__RUN__INIT;

        if (from) {
                run.program = from->program;
                run.has_start_wall_ns = from->has_start_wall_ns;
                run.start_wall_ns = from->start_wall_ns;
        }
        row_print_target(j, t, from ? &run : NULL);
}

static void row_print(struct json_out *j, const struct world_target *t)
{
        if (t->target)
                row_print_state(j, t);
        row_print_alerts(j, t);
}

/* -------------------------------------------------------------- state json */

#define SPARK_SAMPLES 240 /* newest samples of a series in its heap message */

/* ---------------------------------------------------------------- printing */

struct printer {
        struct json_out *to;
        const struct state_source *source;
        const struct detail *detail;
};

void state_print_update(struct json_out *j, size_t daemon, const Hw__Update *u)
{
        json_line(j);
        json_open(j, '{');
        json_member_u64(j, "daemon", daemon);
        json_key(j, "update");
        json_message(j, &u->base, false);
        json_close(j, '}');
}

static bool is_kind_wanted(const struct printer *p, const struct world_target *t, Hw__Kind kind)
{
        return detail_wants(p->detail, p->source->world, t->daemon, t->name, kind);
}

static void print_bands(struct printer *p, const struct world_target *t)
{
        Hw__Bands bands = HW__BANDS__INIT;

        bands.bands = t->n_bands ? calloc(t->n_bands, sizeof(*bands.bands)) : NULL;
        for (uint32_t i = 0; bands.bands && i < t->n_bands; i++) {
                if (t->bands[i])
                        bands.bands[bands.n_bands++] = (Hw__Band *)t->bands[i]->def;
        }
        if (bands.n_bands)
                PRINT_BODY(p->to, t, BANDS, bands, &bands);
        free(bands.bands);
}

/* The newest samples of one series that are kept singly, oldest first. False: there are none, or out of memory. */
static bool newest_samples(const struct past *past, Hw__Series series, Hw__Samples *s)
{
        size_t n = 0;

        while (n < past->n && n < SPARK_SAMPLES && past->points[past->n - n - 1].cell.n == 1)
                n++;
        hw__samples__init(s);
        if (!n)
                return false;
        s->has_series = 1;
        s->series = series;
        s->times_ns = calloc(n, sizeof(*s->times_ns));
        s->values = calloc(n, sizeof(*s->values));
        for (size_t i = 0; s->times_ns && s->values && i < n; i++) {
                const struct point *point = &past->points[past->n - n + i];

                s->times_ns[i] = point->time_ns;
                s->values[i] = u64_sat(point->cell.last);
                s->n_times_ns = s->n_values = i + 1;
        }
        return s->n_values > 0;
}

static void print_heap(struct printer *p, const struct world_target *t)
{
        Hw__Samples samples[SERIES_COUNT], *list[SERIES_COUNT];
        Hw__Heap heap = *t->heap;

        heap.samples = list;
        for (int i = 1; i < SERIES_COUNT; i++) {
                if (newest_samples(history_series(t->history, (Hw__Series)i), (Hw__Series)i, &samples[i]))
                        list[heap.n_samples++] = &samples[i];
        }
        PRINT_BODY(p->to, t, HEAP, heap, &heap);
        for (int i = 1; i < SERIES_COUNT; i++) {
                free(samples[i].times_ns);
                free(samples[i].values);
        }
}

/* The trends of series and, if wanted, those of bands, together with the rest of the newest message. */
static void print_trends(struct printer *p, const struct world_target *t)
{
        Hw__Trends trends = HW__TRENDS__INIT;

        if (t->trend_state)
                trends = *t->trend_state;
        trends.n_trends = 0;
        trends.trends = calloc((size_t)SERIES_COUNT + t->n_bands, sizeof(*trends.trends));
        for (size_t i = 0; trends.trends && i < SERIES_COUNT; i++) {
                if (t->trends[i])
                        trends.trends[trends.n_trends++] = (Hw__Trend *)t->trends[i];
        }
        for (uint32_t i = 0; trends.trends && is_kind_wanted(p, t, HW__KIND__KIND_TREND) && i < t->n_bands; i++) {
                if (t->bands[i] && t->bands[i]->trend)
                        trends.trends[trends.n_trends++] = (Hw__Trend *)t->bands[i]->trend;
        }
        if (trends.n_trends || t->trend_state)
                PRINT_BODY(p->to, t, TRENDS, trends, &trends);
        free(trends.trends);
}

static Hw__Note message_of_note(const struct world_note *from)
{
        Hw__Note to = HW__NOTE__INIT;

        to.has_number = true;
        to.number = from->number;
        to.what = from->what;
        to.has_what = from->has_what;
        to.text = from->has_text ? (char *)from->text : NULL;
        to.has_time_ns = from->has_time_ns;
        to.time_ns = from->time_ns;
        to.has_capability = from->has_capability;
        to.capability = from->capability;
        to.has_thread = from->has_thread;
        to.thread = from->thread;
        to.has_size_bytes = from->has_size_bytes;
        to.size_bytes = from->size_bytes;
        return to;
}

static void print_notes(struct printer *p, const struct world_target *t)
{
        const struct state_source *source = p->source;
        Hw__Notes notes = HW__NOTES__INIT;
        Hw__Note *list[WORLD_NOTES], *made;

        if (source->put_notes) {
                source->put_notes(source->ctx, p->to, t);
                return;
        }
        notes.notes = list;
        made = t->notes_last ? calloc(WORLD_NOTES, sizeof(*made)) : NULL;
        for (uint64_t i = t->notes_first; made && i <= t->notes_last; i++) {
                const struct world_note *note = world_note(t, i);

                if (!note || notes.n_notes == WORLD_NOTES)
                        continue;
                made[notes.n_notes] = message_of_note(note);
                list[notes.n_notes] = &made[notes.n_notes];
                notes.n_notes++;
        }
        if (notes.n_notes)
                PRINT_BODY(p->to, t, NOTES, notes, &notes);
        free(made);
}

static void print_gc(struct printer *p, const struct world_target *t)
{
        const struct collections *all = t->history ? &t->history->collections : NULL;
        Hw__Gc gc = *t->gc;

        if (all && all->n) {
                gc.collections = calloc(all->n, sizeof(*gc.collections));
                for (size_t i = 0; gc.collections && i < all->n; i++)
                        gc.collections[gc.n_collections++] = &all->list[i];
                gc.has_collections_dropped = all->left_out > 0;
                gc.collections_dropped = all->left_out;
        }
        PRINT_BODY(p->to, t, GC, gc, &gc);
        if (gc.n_collections)
                free(gc.collections);
}

static void print_profile(struct printer *p, const struct world_target *t)
{
        Hw__Profile profile = HW__PROFILE__INIT;

        profile.has_ticks = t->ticks > 0;
        profile.ticks = t->ticks;
        profile.has_sampled = profile.sampled = t->is_sampled;
        profile.stacks = t->n_stacks ? calloc(t->n_stacks, sizeof(*profile.stacks)) : NULL;
        for (uint32_t i = 0; profile.stacks && i < t->n_stacks; i++) {
                if (t->stacks[i])
                        profile.stacks[profile.n_stacks++] = (Hw__Stack *)t->stacks[i];
        }
        if (profile.n_stacks)
                PRINT_BODY(p->to, t, PROFILE, profile, &profile);
        free(profile.stacks);
}

static void print_ticky(struct printer *p, const struct world_target *t)
{
        Hw__Ticky ticky = HW__TICKY__INIT;

        ticky.counters = (Hw__TickyCounter **)t->ticky;
        ticky.n_counters = t->n_ticky;
        if (t->n_ticky)
                PRINT_BODY(p->to, t, TICKY, ticky, &ticky);
}

static void print_whole(struct printer *p, const struct world_target *t)
{
        if (t->target)
                row_print_target(p->to, t, t->target->run_info);
        if (t->health)
                PRINT_BODY(p->to, t, HEALTH, health, t->health);
        print_bands(p, t);
        if (t->census)
                PRINT_BODY(p->to, t, CENSUS, census, t->census);
        if (t->heap)
                print_heap(p, t);
        if (t->gc)
                print_gc(p, t);
        if (t->sched)
                PRINT_BODY(p->to, t, SCHED, sched, t->sched);
        print_trends(p, t);
        row_print_alerts(p->to, t);
        print_notes(p, t);
        print_profile(p, t);
        print_ticky(p, t);
}

static void print_target(struct printer *p, const struct world_target *t)
{
        if (is_kind_wanted(p, t, HW__KIND__KIND_HEAP))
                print_whole(p, t);
        else
                row_print(p->to, t);
}

static void print_updates(struct printer *p)
{
        const struct world *world = p->source->world;

        for (size_t i = 0; i < p->source->n_daemons; i++) {
                const struct world_daemon *d = world_daemon(world, i);
                Hw__Update u = HW__UPDATE__INIT;

                if (!d || !d->state)
                        continue;
                u.has_published_wall_ns = d->heard_wall_ns > 0;
                u.published_wall_ns = d->heard_wall_ns;
                u.body_case = HW__UPDATE__BODY_DAEMON;
                u.daemon = (Hw__DaemonState *)d->state;
                state_print_update(p->to, i, &u);
        }
        for (size_t i = 0; i < world_targets(world); i++)
                print_target(p, world_target(world, i));
}

static void print_answers(struct printer *p)
{
        const struct world *w = p->source->world;

        for (size_t i = 0; i < world_targets(w); i++)
                answers_print(p->to, world_target(w, i), p->source->live || p->source->watched,
                              is_kind_wanted(p, world_target(w, i), HW__KIND__KIND_BAND));
}

/* ------------------------------------------------------------------- state */

void state_print_daemon(struct json_out *j, const struct state_source *s, size_t daemon)
{
        const struct world_daemon *d = world_daemon(s->world, daemon);

        json_open(j, '{');
        json_member_u64(j, "daemon", daemon);
        json_member_text(j, "endpoint", feed_endpoint(s->feed, daemon));
        json_member_bool(j, "stale", s->live && (!d || d->stale || !d->heard_wall_ns));
        if (d && d->heard_wall_ns)
                json_member_u64_string(j, "heardWallNs", d->heard_wall_ns);
        json_close(j, '}');
}

static void print_given(struct json_out *j, const char *key, const char *const *given)
{
        if (!given)
                return;
        json_member_open(j, key, '[');
        for (; *given; given++)
                json_text(j, *given);
        json_close(j, ']');
}

static void print_server(struct json_out *j, const struct state_source *s)
{
        json_member_open(j, "server", '{');
        json_member_text(j, "version", HEAPWATCH_VERSION);
        json_member_bool(j, "live", s->live);
        json_member_bool(j, "control", s->control);
        json_member_open(j, "commands", '[');
        for (size_t i = 0; s->control && i < n_program_commands; i++)
                json_text(j, program_commands[i].text);
        json_close(j, ']');
        json_member_u64_string(j, "nowWallNs", clock_wall_ns());
        print_given(j, "files", s->files);
        print_given(j, "targets", s->targets);
        json_close(j, '}');
}

/* What each number is. */
static void print_numbers(struct json_out *j)
{
        json_member_open(j, "numbers", '{');
        for (enum fact id = FACT_NONE + 1; id < FACTS; id++)
                json_member_text(j, fact_rows[id].name, fact_rows[id].help);
        json_close(j, '}');
}

void state_print(struct json_out *j, const struct state_source *s, const struct detail *detail)
{
        struct printer p = { .to = j, .source = s, .detail = detail };

        json_open(j, '{');
        print_server(j, s);
        json_line(j);
        print_numbers(j);
        json_line(j);
        json_member_open(j, "daemons", '[');
        for (size_t i = 0; i < s->n_daemons; i++)
                state_print_daemon(j, s, i);
        json_close(j, ']');
        json_line(j);
        json_member_open(j, "updates", '[');
        print_updates(&p);
        json_close(j, ']');
        json_line(j);
        json_member_open(j, "answers", '[');
        print_answers(&p);
        json_close(j, ']');
        json_close(j, '}');
        json_newline(j);
}

static void print_short(struct json_out *j, const struct world_target *t)
{
        const Hw__Run *run = t->target ? t->target->run_info : NULL;
        const char *state = NULL;

        if (t->target && t->target->has_state)
                state = hw_enum_word(&hw__target__state__descriptor, (int)t->target->state);
        json_line(j);
        json_open(j, '{');
        json_member_u64(j, "daemon", t->daemon);
        json_member_text(j, "target", t->name);
        json_known_text(j, "state", state);
        if (t->run)
                json_member_u64(j, "run", t->run);
        if (run && run->program)
                json_member_text(j, "program", run->program);
        if (t->heap && t->heap->has_live_bytes)
                json_member_u64_string(j, "liveBytes", t->heap->live_bytes);
        json_close(j, '}');
}

void state_print_targets(struct json_out *j, const struct state_source *s)
{
        json_open(j, '[');
        for (size_t i = 0; i < world_targets(s->world); i++)
                print_short(j, world_target(s->world, i));
        json_close(j, ']');
        json_newline(j);
}
