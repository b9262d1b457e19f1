/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the daemon judges what a stream lacks (health.advice); here only
 * what came is recorded, so the rows say what was seen and the advice says what
 * to do.
 */
#include "client/doctor/stream.h"
#include "proto/base/array.h"

#include <stdio.h>
#include <string.h>

static void copy(char *out, size_t size, const char *text)
{
        snprintf(out, size, "%s", text != NULL ? text : "");
}

static void take_target(struct stream *s, const Hw__Target *t)
{
        s->any = true;
        s->ended = t->state == HW__TARGET__STATE__STATE_ENDED || t->state == HW__TARGET__STATE__STATE_FAILED;
        s->crashed = t->state == HW__TARGET__STATE__STATE_CRASHED;
        copy(s->detail, sizeof(s->detail), t->detail);
        copy(s->process_only_reason, sizeof(s->process_only_reason), t->process_only_reason);
        if (t->run_info == NULL)
                return;
        s->process_only = t->run_info->process_only;
        copy(s->program, sizeof(s->program), t->run_info->program);
        copy(s->version, sizeof(s->version), t->run_info->ghc_version);
        copy(s->way, sizeof(s->way), t->run_info->rts_way);
}

static void take_health(struct stream *s, const Hw__Health *h)
{
        s->lost_bytes = h->lost_bytes;
        s->events = h->events;
        s->n_advice = 0;
        for (size_t i = 0; i < h->n_advice && i < STREAM_ADVICE_MAX; i++)
                copy(s->advice[s->n_advice++], sizeof(s->advice[0]), h->advice[i]->text);
}

/* Whether the message has content: an empty state does not count as seen. */
static bool has_content(const Hw__Update *u)
{
        switch (u->body_case) {
        case HW__UPDATE__BODY_HEAP:
                return u->heap->has_heap_size_bytes || u->heap->has_live_bytes || u->heap->has_allocated_bytes;
        case HW__UPDATE__BODY_GC:
                return u->gc->n_generations > 0;
        case HW__UPDATE__BODY_CENSUS:
                return u->census->n_band > 0;
        case HW__UPDATE__BODY_NOTES:
                return u->notes->n_notes > 0;
        case HW__UPDATE__BODY_PROFILE:
                return u->profile->n_stacks > 0;
        case HW__UPDATE__BODY_TICKY:
                return u->ticky->n_counters > 0;
        case HW__UPDATE__BODY_SCHED:
                return u->sched->threads_created > 0 || u->sched->n_capabilities > 0;
        default:
                return true;
        }
}

void stream_take(struct stream *s, const Hw__Update *update)
{
        Hw__Kind kind = hw_update_kind(update);

        if ((size_t)kind < ARRAY_SIZE(s->kinds) && has_content(update))
                s->kinds[kind] = true;
        if (update->body_case == HW__UPDATE__BODY_TARGET_STATE)
                take_target(s, update->target_state);
        else if (update->body_case == HW__UPDATE__BODY_HEALTH)
                take_health(s, update->health);
}

void features_of_stream(struct features *f, const struct stream *s)
{
        static const struct {
                const char *name;
                Hw__Kind kind;
                bool needed;
                const char *add;
        } rows[] = {
                { "heap size, allocation, live bytes", HW__KIND__KIND_HEAP, true, "+RTS -l" },
                { "collections and pauses", HW__KIND__KIND_GC, true, "+RTS -l" },
                { "heap bands", HW__KIND__KIND_CENSUS, true, "+RTS -l -hT -i1" },
                { "messages and markers", HW__KIND__KIND_NOTE, false, "traceEvent, traceMarker and +RTS -l" },
                { "threads and capabilities", HW__KIND__KIND_SCHED, false, "+RTS -l" },
                { "time profile", HW__KIND__KIND_PROFILE, false, "-prof -threaded and +RTS -l -p" },
                { "ticky counters", HW__KIND__KIND_TICKY, false, "-ticky (not -threaded) and +RTS -lT" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                bool seen = s->kinds[rows[i].kind];
                features_add(f, rows[i].name, seen, rows[i].needed,
                             seen             ? ""
                             : s->events == 0 ? "not known: no event has come yet"
                                              : rows[i].add);
        }
}
