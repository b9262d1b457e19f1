/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: each capability's events are matched on their own:
 *
 *      REQUEST ... GC_START ... [GC_STATS_GHC: it leads] ... GC_END
 *         |--- sync ---|------------- pause ---------------|
 *
 * GC_END comes after GC_STATS_GHC in the block though its time is older. A
 * collection is passed on at its GC_END; when that is missing, at the next
 * event that shows that it is over, without a pause. Generations are made
 * (zeroed) when they are first seen.
 *
 * A collection with a heap census is heapwatch's where the agent makes the heap profile: by its period the log says
 * that each census was requested. Such collections are counted apart, as facts (watch_...); generations have the
 * program's own. The census comes before the end of its collection, with few exceptions: then the collection is moved.
 *
 * Of a program that is watched from outside the runtime's own counters are
 * known instead: how often each generation was collected, no single pause.
 */
#include "daemon/model/gc_private.h"
#include "daemon/model/heap_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/ckd.h"
#include "daemon/model/state.h"

#define SHARE_SPAN_NS UINT64_C(10000000000)
#define WITH_BALANCED 58 /* payload of GC_STATS_GHC since 8.4 */

int gc_init(struct model *m)
{
        m->gc.generations = malloc(GC_MAX_GENERATIONS * sizeof(*m->gc.generations));
        return m->gc.generations ? 0 : -ENOMEM;
}

static void forget_generations(struct gc *gc)
{
        while (gc->n_generations > 0)
                histogram_done(&gc->generations[--gc->n_generations].pauses);
}

void gc_clear(struct model *m)
{
        struct generation *generations = m->gc.generations;

        forget_generations(&m->gc);
        m->gc = (struct gc){
                .generations = generations,
                .sync_total_ns = UNKNOWN_U64,
                .major_copied_bytes = UNKNOWN_U64,
                .max_slop_bytes = UNKNOWN_U64,
                .slop_bytes = UNKNOWN_U64,
                .fragmentation_bytes = UNKNOWN_U64,
                .share = -1,
                .share_run = -1,
        };
        m->gc_state = (struct gc_state){ 0 };
        gc_censuses_clear(&m->gc_state.censuses);
        nonmoving_clear(m);
}

void gc_done(struct model *m)
{
        forget_generations(&m->gc);
        free(m->gc.generations);
        m->gc.generations = NULL;
}

size_t gc_held(const struct gc *gc)
{
        size_t held = GC_MAX_GENERATIONS * sizeof(*gc->generations);

        for (uint32_t i = 0; i < gc->n_generations; i++)
                held += gc->generations[i].pauses.cells.room * sizeof(struct sketch_count);
        return held;
}

static struct generation *generation_of(struct gc *gc, uint32_t number)
{
        if (number >= GC_MAX_GENERATIONS)
                number = GC_MAX_GENERATIONS - 1;
        while (gc->n_generations <= number)
                gc->generations[gc->n_generations++] = (struct generation){ 0 };
        return &gc->generations[number];
}

/* Blocks come out of time order, so a pause may come after a newer one. */
static void keep_last(struct gc *gc, const struct collection *c)
{
        uint32_t at = gc->n_last;

        while (at > 0 && gc->last[at - 1].end_time_ns > c->end_time_ns)
                at--;
        if (gc->n_last < GC_LAST) {
                memmove(&gc->last[at + 1], &gc->last[at], (gc->n_last++ - at) * sizeof(gc->last[0]));
        } else if (at > 0) {
                at--;
                memmove(&gc->last[0], &gc->last[1], at * sizeof(gc->last[0]));
        } else {
                return;
        }
        gc->last[at] = (struct gc_pause){ c->end_time_ns, c->pause_ns, c->generation, c->major, c->for_watching };
}

static void count_watching(struct model *m, uint64_t pause_ns)
{
        const double before = m->heap.facts[CARRIED_WATCH_PAUSE_MAX];

        model_add_fact(m, CARRIED_WATCH_CENSUSES, 1);
        model_add_fact(m, CARRIED_WATCH_PAUSES, (double)pause_ns);
        m->heap.facts[CARRIED_WATCH_PAUSE_MAX] = fmax(before, (double)pause_ns);
        m->heap.facts[CARRIED_WATCH_PAUSE] = (double)pause_ns;
}

void gc_begin_watching(struct model *m)
{
        if (isnan(m->heap.facts[CARRIED_WATCH_CENSUSES]))
                for (enum carried_fact id = CARRIED_WATCH_CENSUSES; id <= CARRIED_WATCH_PAUSE_MAX; id++)
                        model_add_fact(m, id, 0);
}

