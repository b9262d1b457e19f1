/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: samples come from the model's series and the gauges, exact to the
 * second before the moment; verdicts and limits from the tracker, whose
 * watermark is the same. Times of collections and of the processor are kept in
 * ns and given in seconds. Labels of bands are as displayed to people.
 */
#include <math.h>
#include <string.h>

#include "daemon/watch/alerting/internal.h"
#include "daemon/publish/sentences.h"
#include "daemon/judge/rules/data.h"
#include "proto/base/ckd.h"
#include "proto/base/process.h"
#include "daemon/model/sizing.h"
#include "proto/facts/facts.h"
#include "proto/base/time.h"

#define RECENT_NS (10 * NS_PER_S)  /* of rates and shares */
#define WHOSE_NS  (300 * NS_PER_S) /* of whose time collections take: censuses may come minutes apart */
#define UNKNOWN   ((double)NAN)

static double number_or_nan(uint64_t value)
{
        return value == UNKNOWN_U64 ? UNKNOWN : (double)value;
}

static double ns_to_seconds(uint64_t ns)
{
        return ns == UNKNOWN_U64 ? UNKNOWN : (double)ns / 1e9; /* not times 1e-9: 120 s would be more than 120 */
}

/* --------------------------------------------------------------------- samples */

static struct subject tracked_subject(struct rule_subject s)
{
        return s.id == RULE_BAND ? subject_band(s.band) : subject_series((enum series_id)s.id);
}

static bool is_gauge(enum rule_series id)
{
        return (unsigned)id >= SERIES_COUNT && id != RULE_BAND;
}

static const struct series *series_of(const struct alerting *a, enum rule_series id, struct series_view *room)
{
        return is_gauge(id) ? &a->gauges[GAUGE(id)].series : model_series(a->model, (enum series_id)id, room);
}

/* From ns, as the model keeps times, to seconds. */
static double unit_of(enum rule_series id)
{
        return (unsigned)id < SERIES_COUNT && series_rows[id].unit == FACT_NS ? 1e-9 : 1;
}

static void scale_cell(enum rule_series id, struct trend_cell *c)
{
        const double k = unit_of(id);

        c->cell.min *= k;
        c->cell.max *= k;
        c->cell.last *= k;
        c->cell.mean *= k;
        c->m_tv *= k;
        c->m_vv *= k * k;
}

static bool data_span(void *ctx, struct rule_subject s, struct time_range range, struct trend_cell *ret)
{
        struct series_view room;
        struct alerting *a = ctx;

        if (s.id == RULE_BAND)
                *ret = alerting_band_span(a, s.band, range).all;
        else
                (void)history_span(series_of(a, s.id, &room), range, ret);
        scale_cell(s.id, ret);
        return ret->cell.n > 0;
}

static bool data_newest(void *ctx, struct rule_subject s, uint64_t before_ns, struct trend_cell *ret)
{
        struct series_view room;
        struct alerting *a = ctx;
        bool any = s.id == RULE_BAND ? alerting_band_newest(a, s.band, before_ns, ret)
                                     : history_newest(series_of(a, s.id, &room), before_ns, ret);

        if (any)
                scale_cell(s.id, ret);
        return any;
}

static bool data_oldest(void *ctx, struct rule_subject s, struct time_range range, struct trend_cell *ret)
{
        struct series_view room;
        struct alerting *a = ctx;

        if (s.id == RULE_BAND)
                *ret = alerting_band_span(a, s.band, range).oldest;
        else
                (void)history_oldest(series_of(a, s.id, &room), range, ret);
        scale_cell(s.id, ret);
        return ret->cell.n > 0;
}

static double data_integral(void *ctx, struct rule_subject s, struct time_range range)
{
        struct series_view room;
        struct alerting *a = ctx;

        return unit_of(s.id) * (s.id == RULE_BAND ? alerting_band_span(a, s.band, range).area
                                                  : history_integral(series_of(a, s.id, &room), range));
}

/* Of the model's series and of bands; gauges have none. */
static double data_quantile(void *ctx, struct rule_subject s, struct time_range range, double q)
{
        struct alerting *a = ctx;

        return is_gauge(s.id) ? UNKNOWN : unit_of(s.id) * tracker_quantile(a->tracker, tracked_subject(s), range, q);
}

/* -------------------------------------------------------------------- verdicts */

