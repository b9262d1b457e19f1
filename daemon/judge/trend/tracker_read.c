/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tracker_read.c - answers: verdicts, statistics, growth, limits, notes.
 *
 * DESIGN: nothing is cached. Each answer is computed on request, from the
 * ladders here and the rings of the model.
 */
#include <math.h>
#include <string.h>

#include "proto/base/array.h"
#include "proto/base/ckd.h"
#include "daemon/model/sizing.h"
#include "daemon/judge/trend/tracker_private.h"
#include "proto/base/limits.h"

#define HOUR_POINTS        61u
#define NOTE_NEAR_STEPS    8u
#define NOTE_NEAR_PART     8u /* of the time since */
#define WIDER_PER_DOUBLING 0.05
#define SEGMENT_BYTES      (UINT64_C(1) << 15) /* of the nonmoving collector (rts/include: NONMOVING_SEGMENT_BITS) */

uint64_t tracker_watermark_ns(const struct tracker *t)
{
        return t->watermark_ns;
}

const struct tracker_config *tracker_config_of(const struct tracker *t)
{
        return &t->config;
}

uint64_t tracker_newest_ns(const struct tracker *t, struct subject s)
{
        struct series_view room;
        uint64_t own = 0;

        if (!s.band && (unsigned)s.series < SERIES_COUNT)
                own = model_series(t->model, s.series, &room)->total.cell.last_ns;
        return own > t->newest_ns ? own : t->newest_ns;
}

/* ---------------------------------------------------------------- verdicts */

struct trend *tracker_trend(const struct tracker *t, struct subject s)
{
        struct trend *trend = NULL;

        if (s.band) {
                struct band_state *band = tracker_band_state(t, s.band);
                trend = band ? &band->trend : NULL;
        } else if ((unsigned)s.series < SERIES_COUNT && t->series[s.series]) {
                trend = t->series[s.series]->trend;
        }
        return trend && trend->started ? trend : NULL;
}

static void set_over(struct trend_result *r, bool over)
{
        const bool too_short = r->verdict == TREND_UNKNOWN && r->verdict_in_ns != UINT64_MAX;

        r->over = over;
        if (!over)
                return;
        r->verdict_in_ns = too_short ? 0 : UINT64_MAX;
        r->verdict_by_ns = UINT64_MAX;
}

bool tracker_verdict_now(const struct tracker *t, struct subject s, struct trend_result *ret)
{
        struct trend *trend = tracker_trend(t, s);

        if (!trend)
                return false;
        trend_result(trend, ret);
        if (!s.band)
                tracker_early_refine_onset(t, s.series, ret);
        if (!s.band && ret->provisional.known && tracker_rises_now(t, s.series))
                ret->provisional.known = false; /* one rate a series: that of the rise */
        const uint64_t first_ns = model_first_time_ns(t->model);
        ret->is_part = first_ns != UNKNOWN_U64 && first_ns > JOINED_LATE_NS;
        set_over(ret, t->ended);
        return true;
}

/* Sets in a verdict that was kept whether the run is over by now. */
static bool read_kept(const struct growth_series *kept, bool ended, struct trend_result *ret)
{
        if (!kept->known)
                return false;
        *ret = kept->trend;
        set_over(ret, ended);
        return true;
}

bool tracker_verdict(const struct tracker *t, struct subject s, struct trend_result *ret)
{
        const struct standing *kept = s.band ? NULL : tracker_standing_kept(t);
        const unsigned place = tracker_judged_place(s.series);

        return kept && place < STANDING_SERIES ? read_kept(&kept->series[place], t->ended, ret)
                                               : tracker_verdict_now(t, s, ret);
}

enum trend_verdict tracker_verdict_alone(const struct tracker *t, struct subject s)
{
        const struct standing *kept = s.band ? NULL : tracker_standing_kept(t);
        const unsigned place = tracker_judged_place(s.series);

        if (kept && place < STANDING_SERIES)
                return kept->series[place].trend.verdict;
        const struct trend *trend = tracker_trend(t, s);
        return trend ? trend->verdict.now : TREND_UNKNOWN;
}

/* -------------------------------------------------------------- statistics */

