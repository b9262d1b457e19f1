/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world_target.c - one target: its runs and its newest messages.
 *
 * DESIGN: gauges are kept as their newest message, and shown without the lists
 * that hold only what happened since the previous message (samples,
 * collections): those go into the history.
 *
 * A message of an older run is dropped. A newer run clears everything but
 * the target's name, its state, its alerts and the health of its stream, which
 * outlive runs.
 */
#include "client/world/state/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct target_state *target_new(size_t daemon, const char *name, const struct history_options *past)
{
        struct target_state *ts = calloc(1, sizeof(*ts));

        if (!ts)
                return NULL;
        ts->history = past ? history_new(past) : NULL;
        if (past && !ts->history) {
                free(ts);
                return NULL;
        }
        ts->t.history = ts->history;
        ts->t.daemon = daemon;
        memcpy(ts->t.name, name, strlen(name) + 1);
        return ts;
}

/* How a target shows the messages it keeps whole; NULL: it has none. */
static void target_show_state(struct target_state *ts, const Hw__Target *target)
{
        KEEP(ts->whole.target, target);
        if (target)
                ts->target = *target;
        ts->t.target = target ? &ts->target : NULL;
}

static void target_show_heap(struct target_state *ts, const Hw__Heap *heap)
{
        KEEP(ts->whole.heap, heap);
        if (heap)
                ts->heap = *heap;
        ts->heap.n_samples = 0;
        ts->t.heap = heap ? &ts->heap : NULL;
}

static void target_show_gc(struct target_state *ts, const Hw__Gc *gc)
{
        KEEP(ts->whole.gc, gc);
        if (gc)
                ts->gc = *gc;
        ts->gc.n_collections = 0;
        ts->t.gc = gc ? &ts->gc : NULL;
}

static void forget_run(struct target_state *ts)
{
        struct world_target *t = &ts->t;

        target_show_heap(ts, NULL);
        target_show_gc(ts, NULL);
        FORGET(t->census);
        FORGET(t->sched);
        if (ts->history)
                history_clear(ts->history);
        world_bands_clear(ts);
        lists_done(ts);
        trends_done(ts);
        t->event_time_ns = 0;
}

void target_destroy(struct target_state **target)
{
        struct target_state *ts = *target;

        *target = NULL;
        if (!ts)
                return;
        forget_run(ts);
        target_show_state(ts, NULL);
        FORGET(ts->t.health);
        FORGET(ts->t.alerts);
        history_destroy(&ts->history);
        free(ts);
}

static int apply_body(struct target_state *ts, const Hw__Update *u)
{
        switch (u->body_case) {
        case HW__UPDATE__BODY_TARGET_STATE:
                target_show_state(ts, u->target_state);
                return 0;
        case HW__UPDATE__BODY_HEAP:
                target_show_heap(ts, u->heap);
                return 0;
        case HW__UPDATE__BODY_GC:
                target_show_gc(ts, u->gc);
                return 0;
        case HW__UPDATE__BODY_CENSUS:
                return bands_census(ts, u->census);
        case HW__UPDATE__BODY_BANDS:
                return bands_define(ts, u->bands);
        case HW__UPDATE__BODY_NOTES:
                return notes_add(ts, u->notes);
        case HW__UPDATE__BODY_PROFILE:
                return profile_add(ts, u->profile);
        case HW__UPDATE__BODY_TICKY:
                return ticky_add(ts, u->ticky);
        case HW__UPDATE__BODY_SCHED:
                KEEP(ts->t.sched, u->sched);
                return 0;
        case HW__UPDATE__BODY_HEALTH:
                KEEP(ts->t.health, u->health);
                return 0;
        case HW__UPDATE__BODY_TRENDS:
                return trends_apply(ts, u);
        case HW__UPDATE__BODY_ALERTS:
                KEEP(ts->t.alerts, u->alerts);
                return 0;
        default:
                return 0;
        }
}

/* State, health and alerts belong to the target itself and are current without a run, too. */
static bool belongs_to_target(const Hw__Update *u)
{
        return u->body_case == HW__UPDATE__BODY_TARGET_STATE || u->body_case == HW__UPDATE__BODY_HEALTH ||
               u->body_case == HW__UPDATE__BODY_ALERTS;
}

int target_apply(struct target_state *ts, const Hw__Update *u)
{
        uint32_t run = u->has_run ? u->run : 0;

        if (run < ts->t.run && (u->has_run || !belongs_to_target(u)))
                return 0;
        if (run > ts->t.run) {
                forget_run(ts);
                ts->target.run_info = NULL;
                ts->t.run = run;
        }
        if (u->has_event_time_ns && u->event_time_ns > ts->t.event_time_ns)
                ts->t.event_time_ns = u->event_time_ns;
        if (u->has_published_wall_ns && u->published_wall_ns > ts->t.published_wall_ns)
                ts->t.published_wall_ns = u->published_wall_ns;
        if (ts->history && history_add(ts->history, u) < 0)
                return -ENOMEM;
        return apply_body(ts, u);
}