static double share_of(double part_ns, uint64_t from_ns, uint64_t to_ns)
{
        if (to_ns <= from_ns)
                return -1;
        double share = part_ns / (double)(to_ns - from_ns);
        return share > 1 ? 1 : share;
}

/* What was waited for capabilities to stop before a collection that began at `time_ns`. */
static void count_sync(struct model *m, uint64_t time_ns, uint64_t sync_ns)
{
        struct gc_sync_second *s = &m->gc_state.syncs[time_ns / NS_PER_S % GC_SYNC_SECONDS];

        m->gc.sync_total_ns += sync_ns;
        if (s->second > time_ns / NS_PER_S)
                return;
        if (s->second < time_ns / NS_PER_S)
                *s = (struct gc_sync_second){ .second = time_ns / NS_PER_S };
        s->sync_ns += sync_ns;
}

/* The share of the last 10 s of events. A runtime without threads has nothing to wait for. */
static void refresh_sync(struct model *m, uint64_t now_ns)
{
        const uint64_t from_ns = sub_sat(now_ns, SHARE_SPAN_NS), first_ns = m->clock.first_ns;
        uint64_t sum = 0;

        if (m->gc.sync_total_ns == UNKNOWN_U64 && m->run.rts_way[0] && !m->run.threaded)
                m->gc.sync_total_ns = 0;
        if (m->gc.sync_total_ns == UNKNOWN_U64)
                return;
        for (unsigned i = 0; i < GC_SYNC_SECONDS; i++)
                if (m->gc_state.syncs[i].second * NS_PER_S >= from_ns)
                        sum += m->gc_state.syncs[i].sync_ns;
        const double share = share_of((double)sum, from_ns > first_ns ? from_ns : first_ns, now_ns);
        if (share >= 0)
                model_set_fact(m, CARRIED_GC_SYNC_SHARE, now_ns, share);
}

/* Adds the pause of a collection, and decides whose it is. */
static void count_pause(struct model *m, struct generation *g, struct collection *c)
{
        if (c->sync_ns != UNKNOWN_U64)
                count_sync(m, sub_sat(c->end_time_ns, c->pause_ns == UNKNOWN_U64 ? 0 : c->pause_ns), c->sync_ns);
        if (c->pause_ns == UNKNOWN_U64)
                return;
        const uint64_t from_ns = sub_sat(c->end_time_ns, c->pause_ns);
        const bool has_census = c->major && gc_censuses_collection(&m->gc_state.censuses, from_ns, c->end_time_ns);
        c->for_watching = has_census && m->run.profiled_by_agent;
        m->gc.pause_total_ns += c->pause_ns;
        m->gc.census_pause_ns += has_census ? c->pause_ns : 0;
        keep_last(&m->gc, c);
        if (c->for_watching) {
                g->count--;
                count_watching(m, c->pause_ns);
                return;
        }
        if (has_census)
                gc_censuses_count(&m->gc_state.censuses, from_ns, c->end_time_ns);
        g->pause_total_ns += c->pause_ns;
        if (c->pause_ns > g->pause_max_ns)
                g->pause_max_ns = c->pause_ns;
        histogram_add(&g->pauses, c->pause_ns);
        model_sample(m, SERIES_GC_PAUSE, c->end_time_ns, c->pause_ns);
}