double tracker_quantile(const struct tracker *t, struct subject s, struct time_range range, double q)
{
        const struct band_state *band = s.band ? tracker_band(t, s.band) : NULL;
        double v = NAN;

        if (band)
                (void)band_sketch_quantiles(&band->sketch, range, &q, 1, &v); /* without samples it stays */
        if (s.band || (unsigned)s.series >= SERIES_COUNT || !t->series[s.series])
                return v;
        return series_sketch_quantile(&t->series[s.series]->sketch, range, q);
}

static double clamp_value(double v, double low, double high)
{
        return v < low ? low : v > high ? high : v; /* NaN stays */
}

static bool band_statistics(const struct tracker *t, uint32_t id, struct time_range range, struct statistics *ret)
{
        static const double quantiles[] = { 0.5, 0.9, 0.99 };
        const struct band_state *state = tracker_band(t, id);
        const struct band *band = bands_get(model_bands(t->model), id);
        struct range_samples s;
        struct band_samples room;
        double q[3] = { NAN, NAN, NAN };

        if (!state || !band)
                return false;
        const struct band_samples *waiting = tracker_band_waiting(t, id, &room);
        if (range.from_ns == 0 && range.to_ns > t->bands_newest_ns) {
                s.all = band_total(band); /* also from before the band had a ladder */
                s.area = state->windows.area + (waiting ? waiting->area : 0);
                if (!s.all.cell.n)
                        return false;
        } else if (!band_windows_span(&state->windows, waiting, range, &s)) {
                return false;
        }
        (void)band_sketch_quantiles(&state->sketch, range, quantiles, 3, q); /* without samples they stay */
        statistics_of(&s.all, range, ret);
        ret->p50 = clamp_value(q[0], s.all.cell.min, s.all.cell.max);
        ret->p90 = clamp_value(q[1], s.all.cell.min, s.all.cell.max);
        ret->p99 = clamp_value(q[2], s.all.cell.min, s.all.cell.max);
        ret->integral = s.area;
        return true;
}

bool tracker_statistics(const struct tracker *t, struct subject s, struct time_range range, struct statistics *ret)
{
        struct series_view room;
        struct trend_cell b;

        if (s.band)
                return band_statistics(t, s.band, range, ret);
        if ((unsigned)s.series >= SERIES_COUNT || !t->series[s.series])
                return false;
        struct series_sketch *sketch = &t->series[s.series]->sketch;
        series_span(model_series(t->model, s.series, &room), range, &b);
        if (!b.cell.n)
                return false;
        statistics_of(&b, range, ret);
        ret->p50 = clamp_value(series_sketch_quantile(sketch, range, 0.5), b.cell.min, b.cell.max);
        ret->p90 = clamp_value(series_sketch_quantile(sketch, range, 0.9), b.cell.min, b.cell.max);
        ret->p99 = clamp_value(series_sketch_quantile(sketch, range, 0.99), b.cell.min, b.cell.max);
        ret->integral = series_sketch_area(sketch, range);
        return true;
}

bool tracker_band_span(const struct tracker *t, uint32_t band, struct time_range range, struct range_samples *ret)
{
        const struct band_state *state = tracker_band(t, band);
        struct band_samples room;

        return state && band_windows_span(&state->windows, tracker_band_waiting(t, band, &room), range, ret);
}

bool tracker_band_before(const struct tracker *t, uint32_t band, uint64_t time_ns, struct trend_cell *ret)
{
        const struct band_state *state = tracker_band(t, band);
        struct band_samples room;

        return state && band_windows_before(&state->windows, tracker_band_waiting(t, band, &room), time_ns, ret);
}

bool tracker_band_is_known(const struct tracker *t, uint32_t band, uint64_t from_ns)
{
        const struct band_state *state = tracker_band(t, band);
        const struct band *b = bands_get(model_bands(t->model), band);

        return state && b && (state->trend.first_ns <= from_ns || state->trend.first_ns <= b->first_seen_ns) &&
               band_windows_reach(&state->windows, from_ns);
}

uint64_t tracker_verdicts_still(const struct tracker *t)
{
        uint64_t resolution = t->config.trend.resolution_ns;

        return resolution - t->watermark_ns % resolution; /* the end of a minute */
}

/* ------------------------------------------------------------------ growth */

static void read_series(const struct tracker *t, enum series_id id, struct growth_series *ret)
{
        ret->known = tracker_verdict_now(t, subject_series(id), &ret->trend);
}

