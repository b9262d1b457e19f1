/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * live.c - DESIGN: a meter (meter.h) is filled as from an archive: levels and rates from the points of the
 * history, then what the daemon counts exactly replaces what was summed up.
 */
#include "client/past/diff/side.h"

#include <math.h>
#include <string.h>

#include "client/cli/absent.h"
#include "client/world/history/history.h"
#include "proto/base/array.h"
#include "proto/base/error.h"

#define BUCKET_BITS 5u /* of Generation.bucket, docs/PROTOCOL.md */

struct asking {
        struct run_meter *meter;
        struct past *past; /* a history is asked for */
        const char *target;
        int status;
        struct error *error;
        bool refused;
};

/* ----------------------------------------------------------------------- requests */

static void on_reply(void *ctx, const Hw__Reply *reply)
{
        struct asking *a = ctx;

        if (reply->error && !a->refused)
                a->refused = !error_set(a->error, "%s: %s", a->target, reply->error);
        if (reply->what_case == HW__REPLY__WHAT_HISTORY && a->past && a->status == 0)
                a->status = history_points_of(reply->history, a->past);
        if (reply->what_case == HW__REPLY__WHAT_UPDATE && !a->past && a->status == 0)
                a->status = world_apply(a->meter->world, 0, reply->update);
}

/* Sends and frees it. */
static bool send_request(struct asking *a, const char *endpoint, Hw__Request *request)
{
        struct error error;
        const bool answered = absent_request(endpoint, request, on_reply, a, &error);

        hw_request_destroy(&request);
        if (a->refused)
                return false;
        if (!answered || a->status < 0)
                return error_set(a->error, "%s: %s", a->target, answered ? strerror(-a->status) : error.text);
        return true;
}

static bool request_snapshot(struct asking *a, const char *endpoint)
{
        static const Hw__Kind kinds[] = { HW__KIND__KIND_TARGET, HW__KIND__KIND_HEAP, HW__KIND__KIND_GC,
                                          HW__KIND__KIND_TREND };
        Hw__Request *request = hw_request_new(HW__REQUEST__WHAT_SNAPSHOT);
        bool good = request && hw_request_add_target(request->snapshot, a->target) == 0;

        for (size_t i = 0; good && i < ARRAY_SIZE(kinds); i++)
                good = hw_request_add_kind(request->snapshot, kinds[i]) == 0;
        if (!good)
                hw_request_destroy(&request);
        return send_request(a, endpoint, request);
}

static bool request_history(struct asking *a, const char *endpoint, Hw__Series series, struct past *ret)
{
        Hw__Request *request = hw_request_new(HW__REQUEST__WHAT_HISTORY);

        if (request && hw_request_set_text(&request->history->target, a->target) < 0)
                hw_request_destroy(&request);
        if (request) {
                request->history->has_series = true;
                request->history->series = series;
        }
        a->past = ret;
        bool good = send_request(a, endpoint, request);
        a->past = NULL;
        return good;
}

/* ---------------------------------------------------------------------- the history */

/* Straight lines between points; within one of several samples its mean. */
static void fill_gauge(struct gauge *g, const struct past *p)
{
        for (size_t i = 0; i < p->n; i++) {
                const struct point *x = &p->points[i];
                double first = x->cell.n > 1 ? x->cell.mean : x->cell.last;
                uint64_t from = x->cell.n > 1 ? x->time_ns : x->cell.last_ns;
                if (g->samples.n && from > g->samples.last_ns)
                        bins_add(&g->bins, g->samples.last_ns, from, g->samples.last, first);
                if (x->cell.last_ns > from)
                        bins_add(&g->bins, from, x->cell.last_ns, x->cell.mean, x->cell.mean);
                cell_merge(&g->samples, &x->cell);
        }
}

/* What a point adds, spread over the time since the one before. */
static void fill_flow(struct flow *f, const struct past *p, double (*amount)(const struct point *x))
{
        uint64_t before = p->n ? p->points[0].time_ns : 0;

        for (size_t i = 0; i < p->n; i++) {
                const struct point *x = &p->points[i];
                double per_ns = x->cell.last_ns > before ? amount(x) / (double)(x->cell.last_ns - before) : 0;
                f->known = true;
                f->total += amount(x);
                if (x->cell.last_ns > before)
                        bins_add(&f->rate, before, x->cell.last_ns, per_ns, per_ns);
                before = x->cell.last_ns > before ? x->cell.last_ns : before;
        }
}

static double sum_of(const struct point *x)
{
        return x->cell.mean * (double)x->cell.n;
}

static double count_of(const struct point *x)
{
        return (double)x->cell.n;
}

static void fill_allocated(struct run_meter *m, const struct past *p)
{
        struct flow *f = &m->flows[FLOW_ALLOCATED];

        if (p->n > 0)
                m->before.total = p->points[0].cell.min;
        for (size_t i = 1; i < p->n; i++) {
                const struct point *a = &p->points[i - 1], *b = &p->points[i];
                double per_ns = b->cell.last_ns > a->cell.last_ns
                                        ? (b->cell.last - a->cell.last) / (double)(b->cell.last_ns - a->cell.last_ns)
                                        : 0;
                if (b->cell.last_ns > a->cell.last_ns)
                        bins_add(&f->rate, a->cell.last_ns, b->cell.last_ns, per_ns, per_ns);
        }
}