static enum trend_verdict data_verdict(void *ctx, struct rule_subject s)
{
        const struct alerting *a = ctx;

        return is_gauge(s.id) ? TREND_UNKNOWN : tracker_verdict_alone(a->tracker, tracked_subject(s));
}

bool alerting_trend(void *ctx, struct rule_subject s, struct trend_result *ret)
{
        struct alerting *a = ctx;

        return !is_gauge(s.id) && tracker_verdict(a->tracker, tracked_subject(s), ret);
}

static bool is_judged(const struct alerting *a, enum series_id id)
{
        return tracker_verdict_alone(a->tracker, subject_series(id)) != TREND_UNKNOWN;
}

/* Infinite while nothing grows; unknown without a limit, or while nothing has a verdict. */
static double time_to_limit_s(const struct alerting *a, bool late)
{
        struct limit_time l;

        if (tracker_time_to_limit(a->tracker, &l)) {
                double s = late ? l.high_s : l.low_s;
                return isnan(s) ? (double)INFINITY : s;
        }
        if (tracker_limit(a->tracker).bytes == UNKNOWN_U64 ||
            (!is_judged(a, SERIES_LIVE) && !is_judged(a, SERIES_HEAP_SIZE)))
                return UNKNOWN;
        return (double)INFINITY;
}

/* ----------------------------------------------------------------------- facts */

static bool runs_out(const struct alerting *a)
{
        struct tracked_early rise;

        return tracker_early(a->tracker, &rise) && rise.runs_out;
}

static bool threads_pile_up(const struct alerting *a)
{
        struct thread_rise rise;

        return tracker_thread_rise(a->tracker, &rise);
}

static bool gc_events_missing(const struct model *m)
{
        enum hw_advice codes[HW_ADVICE_COUNT];
        size_t n = model_advice(m, 0, codes, HW_ADVICE_COUNT);

        for (size_t i = 0; i < n; i++)
                if (codes[i] == HW_ADVICE_NO_GC_EVENTS)
                        return true;
        return false;
}

/* Times in seconds. */
static double carried_number(const struct model *m, enum rule_series id)
{
        const unsigned carried = (unsigned)id - RULE_SERIES_COUNT;

        if ((unsigned)id < RULE_SERIES_COUNT || carried >= CARRIED_FACTS)
                return UNKNOWN;
        return model_heap(m)->facts[carried] / (fact_rows[carried_facts[carried]].unit == FACT_NS ? 1e9 : 1);
}

static double data_fact(void *ctx, enum rule_series id, const struct rule_moment *at)
{
        struct alerting *a = ctx;

        switch (id) {
        case RULE_CRASHED:
        case RULE_FAILED:
                if (a->run == 0 && a->end == ALERTING_ENDED && a->crashes == 0 && a->failures == 0)
                        return UNKNOWN; /* it has not begun, nor ended before its log began */
                return a->end == (id == RULE_CRASHED ? ALERTING_CRASHED : ALERTING_FAILED);
        case RULE_GC_EVENTS_MISSING:
                return a->run > 0 ? gc_events_missing(a->model) : UNKNOWN;
        case RULE_PROCESS_ONLY:
                return a->run > 0 ? model_run(a->model)->process_only : UNKNOWN;
        case RULE_RECORDING_PAUSED:
                return a->live ? a->pause[0] != '\0' : UNKNOWN;
        case RULE_RECORDING_PAUSED_FIRST:
                return a->live ? a->pause_first : UNKNOWN;
        case RULE_STREAM_LAG:
                return a->in_run ? ns_to_seconds(a->lag_ns) : UNKNOWN;
        case RULE_STREAM_GAP:
                return a->live && a->in_run ? ns_to_seconds(a->gap_ns) : UNKNOWN;
        case RULE_STREAM_IDLE:
                if (!a->live || a->heartbeat_wall_ns == UNKNOWN_U64)
                        return UNKNOWN;
                if (!a->in_run || a->last_bytes_wall_ns == UNKNOWN_U64)
                        return 0; /* nothing is expected */
                return ns_to_seconds(sub_sat(a->heartbeat_wall_ns, a->last_bytes_wall_ns));
        case RULE_TIME_TO_LIMIT:
        case RULE_TIME_TO_LIMIT_LATE:
                return time_to_limit_s(a, id == RULE_TIME_TO_LIMIT_LATE);
        case RULE_RUNS_OUT:
                return a->run > 0 ? runs_out(a) : UNKNOWN;
        case RULE_THREADS_PILE_UP:
                return a->run > 0 ? threads_pile_up(a) : UNKNOWN;
        default:
                return a->run > 0 ? carried_number(a->model, id) : UNKNOWN;
        }
}