/* Whether `id` is not known to be flat over the interval in which `rising` rises. */
static bool in_doubt(const struct tracker *t, enum series_id id, const struct growth_series *rising)
{
        struct trend *trend = tracker_trend(t, subject_series(id));

        return growth_rises(rising) && rising->trend.has_slope && trend &&
               !trend_is_flat(trend, rising->trend.evidence.span_ns, rising->trend.slope);
}

static void find_doubts(const struct tracker *t, struct growth *g)
{
        const struct growth_series *heap = g->heap.trend.verdict >= TREND_GROWING ? &g->heap : &g->blocks;

        g->live_in_doubt = in_doubt(t, SERIES_LIVE, heap);
        g->heap_in_doubt = in_doubt(t, SERIES_HEAP_SIZE, growth_outside(g));
        g->over = t->ended;
}

static bool bands_rise(const struct growth *g, uint64_t live_bytes)
{
        double gained = 0;

        for (uint32_t i = 0; i < g->n_bands; i++)
                gained += g->bands[i].gained_low_bytes;
        return live_bytes != UNKNOWN_U64 && gained > 0 && gained * TREND_EXPLAINS >= (double)live_bytes;
}

static uint64_t outside_bytes(const struct heap *heap)
{
        const struct resident *r = &heap->resident;
        const double held = heap->facts[CARRIED_RESIDENT_HELD];

        if (r->rss_bytes != UNKNOWN_U64 && r->parts[RESIDENT_FOREIGN] != UNKNOWN_U64)
                return r->parts[RESIDENT_FOREIGN];
        if (isnan(held) || heap->heap_size_bytes == UNKNOWN_U64)
                return UNKNOWN_U64;
        return sub_sat(u64_sat(held), heap->heap_size_bytes);
}

void tracker_growth_now(const struct tracker *t, struct growth *g)
{
        const struct heap *heap = model_heap(t->model);
        const struct gc *gc = model_gc(t->model);
        const struct nonmoving *nm = &gc->nonmoving;

        *g = (struct growth){
                .as_of_ns = t->watermark_ns,
                .process_only = model_run(t->model)->process_only,
                .start_wall_ns = run_anchor_wall_ns(model_run(t->model)),
                .foreign_bytes = heap->resident.parts[RESIDENT_FOREIGN],
                .outside_bytes = outside_bytes(heap),
                .slop_bytes = gc->slop_bytes,
                .fragmentation_bytes = gc->fragmentation_bytes,
                .megablocks_held = heap->megablocks_held,
                .megablocks_needed = heap->megablocks_needed,
                .megablocks_returned = heap->megablocks_returned,
                .nonmoving_bytes = UNKNOWN_U64,
                .nonmoving_live_bytes = UNKNOWN_U64,
        };
        read_series(t, SERIES_LIVE, &g->live);
        read_series(t, SERIES_HEAP_SIZE, &g->heap);
        read_series(t, SERIES_BLOCKS_SIZE, &g->blocks);
        read_series(t, SERIES_RSS, &g->rss);
        read_series(t, SERIES_FOREIGN, &g->foreign);
        if (nm->n_census > 0)
                g->nonmoving_bytes = g->nonmoving_live_bytes = 0;
        for (uint32_t i = 0; i < nm->n_census; i++) {
                const struct nonmoving_segments *s = &nm->census[i];
                g->nonmoving_bytes += (s->active + s->filled) * SEGMENT_BYTES;
                g->nonmoving_live_bytes += s->live_blocks * s->block_bytes;
        }
        tracker_top_bands(t, g);
        g->bands_rise = bands_rise(g, t->ended ? heap->max_live_bytes : heap->live_bytes);
        find_doubts(t, g);
        g->where = growth_decide(g);
        g->live.trend.doubted = g->where == GROWTH_UNKNOWN && g->live.trend.verdict == TREND_STEADY &&
                                (g->live_in_doubt || g->bands_rise);
}

void tracker_growth(const struct tracker *t, struct growth *ret)
{
        const struct standing *kept = tracker_standing_kept(t);

        if (!kept) {
                tracker_growth_now(t, ret);
                return;
        }
        *ret = kept->growth;
        ret->over = t->ended;
        struct growth_series *const all[] = { &ret->live, &ret->heap, &ret->blocks, &ret->rss, &ret->foreign };
        for (size_t i = 0; i < ARRAY_SIZE(all); i++)
                set_over(&all[i]->trend, t->ended);
}

