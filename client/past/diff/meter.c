/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/past/diff/meter.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "proto/base/limits.h"

#define CELLS SKETCH_CELLS(PAUSE_BITS, 64u)

int meter_begin(struct run_meter *m, uint64_t from_ns, uint64_t to_ns)
{
        *m = (struct run_meter){ .from_ns = from_ns, .to_ns = to_ns, .first_ns = UINT64_MAX };
        m->pauses = calloc(CELLS, sizeof(*m->pauses));
        m->world = world_new(NULL);
        return m->pauses && m->world ? 0 : -ENOMEM;
}

void meter_done(struct run_meter *m)
{
        free(m->pauses);
        rows_done(&m->rows);
        world_destroy(&m->world);
        *m = (struct run_meter){ .pauses = NULL };
}

static bool is_within_range(const struct run_meter *m, uint64_t time_ns)
{
        return time_ns >= m->from_ns && time_ns <= m->to_ns;
}

/* -------------------------------------------------------------- gauges, flows */

/* Blocks of capabilities come out of order: no line goes back. */
static void meter_sample(struct gauge *g, uint64_t time_ns, double value)
{
        if (g->samples.n)
                bins_add(&g->bins, g->samples.last_ns, time_ns, g->samples.last, value);
        cell_add(&g->samples, time_ns, value);
}

/* Spreads `amount` evenly over (from, to], as far as that is in the part. */
static double spread_flow(const struct run_meter *m, struct flow *f, uint64_t from_ns, uint64_t to_ns, double amount)
{
        uint64_t a = from_ns > m->from_ns ? from_ns : m->from_ns, b = to_ns < m->to_ns ? to_ns : m->to_ns;
        double per_ns = to_ns > from_ns ? amount / (double)(to_ns - from_ns) : 0;

        if (b <= a)
                return to_ns == from_ns && is_within_range(m, to_ns) ? amount : 0;
        bins_add(&f->rate, a, b, per_ns, per_ns);
        return per_ns * (double)(b - a);
}

/* A collection counts where it ended. */
static void count_flow(struct run_meter *m, struct flow *f, uint64_t end_ns, double amount)
{
        f->known = true;
        f->total += is_within_range(m, end_ns) ? amount : 0;
}

/*
 * The counter runs from the program's start, so its first sample is the total since then: it waits for meter_end, when
 * it is known from when on the run is. The counter is the sum over all capabilities, whose blocks come out of order: an
 * increase at an earlier time is added to the newest one.
 */
static void meter_allocated(struct run_meter *m, uint64_t time_ns, double total)
{
        if (total < m->allocated)
                return;
        if (time_ns < m->allocated_ns)
                time_ns = m->allocated_ns;
        struct flow *f = &m->flows[FLOW_ALLOCATED];
        if (!f->known)
                m->before = (struct before){ time_ns, total };
        else
                f->total += spread_flow(m, f, m->allocated_ns, time_ns, total - m->allocated);
        f->known = true;
        m->allocated_ns = time_ns;
        m->allocated = total;
}

static void meter_samples(struct run_meter *m, const Hw__Samples *s)
{
        struct gauge *gauge = s->series == HW__SERIES__SERIES_LIVE        ? &m->gauges[GAUGE_LIVE]
                              : s->series == HW__SERIES__SERIES_HEAP_SIZE ? &m->gauges[GAUGE_HEAP]
                              : s->series == HW__SERIES__SERIES_RSS       ? &m->gauges[GAUGE_RSS]
                                                                          : NULL;

        m->left_out += s->dropped;
        for (size_t i = 0; i < s->n_times_ns; i++) {
                if (s->series == HW__SERIES__SERIES_ALLOCATED)
                        meter_allocated(m, s->times_ns[i], (double)s->values[i]);
                else if (gauge && is_within_range(m, s->times_ns[i]))
                        meter_sample(gauge, s->times_ns[i], (double)s->values[i]);
        }
}

/* ---------------------------------------------------------------- collections */

/*
 * What a collection did is spread over the time since the previous one; its GC time over its pause. Those for heapwatch
 * are none of the program's.
 */
static void meter_collection(struct run_meter *m, const Hw__Collection *c)
{
        uint64_t end = c->end_time_ns, pause = c->pause_ns < end ? c->pause_ns : end, start = end - pause;
        uint64_t before = m->collected_ns && m->collected_ns < start ? m->collected_ns : start;

        if (!c->has_watch_pause_ns) {
                count_flow(m, &m->flows[FLOW_COLLECTIONS], end, 1);
                (void)spread_flow(m, &m->flows[FLOW_COLLECTIONS], before, end, 1);
        }
        if (c->has_copied_bytes) {
                count_flow(m, &m->flows[FLOW_COPIED], end, (double)c->copied_bytes);
                (void)spread_flow(m, &m->flows[FLOW_COPIED], before, end, (double)c->copied_bytes);
        }
        if (c->has_pause_ns) {
                count_flow(m, &m->flows[FLOW_GC], end, (double)pause);
                (void)spread_flow(m, &m->flows[FLOW_GC], before, start, 0);
                (void)spread_flow(m, &m->flows[FLOW_GC], start, end, (double)pause);
        }
        m->collected_ns = end > m->collected_ns ? end : m->collected_ns;
        if (!c->has_pause_ns || !is_within_range(m, end))
                return;
        meter_sample(&m->gauges[GAUGE_PAUSE], end, (double)c->pause_ns);
        m->pauses[sketch_cell(PAUSE_BITS, c->pause_ns)]++;
        m->n_pauses++;
}