/* Gauges get a sample at each tick, windows of series a new end: only the newest sample of a series stays the same. */
static uint64_t data_still(void *ctx, struct rule_subject s, struct time_range range, bool verdict)
{
        struct series_view room;
        const struct alerting *a = ctx;

        if (is_gauge(s.id))
                return 0;
        if (verdict)
                return tracker_verdicts_still(a->tracker);
        if (s.id == RULE_BAND)
                return alerting_band_still(a, s.band, range);
        bool over = series_of(a, s.id, &room)->total.cell.last_ns < range.to_ns;
        return over && range.from_ns == range.to_ns ? UINT64_MAX : 0;
}

static uint64_t data_began(void *ctx, bool of_target)
{
        const struct alerting *a = ctx;

        return of_target ? a->began_ns : model_first_time_ns(a->model);
}

/* ----------------------------------------------------------------------- bands */

static uint32_t data_bands(void *ctx)
{
        return bands_count(model_bands(((struct alerting *)ctx)->model));
}

/* The runtime writes FILE:SPAN, and ":" when the source is not known. */
static const char *known_source(const char *source)
{
        return source && strcmp(source, ":") != 0 ? source : NULL;
}

_Static_assert(BAND_TEXT_ROOM >= LABEL_MAX, "the texts of a band have room for a label");

static bool data_band(void *ctx, uint32_t id, struct band_texts *ret)
{
        const struct bands *bands = model_bands(((struct alerting *)ctx)->model);
        const struct band *b = bands_get(bands, id);

        memset(ret->of, 0, sizeof(ret->of));
        if (!b)
                return false;
        ret->of[BAND_LABEL] = label_of_row(ret->label, bands, b);
        ret->of[BAND_NAME] = label_band_name(ret->name, bands, b) > 0 ? ret->name : NULL;
        if (b->info_table) {
                ret->of[BAND_MODULE] = b->info_table->module;
                ret->of[BAND_SOURCE] = known_source(b->info_table->source);
                ret->of[BAND_TYPE_NAME] = b->info_table->type;
        } else if (b->depth > 0) {
                struct cost_centre top = bands_cost_centre(bands, b->stack[0]);
                ret->of[BAND_MODULE] = top.module;
                ret->of[BAND_SOURCE] = known_source(top.source);
        }
        return true;
}

struct rule_data alerting_data(struct alerting *a)
{
        return (struct rule_data){
                .ctx = a,
                .span = data_span,
                .newest = data_newest,
                .oldest = data_oldest,
                .integral = data_integral,
                .quantile = data_quantile,
                .fact = data_fact,
                .verdict = data_verdict,
                .trend = alerting_trend,
                .still_ns = data_still,
                .began_ns = data_began,
                .bands = data_bands,
                .band = data_band,
                .words = alerting_words,
                .note = alerting_note,
        };
}

/* ---------------------------------------------------------------------- gauges */

static void push_value(struct alerting *a, enum rule_series id, uint64_t time_ns, double value)
{
        gauge_push(&a->gauges[GAUGE(id)], time_ns, value);
}

/* Bytes per second over the last RECENT_NS, from the counter of allocated bytes. */
static double allocation_rate(const struct alerting *a, uint64_t time_ns)
{
        struct series_view room;
        const struct series *s = model_series(a->model, SERIES_ALLOCATED, &room);
        struct trend_cell now, before;

        if (!history_newest(s, time_ns, &now) || !history_newest(s, sub_sat(time_ns, RECENT_NS), &before) ||
            now.cell.last_ns <= before.cell.last_ns)
                return UNKNOWN;
        return (now.cell.last - before.cell.last) / ns_to_seconds(now.cell.last_ns - before.cell.last_ns);
}

static struct time_range range_before(uint64_t time_ns, uint64_t span_ns)
{
        return (struct time_range){ sub_sat(time_ns, span_ns), time_ns };
}