static bool is_growing(const struct tracker *t, uint32_t id, struct growing_band *ret)
{
        struct band_state *state = tracker_band_state(t, id);
        const struct band *band = state ? bands_get(model_bands(t->model), id) : NULL;
        struct waiting_group *threads = tracker_waiting_group(t, id);
        struct trend_result r;

        if (!band || state->trend.verdict.now < TREND_GROWING)
                return false;
        trend_result(&state->trend, &r);
        if (!r.has_slope)
                return false;
        *ret = (struct growing_band){
                .band = id,
                .verdict = r.verdict,
                .slope = r.slope,
                .gained_bytes = r.slope * ((double)r.evidence.span_ns / 1e9),
                .gained_low_bytes = r.evidence.sure_rise_bytes,
                .span_ns = r.evidence.span_ns,
                .onset_ns = r.onset_ns,
                .bytes = band->bytes,
        };
        if (threads)
                tracker_threads_growing(threads, ret);
        return true;
}

static bool is_of_all_threads(const struct tracker *t, uint32_t id)
{
        const char *label = bands_get(model_bands(t->model), id)->label;

        return !strcmp(label, "TSO") || !strcmp(label, "STACK");
}

/*
 * Where threads are told beside the bands, whose bytes are in TSO and STACK, growing groups of them that carry half of
 * what these two gain are named in their place; else these two are. So nothing is there twice.
 */
void tracker_top_bands(const struct tracker *t, struct growth *g)
{
        struct growing_band b;
        double of_groups = 0, of_all = 0;

        for (uint32_t i = 0; i < t->n_groups; i++)
                if (tracker_threads_grow_beside(t, i, &b))
                        of_groups += b.slope;
        for (uint32_t id = 1; of_groups > 0 && id <= t->n_bands; id++)
                if (is_growing(t, id, &b) && is_of_all_threads(t, id))
                        of_all += b.slope;
        const bool beside = of_groups > 0 && 2 * of_groups >= of_all;
        for (uint32_t i = 0; beside && i < t->n_groups; i++)
                if (tracker_threads_grow_beside(t, i, &b))
                        growing_bands_insert(g->bands, &g->n_bands, GROWTH_BANDS, &b);
        for (uint32_t id = 1; id <= t->n_bands; id++)
                if (is_growing(t, id, &b) && !(beside && is_of_all_threads(t, id)))
                        growing_bands_insert(g->bands, &g->n_bands, GROWTH_BANDS, &b);
}

/* ------------------------------------------------------------------ limits */

struct memory_limit tracker_process_limit(const struct tracker *t)
{
        const struct heap *heap = model_heap(t->model);
        struct memory_limit least = { t->config.given_limit_bytes, LIMIT_SOURCE_GIVEN };

        least = limit_least(least, t->config.recorded);
        least = limit_least(least, (struct memory_limit){ heap->process.cgroup_max_bytes, LIMIT_SOURCE_CGROUP });
        if (isnan(heap->facts[CARRIED_HEAP_RESERVED])) /* else it counts what is reserved, used or not */
                least = limit_least(least, (struct memory_limit){ heap->process.address_space_limit_bytes,
                                                                  LIMIT_SOURCE_ADDRESS_SPACE });
        least = limit_least(least, (struct memory_limit){ heap->process.data_limit_bytes, LIMIT_SOURCE_DATA });
        if (t->local)
                least = limit_least(least, (struct memory_limit){ t->config.memory_bytes, LIMIT_SOURCE_MEMORY });
        return least;
}

/* RLIMIT_DATA also counts what has been swapped, and what was never touched, such as most of the stacks of threads. */
double tracker_limit_room(const struct tracker *t, struct memory_limit limit)
{
        const struct process_sample *p = &model_heap(t->model)->process;

        if (limit.bytes == UNKNOWN_U64)
                return NAN;
        if (limit.source != LIMIT_SOURCE_DATA || p->data_bytes == UNKNOWN_U64 || p->rss_bytes == UNKNOWN_U64)
                return (double)limit.bytes;
        const uint64_t files = p->files_bytes == UNKNOWN_U64 ? 0 : p->files_bytes;
        return (double)sub_sat(limit.bytes, sub_sat(p->data_bytes, sub_sat(p->rss_bytes, files)));
}