/* From outside there are no collections to be seen, but their number, which the runtime counts from its start. */
static void meter_counted(struct run_meter *m, enum counted_flow which, uint64_t time_ns, double total)
{
        struct flow *f = &m->flows[which == COUNTED_COPIED ? FLOW_COPIED : FLOW_COLLECTIONS];
        struct counter *c = &m->counters[which];
        const bool from_start = m->from_ns == 0 && m->first_ns <= JOINED_LATE_NS;

        if ((f->known || from_start) && total >= c->total)
                f->total += spread_flow(m, f, c->time_ns, time_ns, total - c->total);
        f->known = true;
        *c = (struct counter){ time_ns, total };
}

static void counted_collections(struct run_meter *m, const Hw__Gc *gc, uint64_t time_ns)
{
        double count = 0;

        for (size_t i = 0; i < gc->n_generations; i++)
                count += (double)gc->generations[i]->count;
        meter_counted(m, COUNTED_COLLECTIONS, time_ns, count);
        if (gc->has_copied_bytes)
                meter_counted(m, COUNTED_COPIED, time_ns, (double)gc->copied_bytes);
}

double meter_pause(const struct run_meter *m, double q)
{
        uint64_t rank = (uint64_t)ceil(q * (double)m->n_pauses), seen = 0;

        for (unsigned cell = 0; m->n_pauses && cell < CELLS; cell++) {
                seen += m->pauses[cell];
                if (seen >= rank && seen)
                        return sketch_middle(PAUSE_BITS, cell);
        }
        return NAN;
}

/* ------------------------------------------------------------------- messages */

static int meter_census(struct run_meter *m, const Hw__Census *c)
{
        if (!is_within_range(m, c->time_ns) || (c->has_unfinished && c->unfinished))
                return 0;
        meter_sample(&m->gauges[GAUGE_CENSUS], c->time_ns, (double)c->total_bytes);
        return rows_census(&m->rows, c);
}

int meter_add(struct run_meter *m, const Hw__Update *u)
{
        int r = world_apply(m->world, 0, u);

        if (u->has_event_time_ns) {
                m->first_ns = u->event_time_ns < m->first_ns ? u->event_time_ns : m->first_ns;
                m->last_ns = u->event_time_ns > m->last_ns ? u->event_time_ns : m->last_ns;
                m->any = true;
        }
        switch (u->body_case) {
        case HW__UPDATE__BODY_HEAP:
                for (size_t i = 0; i < u->heap->n_samples; i++)
                        meter_samples(m, u->heap->samples[i]);
                break;
        case HW__UPDATE__BODY_GC:
                m->left_out += u->gc->collections_dropped;
                for (size_t i = 0; i < u->gc->n_collections; i++)
                        meter_collection(m, u->gc->collections[i]);
                if (u->gc->counted && u->has_event_time_ns)
                        counted_collections(m, u->gc, u->event_time_ns);
                break;
        case HW__UPDATE__BODY_BANDS:
                return r ? r : rows_define(&m->rows, u->bands);
        case HW__UPDATE__BODY_CENSUS:
                return r ? r : meter_census(m, u->census);
        default:
                break;
        }
        return r;
}

void meter_judge(struct run_meter *m)
{
        const struct world_target *t = m->target;
        const Hw__Trend *live = t->trends[HW__SERIES__SERIES_LIVE];
        const Hw__TimeToLimit *limit = t->trend_state ? t->trend_state->time_to_limit : NULL;

        if (live && live->has_slope)
                m->slope = (struct judged){ true, live->slope, live->has_slope_low ? live->slope_low : NAN,
                                            live->has_slope_high ? live->slope_high : NAN };
        if (limit && limit->has_mid_ns)
                m->limit_ns =
                        (struct judged){ true, (double)limit->mid_ns, limit->has_low_ns ? (double)limit->low_ns : NAN,
                                         limit->has_high_ns ? (double)limit->high_ns : NAN };
}

/* Of what was allocated before the first sample, the part since the run is known: a cut-out begins in its middle. */
static void allocated_before(struct run_meter *m)
{
        const struct before *b = &m->before;
        const bool late = m->from_ns > 0 || m->first_ns > JOINED_LATE_NS;
        const uint64_t from_ns = late ? m->first_ns : 0, to_ns = b->time_ns < m->to_ns ? b->time_ns : m->to_ns;

        if (b->time_ns == 0)
                m->flows[FLOW_ALLOCATED].total += is_within_range(m, 0) ? b->total : 0;
        else if (to_ns > from_ns)
                m->flows[FLOW_ALLOCATED].total += b->total * ((double)(to_ns - from_ns) / (double)b->time_ns);
}

int meter_end(struct run_meter *m)
{
        const struct world_target *t = world_targets(m->world) ? world_target(m->world, 0) : NULL;
        const Hw__Run *run = t && t->target ? t->target->run_info : NULL;
        int r = 0;

        m->target = t;
        if (t && t->heap && t->heap->has_allocated_bytes) /* allocation after the last collection has no sample */
                meter_allocated(m, m->last_ns, (double)t->heap->allocated_bytes);
        if (run && run->has_first_time_ns)
                m->first_ns = run->first_time_ns;
        m->first_ns = m->first_ns > m->from_ns ? m->first_ns : m->from_ns;
        m->last_ns = m->last_ns < m->to_ns ? m->last_ns : m->to_ns;
        allocated_before(m);
        if (!t || !meter_is_whole(m))
                return 0;
        meter_judge(m);
        for (uint32_t i = 0; i < t->n_ticky && r == 0; i++)
                r = rows_ticky(&m->rows, t->ticky[i]);
        for (uint32_t i = 0; i < t->n_stacks && r == 0; i++)
                if (t->stacks[i])
                        r = rows_stack(&m->rows, t->stacks[i]);
        return r;
}
