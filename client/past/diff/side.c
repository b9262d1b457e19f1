/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * side.c - DESIGN: messages of a run go into a meter; when the next run begins, its numbers are kept and the meter is
 * discarded. If the part depends on the run's length or notes, the log is first read for its extent.
 */
#include "client/past/diff/side.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/progress.h"
#include "client/world/feed/gather.h"
#include "proto/base/array.h"
#include "proto/base/error.h"
#include "proto/base/text_out.h"

#define RUNS_MAX 1024u /* of one log */

static const struct part whole;

struct side_reader {
        const struct part *part;
        struct side *side;
        const char *log;
        struct extent *extents; /* of the first reading, by run - 1 */
        uint32_t n_extents;
        bool first;   /* this is the first reading */
        uint32_t run; /* being read; 0: none yet */
        struct run_meter meter;
        struct progress progress;
};

/* ---------------------------------------------------------- the first reading */

static void find_notes(const struct part *s, struct extent *e, const Hw__Notes *notes)
{
        for (size_t i = 0; i < notes->n_notes; i++) {
                const Hw__Note *n = notes->notes[i];
                if (!n->text)
                        continue;
                if (s->from.kind == EDGE_NOTE && !e->has_from && strstr(n->text, s->from.note)) {
                        e->has_from = true;
                        e->from_ns = n->time_ns;
                } else if (s->to.kind == EDGE_NOTE && !e->has_to && (s->from.kind != EDGE_NOTE || e->has_from) &&
                           strstr(n->text, s->to.note)) {
                        e->has_to = true;
                        e->to_ns = n->time_ns;
                }
        }
}

static int extend_range(struct side_reader *r, const Hw__Update *u)
{
        if (u->run > r->n_extents) {
                struct extent *grown = realloc(r->extents, u->run * sizeof(*grown));
                if (!grown)
                        return -ENOMEM;
                for (uint32_t i = r->n_extents; i < u->run; i++)
                        grown[i] = (struct extent){ .first_ns = UINT64_MAX };
                r->extents = grown;
                r->n_extents = u->run;
        }
        struct extent *e = &r->extents[u->run - 1];
        if (u->has_event_time_ns) {
                e->first_ns = u->event_time_ns < e->first_ns ? u->event_time_ns : e->first_ns;
                e->last_ns = u->event_time_ns > e->last_ns ? u->event_time_ns : e->last_ns;
        }
        if (u->body_case == HW__UPDATE__BODY_TARGET_STATE && u->target_state->run_info &&
            u->target_state->run_info->has_first_time_ns)
                e->first_ns = u->target_state->run_info->first_time_ns;
        if (u->body_case == HW__UPDATE__BODY_NOTES)
                find_notes(r->part, e, u->notes);
        return 0;
}

/* ------------------------------------------------------------ what is kept of a run */

static void run_done(struct side_run *run)
{
        free(run->log);
        free(run->values);
        free(run->noise);
        free(run->program);
        free(run->ghc);
        free(run->growth);
        rows_done(&run->rows);
}

struct side_run *side_add(struct side *s, const char *log, uint32_t number, struct run_meter *m)
{
        struct side_run run = { .log = strdup(log), .number = number, .left_out = m->left_out };
        const bool room = ARRAY_RESERVE_NEXT(s->runs, s->n);

        run.values = calloc(n_quantities, sizeof(*run.values));
        run.noise = calloc(n_quantities, sizeof(*run.noise));
        if (!room || !run.log || !run.values || !run.noise) {
                run_done(&run);
                return NULL;
        }
        for (size_t i = 0; i < n_quantities; i++)
                run.values[i] = quantities[i].of(m, &quantities[i], &run.noise[i]);
        run.rows = m->rows;
        m->rows = (struct rows){ .n = 0 };
        s->runs[s->n] = run;
        return &s->runs[s->n++];
}

struct side_run *side_add_described(struct side *s, const char *log, uint32_t number, struct run_meter *m)
{
        struct side_run *run = side_add(s, log, number, m);
        const struct world_target *t = m->target;
        const Hw__Target *state = t ? t->target : NULL;
        const Hw__Run *info = state ? state->run_info : NULL;

        if (!run)
                return NULL;
        run->truncated = state && state->state != HW__TARGET__STATE__STATE_ENDED;
        if (info) {
                run->program = text_copy(info->program);
                run->ghc = text_copy(info->ghc_version);
                run->breakdown = info->breakdown;
                run->census_period_ns = info->census_period_ns;
        }
        if (!t || !meter_is_whole(m))
                return run;
        if (t->trends[HW__SERIES__SERIES_LIVE])
                run->verdict = t->trends[HW__SERIES__SERIES_LIVE]->verdict;
        if (t->trend_state && t->trend_state->growth)
                run->growth = text_copy(t->trend_state->growth->sentence);
        return run;
}