static void fill_meter(struct run_meter *m, Hw__Series series, const struct past *p)
{
        switch (series) {
        case HW__SERIES__SERIES_LIVE:
                fill_gauge(&m->gauges[GAUGE_LIVE], p);
                break;
        case HW__SERIES__SERIES_HEAP_SIZE:
                fill_gauge(&m->gauges[GAUGE_HEAP], p);
                break;
        case HW__SERIES__SERIES_RSS:
                fill_gauge(&m->gauges[GAUGE_RSS], p);
                break;
        case HW__SERIES__SERIES_CENSUS_TOTAL:
                fill_gauge(&m->gauges[GAUGE_CENSUS], p);
                break;
        case HW__SERIES__SERIES_GC_PAUSE:
                fill_gauge(&m->gauges[GAUGE_PAUSE], p);
                fill_flow(&m->flows[FLOW_GC], p, sum_of);
                fill_flow(&m->flows[FLOW_COLLECTIONS], p, count_of);
                break;
        case HW__SERIES__SERIES_COPIED:
                fill_flow(&m->flows[FLOW_COPIED], p, sum_of);
                break;
        default:
                fill_allocated(m, p);
        }
}

static bool fill_series(struct asking *a, const char *endpoint)
{
        static const Hw__Series series[] = {
                HW__SERIES__SERIES_LIVE,         HW__SERIES__SERIES_HEAP_SIZE, HW__SERIES__SERIES_RSS,
                HW__SERIES__SERIES_CENSUS_TOTAL, HW__SERIES__SERIES_GC_PAUSE,  HW__SERIES__SERIES_COPIED,
                HW__SERIES__SERIES_ALLOCATED,
        };
        bool good = true;

        for (size_t i = 0; good && i < ARRAY_SIZE(series); i++) {
                struct past p = { .n = 0 };
                good = request_history(a, endpoint, series[i], &p);
                if (good)
                        fill_meter(a->meter, series[i], &p);
                past_done(&p);
        }
        return good;
}

/* -------------------------------------------------------------------- exact numbers */

static void set_total(struct flow *f, bool known, double total)
{
        f->known = known;
        f->total = total;
}

static void count_pauses(struct run_meter *m, const Hw__Generation *g)
{
        size_t n = g->n_bucket < g->n_bucket_count ? g->n_bucket : g->n_bucket_count;

        for (size_t i = 0; i < n; i++) {
                if (g->bucket[i] >= SKETCH_CELLS(BUCKET_BITS, 64u))
                        continue;
                uint64_t middle = (uint64_t)sketch_middle(BUCKET_BITS, g->bucket[i]);
                if (g->has_pause_max_ns && middle > g->pause_max_ns)
                        middle = g->pause_max_ns;
                m->pauses[sketch_cell(PAUSE_BITS, middle)] += g->bucket_count[i];
                m->n_pauses += g->bucket_count[i];
        }
}

static void set_collections(struct run_meter *m, const Hw__Gc *gc)
{
        double count = 0, longest = 0, pauses = 0;

        for (size_t i = 0; i < gc->n_generations; i++) {
                const Hw__Generation *g = gc->generations[i];
                count += (double)g->count;
                pauses += (double)g->pause_total_ns;
                longest = fmax(longest, (double)g->pause_max_ns);
                count_pauses(m, g);
        }
        set_total(&m->flows[FLOW_COLLECTIONS], true, count);
        set_total(&m->flows[FLOW_COPIED], gc->has_copied_bytes, (double)gc->copied_bytes);
        set_total(&m->flows[FLOW_GC], gc->has_pause_total_ns && !gc->counted, pauses);
        m->gauges[GAUGE_PAUSE].samples.n = m->n_pauses;
        m->gauges[GAUGE_PAUSE].samples.max = longest;
}

static void set_peak(struct gauge *g, bool known, uint64_t most)
{
        if (known && g->samples.n)
                g->samples.max = (double)most;
}

static void set_exact(struct run_meter *m, const struct world_target *t)
{
        const Hw__Run *run = t->target ? t->target->run_info : NULL;

        m->any = t->event_time_ns > 0;
        m->first_ns = run && run->has_first_time_ns ? run->first_time_ns : 0;
        m->last_ns = t->event_time_ns;
        if (t->heap) {
                set_total(&m->flows[FLOW_ALLOCATED], t->heap->has_allocated_bytes, (double)t->heap->allocated_bytes);
                set_peak(&m->gauges[GAUGE_LIVE], t->heap->has_max_live_bytes, t->heap->max_live_bytes);
                set_peak(&m->gauges[GAUGE_HEAP], t->heap->has_max_heap_size_bytes, t->heap->max_heap_size_bytes);
        }
        if (t->gc)
                set_collections(m, t->gc);
        /* the runtime's own counters are of its whole life, and only a part of that may have been seen */
        if (t->gc && t->gc->counted)
                m->flows[FLOW_ALLOCATED].total -= m->before.total;
}

/* ------------------------------------------------------------------------------ all */

static bool read_target(struct side *s, struct asking *a, const char *endpoint)
{
        struct run_meter *m = a->meter;

        if (!request_snapshot(a, endpoint))
                return false;
        if (!world_targets(m->world))
                return error_set(a->error, "there is no target %s", a->target);
        const struct world_target *t = world_target(m->world, 0);
        if (!t->run)
                return error_set(a->error, "%s has no run of a program yet", a->target);
        if (!fill_series(a, endpoint))
                return false;
        set_exact(m, t);
        m->target = t;
        meter_judge(m);
        struct side_run *run = side_add_described(s, a->target, t->run, m);
        if (!run)
                return error_set(a->error, "out of memory");
        run->live = true;
        run->truncated &= t->target && t->target->state != HW__TARGET__STATE__STATE_RUNNING;
        return true;
}

bool side_read_live(struct side *s, const char *endpoint, const char *target, struct error *error)
{
        struct run_meter meter;
        struct asking a = { .meter = &meter, .target = target, .error = error };
        bool good = meter_begin(&meter, 0, UINT64_MAX) == 0 ? read_target(s, &a, endpoint)
                                                            : error_set(error, "out of memory");

        meter_done(&meter);
        return good;
}