/* Pauses that ended in the range, in ns; unknown before the first and in a run younger than RECENT_NS. */
static double pauses_in(const struct alerting *a, struct time_range range)
{
        struct series_view room;
        const struct gc *gc = model_gc(a->model);
        uint64_t began = model_first_time_ns(a->model);
        struct trend_cell b;

        if (!gc->collections || gc->counted || began == UNKNOWN_U64 || sub_sat(range.to_ns, began) < RECENT_NS)
                return UNKNOWN;
        if (!history_span(model_series(a->model, SERIES_GC_PAUSE, &room), range, &b))
                return 0;
        return b.cell.mean * (double)b.cell.n;
}

/* Without the collections of heap censuses: those are the profile's doing, not the program's. */
static double gc_share(const struct alerting *a, uint64_t time_ns)
{
        const struct time_range range = range_before(time_ns, RECENT_NS);
        double pauses = pauses_in(a, range);

        if (isnan(pauses))
                return UNKNOWN;
        return fmin(fmax(pauses - (double)gc_census_pause_ns(a->model, range), 0) / (double)RECENT_NS, 1);
}

/* The share of heap censuses in the pauses of the last five minutes. */
static double census_share(const struct alerting *a, uint64_t time_ns)
{
        const struct time_range range = range_before(time_ns - time_ns % (10 * NS_PER_S), WHOSE_NS);
        double pauses = pauses_in(a, range);

        return pauses > 0 ? fmin((double)gc_census_pause_ns(a->model, range) / pauses, 1) : pauses;
}

static double memory_need(const struct alerting *a, uint64_t time_ns)
{
        struct series_view room;
        const double held = model_heap(a->model)->facts[CARRIED_RESIDENT_HELD];
        struct trend_cell b;

        if (!isnan(held))
                return held;
        return history_newest(model_series(a->model, SERIES_HEAP_SIZE, &room), time_ns, &b) ? b.cell.last : UNKNOWN;
}

static double memory_unneeded(const struct alerting *a, uint64_t time_ns)
{
        struct series_view room;
        struct sizing sizing = sizing_of(model_run(a->model), model_heap(a->model));
        struct trend_cell live, heap;

        if (!history_newest(model_series(a->model, SERIES_LIVE, &room), time_ns, &live) ||
            !history_newest(model_series(a->model, SERIES_HEAP_SIZE, &room), time_ns, &heap))
                return UNKNOWN;
        return number_or_nan(sizing_beyond(&sizing, u64_sat(live.cell.last), u64_sat(heap.cell.last)));
}

void alerting_sample_run(struct alerting *a, uint64_t time_ns)
{
        uint64_t at = time_ns - 1; /* the end of the previous second */

        push_value(a, RULE_ALLOCATION_RATE, at, allocation_rate(a, time_ns));
        push_value(a, RULE_GC_SHARE, at, gc_share(a, time_ns));
        push_value(a, RULE_CENSUS_SHARE, at, census_share(a, time_ns));
        push_value(a, RULE_THREADS, at, model_threads(a->model));
        push_value(a, RULE_LIMIT, at, number_or_nan(tracker_limit(a->tracker).bytes));
        push_value(a, RULE_NEED, at, memory_need(a, time_ns));
        push_value(a, RULE_UNNEEDED, at, memory_unneeded(a, time_ns));
}

void alerting_sample_target(struct alerting *a)
{
        /* Counters of a target begin at 0: what happens in its first second is an increase too. */
        const uint64_t before_ns = sub_sat(a->target_ns, HISTORY_STEP_NS);
        struct trend_cell b;

        if (!history_newest(&a->gauges[GAUGE(RULE_LOST_BYTES)].series, a->target_ns, &b)) {
                push_value(a, RULE_LOST_BYTES, before_ns, 0);
                push_value(a, RULE_RESTARTS, before_ns, 0);
                push_value(a, RULE_CRASHES, before_ns, 0);
                push_value(a, RULE_FAILURES, before_ns, 0);
        }
        push_value(a, RULE_LOST_BYTES, a->target_ns, (double)a->lost_bytes);
        push_value(a, RULE_RESTARTS, a->target_ns, (double)a->restarts);
        push_value(a, RULE_CRASHES, a->target_ns, (double)a->crashes);
        push_value(a, RULE_FAILURES, a->target_ns, (double)a->failures);
}