struct memory_limit tracker_heap_limit(const struct tracker *t)
{
        bool reserved;
        const uint64_t bytes = heap_own_limit(model_run(t->model), model_heap(t->model), &reserved);
        const enum limit_source source = reserved ? LIMIT_SOURCE_RESERVED : LIMIT_SOURCE_MAX_HEAP;

        return limit_least((struct memory_limit){ bytes, source }, t->config.recorded_heap);
}

struct memory_limit tracker_limit(const struct tracker *t)
{
        return limit_least(tracker_process_limit(t), tracker_heap_limit(t));
}

/*
 * What the address space still has for memory outside of a reserved heap; NaN: no limit. Of a process without a log the
 * one grows that is most of its memory.
 */
double tracker_space_left(const struct tracker *t)
{
        const struct heap *heap = model_heap(t->model);
        const struct process_sample *p = &heap->process;
        const uint64_t foreign = heap->resident.parts[RESIDENT_FOREIGN];
        const bool is_heap = model_run(t->model)->process_only && !isnan(heap->facts[CARRIED_HEAP_RESERVED]) &&
                             (foreign == UNKNOWN_U64 || (double)foreign < heap->facts[CARRIED_RESIDENT_HELD] / 2);

        if (is_heap || p->address_space_limit_bytes == UNKNOWN_U64 || p->address_space_bytes == UNKNOWN_U64)
                return NAN;
        return (double)sub_sat(p->address_space_limit_bytes, p->address_space_bytes);
}

/*
 * How much heap the collector held per live byte over the last hour of this run, over the minutes that have both: live
 * bytes may be known ever more rarely as they grow, and their mean would be that of the beginning.
 */
static double heap_over_live(const struct tracker *t)
{
        struct series_view room;
        struct time_range hour = { sub_sat(t->watermark_ns, NS_PER_HOUR), t->watermark_ns };
        struct point live[HOUR_POINTS], heap[HOUR_POINTS];
        size_t n = series_history(model_series(t->model, SERIES_LIVE, &room), hour, NS_PER_MINUTE, live, HOUR_POINTS);
        size_t n_heap =
                series_history(model_series(t->model, SERIES_HEAP_SIZE, &room), hour, NS_PER_MINUTE, heap, HOUR_POINTS);
        double live_sum = 0, heap_sum = 0;

        for (size_t i = 0, k = 0; i < n && k < n_heap;) {
                if (live[i].time_ns == heap[k].time_ns) {
                        live_sum += live[i].cell.mean;
                        heap_sum += heap[k].cell.mean;
                }
                if (live[i].time_ns <= heap[k].time_ns)
                        i++;
                else
                        k++;
        }
        return live_sum > 0 ? fmax(1, heap_sum / live_sum) : NAN;
}

/* What it will be where the limit is met. Near -M the collector takes less than it did when there was room. */
static double heap_over_live_at(const struct tracker *t, const struct memory_limit *limit)
{
        struct sizing s = sizing_of(model_run(t->model), model_heap(t->model));
        uint64_t most = sizing_most_live(&s);

        if (limit->source != LIMIT_SOURCE_MAX_HEAP || most == UNKNOWN_U64 || most == 0)
                return heap_over_live(t);
        return fmin(heap_over_live(t), (double)limit->bytes / (double)most);
}

/* The series whose growth meets the limit; SERIES_COUNT: none grows. */
static enum series_id growing_series(const struct growth *g, enum limit_source limit)
{
        switch (g->where) {
        case GROWTH_LIVE:
                return SERIES_LIVE;
        case GROWTH_RETENTION:
                return growth_rises(&g->heap) ? SERIES_HEAP_SIZE : SERIES_BLOCKS_SIZE;
        case GROWTH_FOREIGN:
                return growth_rises(&g->rss) ? SERIES_RSS : SERIES_FOREIGN;
        case GROWTH_UNKNOWN:
                /* What the limit counts grows, it is not known why: live data may be known too rarely for a verdict. */
                if (growth_rises(&g->rss) && (g->process_only || !limit_is_of_heap(limit)))
                        return SERIES_RSS;
                return growth_rises(&g->heap) ? SERIES_HEAP_SIZE : SERIES_COUNT;
        case GROWTH_NOWHERE:
                break;
        }
        return SERIES_COUNT;
}