/* The collection that this capability leads is over. */
static void finish_collection(struct model *m, struct cap_state *cap)
{
        struct collection *c = &cap->collection;
        struct generation *g = generation_of(&m->gc, c->generation);

        cap->leads = false;
        m->gc.collections++;
        g->count++;
        count_pause(m, g, c);
        struct gc *gc = &m->gc;

        gc->copied_bytes += c->copied_bytes;
        if (c->major)
                gc->major_copied_bytes = c->copied_bytes;
        if (c->major && c->slop_bytes != UNKNOWN_U64 &&
            (gc->max_slop_bytes == UNKNOWN_U64 || c->slop_bytes > gc->max_slop_bytes))
                gc->max_slop_bytes = c->slop_bytes;
        if (c->parallel_threads > 1) {
                g->parallel_count++;
                model_add_fact(m, CARRIED_GC_PARALLEL_COPIED, (double)c->copied_bytes);
                model_add_fact(m, CARRIED_GC_PARALLEL_MAX_COPIED, (double)c->parallel_max_copied_bytes);
                if (c->parallel_balanced_copied_bytes != UNKNOWN_U64) {
                        gc->parallel_copied_bytes += c->copied_bytes;
                        gc->parallel_balanced_bytes += c->parallel_balanced_copied_bytes;
                }
        }
        if (gc->slop_bytes == UNKNOWN_U64 || c->end_time_ns >= m->gc_state.newest_end_ns) {
                gc->slop_bytes = c->slop_bytes;
                gc->fragmentation_bytes = c->fragmentation_bytes;
                m->gc_state.newest_end_ns = c->end_time_ns;
        }
        model_sample(m, SERIES_COPIED, c->end_time_ns, c->copied_bytes);
        if (c->slop_bytes != UNKNOWN_U64)
                model_sample(m, SERIES_SLOP, c->end_time_ns, c->slop_bytes);
        if (c->fragmentation_bytes != UNKNOWN_U64)
                model_sample(m, SERIES_FRAGMENTATION, c->end_time_ns, c->fragmentation_bytes);
        m->changes |= MODEL_GC;
        PASS_ON(m, collection, c);
}

/* A collection of this capability whose end will not come. */
static void abandon_collection(struct model *m, struct cap_state *cap)
{
        if (!cap->leads && cap->gc_start_ns == UNKNOWN_U64)
                return;
        m->gc.unmatched++;
        m->changes |= MODEL_GC;
        if (cap->leads)
                finish_collection(m, cap);
        cap->gc_start_ns = UNKNOWN_U64;
}

void gc_close(struct model *m)
{
        for (uint32_t i = 0; i < m->sched.n_caps; i++)
                abandon_collection(m, &m->caps[i]);
}

/* An event of a collection. NULL: its capability is beyond the limit, or collections are counted from outside. */
static struct cap_state *see_capability(struct model *m, const struct hw_event *e)
{
        m->gc_state.seen |= !m->gc.counted;
        return m->gc.counted ? NULL : sched_cap_state(m, e->cap);
}

void gc_request(struct model *m, const struct hw_event *e)
{
        struct cap_state *cap = see_capability(m, e);

        if (!cap)
                return;
        cap->gc_request_ns = e->time_ns;
        if (m->gc.sync_total_ns == UNKNOWN_U64)
                m->gc.sync_total_ns = 0;
}

void gc_start(struct model *m, const struct hw_event *e)
{
        struct cap_state *cap = see_capability(m, e);

        if (!cap)
                return;
        abandon_collection(m, cap);
        cap->gc_start_ns = e->time_ns;
}

void gc_stats(struct model *m, const struct hw_event *e)
{
        struct cap_state *cap = see_capability(m, e);

        if (!cap) { /* a collection that nobody leads: lost, but not silently */
                m->gc.unmatched++;
                m->changes |= MODEL_GC;
                return;
        }
        if (cap->leads)
                abandon_collection(m, cap);
        uint32_t generation = hw_event_u16(e, 4), generations = m->run.generations;
        cap->leads = true;
        cap->collection = (struct collection){
                .end_time_ns = e->time_ns,
                .pause_ns = UNKNOWN_U64,
                .sync_ns = UNKNOWN_U64,
                .generation = generation,
                .capability = e->cap,
                .major = generations ? generation + 1 == generations : generation >= 1,
                .copied_bytes = hw_event_u64(e, 6),
                .slop_bytes = hw_event_u64(e, 14),
                .fragmentation_bytes = hw_event_u64(e, 22),
                .parallel_threads = hw_event_u32(e, 30),
                .parallel_max_copied_bytes = hw_event_u64(e, 34),
                .parallel_balanced_copied_bytes = e->size >= WITH_BALANCED ? hw_event_u64(e, 50) : UNKNOWN_U64,
        };
        if (cap->gc_start_ns != UNKNOWN_U64 && cap->gc_request_ns != UNKNOWN_U64)
                cap->collection.sync_ns = sub_sat(cap->gc_start_ns, cap->gc_request_ns);
}

void gc_end(struct model *m, const struct hw_event *e)
{
        struct cap_state *cap = see_capability(m, e);

        if (!cap)
                return;
        bool matched = cap->gc_start_ns != UNKNOWN_U64 && e->time_ns >= cap->gc_start_ns;
        uint64_t spent = matched ? e->time_ns - cap->gc_start_ns : 0;
        m->sched.caps[e->cap].gc_ns += spent;
        m->gc.unmatched += !matched;
        m->changes |= MODEL_GC | MODEL_SCHED;
        cap->gc_start_ns = UNKNOWN_U64;
        cap->gc_request_ns = UNKNOWN_U64;
        if (!cap->leads)
                return;
        if (matched) {
                cap->collection.end_time_ns = e->time_ns;
                cap->collection.pause_ns = spent;
        }
        finish_collection(m, cap);
}

