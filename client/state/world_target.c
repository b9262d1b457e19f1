/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world_target.c - one target: its runs and its newest messages.
 *
 * DESIGN: gauges are kept as a copy of their newest message, without the lists
 * that only tell what happened since the message before (samples,
 * collections): those go into rings. A series that the daemon does not sample
 * itself is derived from collections and censuses.
 *
 * A message of an older run is dropped. A newer run clears everything but
 * the target's name, its state, its alerts and the health of its stream, which
 * outlive runs.
 */
#include "client/state/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct target_state *target_new(size_t daemon, const char *name)
{
        struct target_state *ts = calloc(1, sizeof(*ts));

        if (!ts)
                return NULL;
        ts->t.daemon = daemon;
        memcpy(ts->t.name, name, strlen(name) + 1);
        return ts;
}

/* Frees a kept message and clears the pointer. */
#define FORGET(pointer) (forget_message((pointer) ? &(pointer)->base : NULL), (pointer) = NULL)

static void forget_message(ProtobufCMessage *m)
{
        protobuf_c_message_free_unpacked(m, NULL);
}

static void forget_run(struct target_state *ts)
{
        struct world_target *t = &ts->t;

        FORGET(t->heap);
        FORGET(t->gc);
        FORGET(t->census);
        FORGET(t->sched);
        for (size_t i = 0; i < WORLD_SERIES; i++)
                ring_done(&t->series[i]);
        memset(ts->sampled, 0, sizeof(ts->sampled));
        bands_done(ts);
        lists_done(ts);
        trends_done(ts);
        t->event_time_ns = 0;
}

void target_destroy(struct target_state **ts)
{
        if (!*ts)
                return;
        forget_run(*ts);
        FORGET((*ts)->t.target);
        FORGET((*ts)->t.health);
        FORGET((*ts)->t.alerts);
        free(*ts);
        *ts = NULL;
}

void target_begin_run(struct target_state *ts, uint32_t run)
{
        forget_run(ts);
        if (ts->t.target)
                FORGET(ts->t.target->run_info);
        ts->t.run = run;
}

/* Puts a copy of `message` in place of *slot. The copy is made first: on failure the old one stays. */
#define KEEP(slot, message)                                                                                            \
        do {                                                                                                           \
                void *keep_copy = message_copy(&(message)->base);                                                      \
                                                                                                                       \
                if (!keep_copy)                                                                                        \
                        return -ENOMEM;                                                                                \
                FORGET(slot);                                                                                          \
                (slot) = keep_copy;                                                                                    \
        } while (0)

static int push(struct target_state *ts, Hw__Series series, uint64_t time_ns, double value)
{
        return ring_push(&ts->t.series[series], WORLD_POINTS, time_ns, value);
}

static int apply_samples(struct target_state *ts, const Hw__Samples *s)
{
        if (!s->has_series || s->series <= 0 || s->series >= WORLD_SERIES)
                return 0;
        if (!ts->sampled[s->series]) {
                ring_done(&ts->t.series[s->series]);
                ts->sampled[s->series] = true;
        }
        for (size_t i = 0; i < s->n_times_ns && i < s->n_values; i++) {
                if (push(ts, s->series, s->times_ns[i], (double)s->values[i]) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int apply_heap(struct target_state *ts, const Hw__Heap *heap)
{
        Hw__Heap gauges = *heap;

        gauges.n_samples = 0;
        KEEP(ts->t.heap, &gauges);
        for (size_t i = 0; i < heap->n_samples; i++) {
                if (apply_samples(ts, heap->samples[i]) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* One number of a collection, unless the daemon samples that series itself. */
static int derive(struct target_state *ts, Hw__Series series, const Hw__Collection *c, bool known, uint64_t value)
{
        if (!known || ts->sampled[series])
                return 0;
        return push(ts, series, c->end_time_ns, (double)value);
}

static int apply_collection(struct target_state *ts, const Hw__Collection *c)
{
        if (derive(ts, HW__SERIES__SERIES_GC_PAUSE, c, c->has_pause_ns, c->pause_ns) < 0 ||
            derive(ts, HW__SERIES__SERIES_COPIED, c, c->has_copied_bytes, c->copied_bytes) < 0 ||
            derive(ts, HW__SERIES__SERIES_SLOP, c, c->has_slop_bytes, c->slop_bytes) < 0 ||
            derive(ts, HW__SERIES__SERIES_FRAGMENTATION, c, c->has_fragmentation_bytes, c->fragmentation_bytes) < 0)
                return -ENOMEM;
        return 0;
}

static int apply_gc(struct target_state *ts, const Hw__Gc *gc)
{
        Hw__Gc gauges = *gc;

        gauges.n_collections = 0;
        KEEP(ts->t.gc, &gauges);
        for (size_t i = 0; i < gc->n_collections; i++) {
                if (apply_collection(ts, gc->collections[i]) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int apply_target_state(struct target_state *ts, const Hw__Target *target)
{
        KEEP(ts->t.target, target);
        return 0;
}

static int apply_sched(struct target_state *ts, const Hw__Sched *sched)
{
        KEEP(ts->t.sched, sched);
        return 0;
}

static int apply_health(struct target_state *ts, const Hw__Health *health)
{
        KEEP(ts->t.health, health);
        return 0;
}

static int apply_alerts(struct target_state *ts, const Hw__Alerts *alerts)
{
        KEEP(ts->t.alerts, alerts);
        return 0;
}

static int apply_body(struct target_state *ts, const Hw__Update *u)
{
        switch (u->body_case) {
        case HW__UPDATE__BODY_TARGET_STATE:
                return apply_target_state(ts, u->target_state);
        case HW__UPDATE__BODY_HEAP:
                return apply_heap(ts, u->heap);
        case HW__UPDATE__BODY_GC:
                return apply_gc(ts, u->gc);
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
                return apply_sched(ts, u->sched);
        case HW__UPDATE__BODY_HEALTH:
                return apply_health(ts, u->health);
        case HW__UPDATE__BODY_TRENDS:
                return trends_apply(ts, u->trends);
        case HW__UPDATE__BODY_ALERTS:
                return apply_alerts(ts, u->alerts);
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
        if (run > ts->t.run)
                target_begin_run(ts, run);
        if (u->has_event_time_ns && u->event_time_ns > ts->t.event_time_ns)
                ts->t.event_time_ns = u->event_time_ns;
        if (u->has_published_wall_ns && u->published_wall_ns > ts->t.published_wall_ns)
                ts->t.published_wall_ns = u->published_wall_ns;
        return apply_body(ts, u);
}