/* Whether any of these grows: else growing_series() has none. */
static bool may_meet_limit(const struct tracker *t)
{
        static const enum series_id counted[] = { SERIES_LIVE, SERIES_HEAP_SIZE, SERIES_BLOCKS_SIZE, SERIES_RSS,
                                                  SERIES_FOREIGN };

        for (size_t i = 0; i < ARRAY_SIZE(counted); i++) {
                const struct trend *trend = tracker_trend(t, subject_series(counted[i]));
                if (trend && trend->verdict.now >= TREND_GROWING)
                        return true;
        }
        return false;
}

/*
 * The limit in the growing series' own bytes: less what counts besides, and the collector's need. What the runtime has
 * given back and pages of files do not count: the kernel takes them first.
 */
static double room_for(const struct tracker *t, const struct growth *g, const struct limit_time *l)
{
        const bool counts_all = !limit_is_of_heap(l->limit.source) && g->outside_bytes != UNKNOWN_U64;
        double room = tracker_limit_room(t, l->limit);

        if (counts_all && l->series != SERIES_RSS && l->series != SERIES_FOREIGN)
                room -= (double)g->outside_bytes;
        if (l->series == SERIES_FOREIGN && g->heap.known && g->heap.trend.evidence.level_bytes > 0)
                room -= g->heap.trend.evidence.level_bytes;
        return l->series == SERIES_LIVE ? room / l->heap_over_live : room;
}

/* Memory outside of a reserved heap may meet the limit of the address space first, which counts all that is mapped. */
static void bound_by_space(const struct tracker *t, double *room, struct limit_time *l)
{
        struct series_view view;
        const struct series *series = model_series(t->model, l->series, &view);
        const double most = (double)series->total.cell.last + tracker_space_left(t);

        if (isnan(most) || *room <= most)
                return;
        *room = most;
        l->limit.bytes = model_heap(t->model)->process.address_space_limit_bytes;
        l->limit.source = LIMIT_SOURCE_ADDRESS_SPACE;
}

static double less_age(double seconds, double age_s)
{
        return isnan(seconds) ? NAN : fmax(seconds - age_s, 0);
}

/*
 * The interval's ends are those of slopes that were seen: far beyond the time in which they were, growth need not go on
 * as it did. For each doubling of that time the interval is at least 5 % of its middle wider, to both sides.
 */
static void widen_for_distance(struct limit_time *l, double span_s)
{
        if (!(span_s > 0) || !(l->mid_s > span_s) || !isfinite(l->mid_s))
                return;
        const double more = 1 + WIDER_PER_DOUBLING * log2(l->mid_s / span_s);

        l->low_s = fmin(l->low_s, l->mid_s / more);
        l->high_s = isnan(l->high_s) ? l->high_s : fmax(l->high_s, l->mid_s * more);
}

bool tracker_time_to_limit(const struct tracker *t, struct limit_time *ret)
{
        const struct standing *kept = tracker_standing_kept(t);

        if (!kept)
                return tracker_time_to_limit_now(t, ret);
        *ret = kept->limit;
        ret->ended = t->ended;
        return kept->has_limit;
}