/* False: this log has the collections themselves. */
static bool begin_counting(struct model *m)
{
        struct gc *gc = &m->gc;

        if (m->gc_state.seen)
                return false;
        if (!gc->counted)
                gc->copied_bytes = gc->pause_total_ns = gc->sync_total_ns = gc->census_pause_ns = UNKNOWN_U64;
        gc->counted = true;
        m->changes |= MODEL_GC;
        return true;
}

void gc_count_generation(struct model *m, const struct hw_event *e)
{
        struct gc *gc = &m->gc;

        if (!begin_counting(m))
                return;
        struct generation *g = generation_of(gc, hw_event_u16(e, 4));
        g->count = hw_event_u64(e, 8);
        g->parallel_count = hw_event_u64(e, 16);
        gc->collections = 0;
        for (uint32_t i = 0; i < gc->n_generations; i++)
                gc->collections += gc->generations[i].count;
        if (m->run.generations != hw_event_u16(e, 6))
                m->changes |= MODEL_RUN;
        m->run.generations = hw_event_u16(e, 6);
}

/* Times are since the process began, and so is their share. */
void gc_count_all(struct model *m, const struct hw_event *e)
{
        struct gc *gc = &m->gc;

        if (!begin_counting(m))
                return;
        gc->copied_bytes = hw_event_u64(e, 4);
        gc->pause_total_ns = hw_event_u64(e, 12);
        gc->share_run = gc->pause_total_ns == UNKNOWN_U64 ? -1 : share_of((double)gc->pause_total_ns, 0, e->time_ns);
}

void gc_census(struct model *m, uint64_t time_ns)
{
        struct time_range of;

        if (!gc_censuses_census(&m->gc_state.censuses, time_ns, &of))
                return;
        m->gc.census_pause_ns += of.to_ns - of.from_ns;
        gc_censuses_count(&m->gc_state.censuses, of.from_ns, of.to_ns);
        if (m->run.profiled_by_agent) {
                /* The newest collection with that end was counted as the program's own. */
                const uint64_t pause_ns = of.to_ns - of.from_ns;
                struct generation *g = &m->gc.generations[m->gc.n_generations - 1];

                for (uint32_t i = 0; i < m->gc.n_last; i++)
                        if (m->gc.last[i].end_time_ns == of.to_ns && m->gc.last[i].major)
                                m->gc.last[i].for_watching = true;
                count_watching(m, pause_ns);
                if (histogram_remove(&g->pauses, pause_ns)) {
                        g->count--;
                        g->pause_total_ns -= pause_ns;
                        g->pause_max_ns = g->pauses.max;
                }
        }
        m->changes |= MODEL_GC;
}

bool gc_refresh(struct model *m, uint64_t now_ns)
{
        struct series_view room;
        const struct series *pauses = model_series(m, SERIES_GC_PAUSE, &room);
        double share = m->gc.share, share_run = m->gc.share_run;
        uint64_t first = m->clock.first_ns, from = sub_sat(now_ns, SHARE_SPAN_NS);
        struct trend_cell recent = { .cell.n = 0 };
        double watched = fmax(m->heap.facts[CARRIED_WATCH_PAUSES], 0); /* 0 where unknown: no profile of heapwatch's */

        if (!m->gc_state.seen || m->clock.first_ns == UINT64_MAX)
                return false;
        if (pauses->pyramid.held_bytes) {
                /* Only cells that begin in the range count: so start it at a cell's beginning. */
                uint64_t width = series_shape.levels[0].width_ns;
                from += (width - from % width) % width;
                series_span(pauses, (struct time_range){ from, now_ns == UINT64_MAX ? now_ns : now_ns + 1 }, &recent);
        }
        m->gc.share = share_of((double)recent.cell.n * recent.cell.mean, from > first ? from : first, now_ns);
        m->gc.share_run = share_of((double)m->gc.pause_total_ns - watched, first, now_ns);
        refresh_sync(m, now_ns);
        return m->gc.share < share || m->gc.share > share || m->gc.share_run < share_run || m->gc.share_run > share_run;
}