static int end_run(struct side_reader *r)
{
        const bool good =
                !r->run || (meter_end(&r->meter) == 0 && side_add_described(r->side, r->log, r->run, &r->meter));

        meter_done(&r->meter);
        r->run = 0;
        return good ? 0 : -ENOMEM;
}

/* --------------------------------------------------------------------- reading */

static int apply_update(void *ctx, size_t daemon, const Hw__Update *u)
{
        struct side_reader *r = ctx;
        int status = 0;

        if (u->body_case == HW__UPDATE__BODY_HEALTH)
                progress_show(&r->progress, u->health->bytes);
        if (!u->has_run || u->run == 0 || u->run > RUNS_MAX)
                return 0;
        if (r->first)
                return extend_range(r, u);
        if (u->run > r->run) {
                status = end_run(r);
                if (status == 0) {
                        static const struct extent none;
                        uint64_t from = 0, to = UINT64_MAX;
                        const struct extent *e = u->run <= r->n_extents ? &r->extents[u->run - 1] : &none;

                        (void)part_resolve(r->part, e, &from, &to, NULL); /* checked by check_extents and part_parse */
                        r->run = u->run;
                        status = meter_begin(&r->meter, from, to);
                }
        }
        return status == 0 && u->run == r->run ? meter_add(&r->meter, u) : status;
}

static bool read_through(struct side_reader *r, const struct command *command)
{
        struct error error;
        struct gatherer g = { .command = command, .take = apply_update, .ctx = r, .progress = &r->progress };
        static const struct update_wish wish = { .kinds = WISH(TARGET) | WISH(HEAP) | WISH(GC) | WISH(CENSUS) |
                                                          WISH(BAND) | WISH(NOTE) | WISH(PROFILE) | WISH(TICKY) |
                                                          WISH(SCHED) | WISH(HEALTH) | WISH(TREND),
                                                 .ends_alone = true };
        struct feed *feed = feed_files_wanted(&r->log, 1, NULL, &wish, &error);

        if (!feed) {
                command_error(command, "%s", error.text);
                return false;
        }
        progress_begin(&r->progress, command->name, &r->log, 1);
        bool good = gather(feed, &g) == GATHERED_ALL;
        feed_close(&feed);
        return good;
}

/* Whether each run of the log has the part. */
static bool check_extents(const struct side_reader *r, const struct command *command)
{
        uint64_t from, to;
        struct error error;

        for (uint32_t i = 0; i < r->n_extents; i++) {
                if (part_resolve(r->part, &r->extents[i], &from, &to, &error))
                        continue;
                command_error(command, "%s, run %u: %s", r->log, i + 1, error.text);
                return false;
        }
        return true;
}

static bool read_runs(struct side_reader *r, const struct command *command)
{
        size_t before = r->side->n;

        if (part_needs_run(r->part)) {
                r->first = true;
                if (!read_through(r, command) || !check_extents(r, command))
                        return false;
                r->first = false;
        }
        if (!read_through(r, command))
                return false;
        if (end_run(r)) {
                command_error(command, "out of memory");
                return false;
        }
        if (r->side->n == before)
                command_error(command, "%s contains no run of a program", r->log);
        return r->side->n > before;
}

bool side_read(struct side *s, const struct command *command, const char *log, const struct part *part)
{
        struct side_reader r = { .part = part ? part : &whole, .side = s, .log = log };
        bool good = read_runs(&r, command);

        meter_done(&r.meter);
        free(r.extents);
        return good;
}

/* ---------------------------------------------------------- read by somebody else */

struct side_reader *side_reader_new(struct side *s, const char *log)
{
        struct side_reader *r = calloc(1, sizeof(*r));

        if (r)
                *r = (struct side_reader){ .part = &whole, .side = s, .log = log };
        return r;
}

int side_reader_add(struct side_reader *r, const Hw__Update *update)
{
        return apply_update(r, 0, update);
}

int side_reader_end(struct side_reader **r)
{
        int status = *r ? end_run(*r) : 0;

        free(*r);
        *r = NULL;
        return status;
}

void side_done(struct side *s)
{
        for (size_t i = 0; i < s->n; i++)
                run_done(&s->runs[i]);
        free(s->runs);
        *s = (struct side){ .n = 0 };
}