bool tracker_time_to_limit_now(const struct tracker *t, struct limit_time *ret)
{
        struct growth g;
        struct time_to_limit ttl;
        struct trend_result r;

        *ret = (struct limit_time){
                .limit = tracker_limit(t), .as_of_ns = t->watermark_ns, .ended = t->ended, .heap_over_live = NAN
        };
        if (!may_meet_limit(t))
                return false;
        tracker_growth_now(t, &g);
        if (g.where == GROWTH_FOREIGN)
                ret->limit = tracker_process_limit(t);
        ret->series = growing_series(&g, ret->limit.source);
        if (ret->series == SERIES_COUNT)
                return false;
        ret->heap_over_live = ret->series == SERIES_LIVE ? heap_over_live_at(t, &ret->limit) : NAN;
        struct trend *trend = tracker_trend(t, subject_series(ret->series));
        if (!trend)
                return false;
        trend_result(trend, &r);
        double room = room_for(t, &g, ret);
        if (g.where == GROWTH_FOREIGN || model_run(t->model)->process_only)
                bound_by_space(t, &room, ret);
        if (isnan(room) || !trend_time_to_limit(trend, room, &ttl) || isnan(ttl.early_s))
                return false;
        double age_s = (double)sub_sat(t->watermark_ns, r.evidence.ended_ns) / 1e9;
        double middle = r.slope > 0 ? fmax(room - r.evidence.level_bytes, 0) / r.slope : NAN;
        ret->low_s = less_age(ttl.early_s, age_s);
        ret->high_s = less_age(ttl.late_s, age_s);
        ret->mid_s = clamp_value(less_age(middle, age_s), ret->low_s, isnan(ret->high_s) ? INFINITY : ret->high_s);
        widen_for_distance(ret, (double)r.evidence.span_ns / 1e9);
        return true;
}

/* ------------------------------------------------------------------- notes */

/* How far from an onset a note may be to explain it: an onset is accurate to some steps, or to a part of the growth. */
static uint64_t note_reach(const struct tracker *t, uint64_t onset_ns)
{
        uint64_t steps = NOTE_NEAR_STEPS * t->config.trend.resolution_ns;
        uint64_t part = sub_sat(t->watermark_ns, onset_ns) / NOTE_NEAR_PART;

        return steps > part ? steps : part;
}

/* A marker is better than a message; of each kind the nearest. */
static bool explains_better(const struct note *a, uint64_t a_ns, const struct note *b, uint64_t b_ns)
{
        bool a_marker = a->what == NOTE_MARKER, b_marker = b->what == NOTE_MARKER;

        return a_marker != b_marker ? a_marker : a_ns < b_ns;
}

static const struct note *note_near(const struct tracker *t, uint64_t time_ns, bool before)
{
        const struct notes *notes = model_notes(t->model);
        uint64_t reach = note_reach(t, time_ns), best_ns = 0;
        const struct note *best = NULL;

        for (uint32_t i = 0; i < notes_landmarks(notes); i++) {
                const struct note *n = notes_landmark(notes, i);
                uint64_t away = before ? time_ns - n->time_ns : n->time_ns - time_ns;
                if ((n->time_ns <= time_ns) != before || away > reach)
                        continue;
                if (best && !explains_better(n, away, best, best_ns))
                        continue;
                best = n;
                best_ns = away;
        }
        return best;
}

const struct note *tracker_note_before(const struct tracker *t, uint64_t time_ns)
{
        return note_near(t, time_ns, true);
}

const struct note *tracker_note_after(const struct tracker *t, uint64_t time_ns)
{
        return note_near(t, time_ns, false);
}

/* ---------------------------------------------------------------- counters */

uint64_t tracker_late(const struct tracker *t)
{
        uint64_t late = 0;

        for (unsigned i = 0; i < SERIES_COUNT; i++)
                late += t->series[i] && t->series[i]->trend ? t->series[i]->trend->late : 0;
        for (uint32_t i = 0; i < t->n_full; i++)
                late += t->full[i]->trend.late;
        return late;
}

uint64_t tracker_bands_left_out(const struct tracker *t)
{
        return t->n_refused;
}

static uint64_t held_by_series(const struct series_state *s)
{
        return sizeof(*s) + series_sketch_held(&s->sketch) + (s->trend ? sizeof(*s->trend) + trend_held(s->trend) : 0);
}

/* Asked of each target once a second: not a walk over its bands. */
uint64_t tracker_held_bytes(const struct tracker *t)
{
        uint64_t held = sizeof(*t) + t->n_bands * (sizeof(*t->places) + sizeof(*t->refused_bytes)) +
                        t->full_room * (sizeof(*t->full) + sizeof(*t->now) + sizeof(*t->values) + sizeof(*t->recent));

        held += t->n_full * sizeof(struct band_state) + t->bands_held;
        for (uint32_t i = 0; i < t->n_groups; i++)
                held += sizeof(t->groups[i]) + trend_held(&t->groups[i].number);
        for (unsigned i = 0; i < SERIES_COUNT; i++)
                held += t->series[i] ? held_by_series(t->series[i]) : 0;
        return held;
}
