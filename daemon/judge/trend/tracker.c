/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: all trends share one event-time watermark, so one comparison per
 * event shows whether any minute has to be closed. State is allocated when a
 * series or band has its first sample.
 *
 * Ticks are emitted in order, with all minutes up to the tick closed and none
 * after it, so whoever judges on ticks sees the same at the same tick however
 * the bytes arrived.
 */
#include "daemon/judge/trend/tracker.h"

#include <math.h>
#include <stdlib.h>

#include "proto/base/ckd.h"
#include "daemon/judge/trend/tracker_private.h"
#include "proto/base/time.h"

#define CALM_BAND_MINUTES 16u                    /* how often a steady band is published */
#define GAP_EXACT_TICKS   600u                   /* emitted one by one after a gap in time */
#define GAP_PART          64u                    /* then one at each further 64th of the gap so far, */
#define GAP_PART_COSTLY   8u                     /* or 8th, when the ticks so far have cost enough */
#define GAP_LOOKED_AT_NS  (96 * 3600 * NS_PER_S) /* for twice the longest window of a rule; then only the last one */

struct tracker_config tracker_config_scaled(uint64_t resolution_ns)
{
        return (struct tracker_config){
                .trend = trend_config_scaled(resolution_ns),
                .tick_ns = NS_PER_S,
                .given_limit_bytes = UNKNOWN_U64,
                .memory_bytes = UNKNOWN_U64,
                .recorded = { UNKNOWN_U64, LIMIT_SOURCE_UNKNOWN },
                .recorded_heap = { UNKNOWN_U64, LIMIT_SOURCE_UNKNOWN },
                .full_bands = LIMIT_FULL_BANDS,
        };
}

/* -------------------------------------------------------------------- life */

struct tracker *tracker_new(const struct tracker_config *config)
{
        struct tracker *t = calloc(1, sizeof(*t));

        if (!t)
                return NULL;
        t->config = *config;
        /* W decides; a trend's own wait only bounds how many minutes it can hold open. */
        t->config.trend.wait_minutes = TREND_OPEN_MINUTES - 1;
        tracker_early_clear(t);
        return t;
}

void tracker_begin_run(struct tracker *t)
{
        for (unsigned i = 0; i < SERIES_COUNT; i++) {
                if (t->series[i]) {
                        series_sketch_done(&t->series[i]->sketch);
                        if (t->series[i]->trend)
                                trend_done(t->series[i]->trend);
                        free(t->series[i]->trend);
                }
                free(t->series[i]);
                t->series[i] = NULL;
        }
        tracker_bands_clear(t);
        tracker_early_clear(t);
        t->watermark_ns = t->blocks_ns = t->newest_ns = t->next_tick_ns = 0;
        t->started = t->ended = t->scan = t->local = t->waits = false;
        t->gap = (struct gap){ .from_ns = 0 };
        free(t->held);
        t->held = NULL;
        t->held_from = t->n_held = 0;
}

void tracker_destroy(struct tracker **t)
{
        if (!*t)
                return;
        tracker_begin_run(*t);
        free(*t);
        *t = NULL;
}

void tracker_set_model(struct tracker *t, const struct model *m)
{
        t->model = m;
}

void tracker_on_tick(struct tracker *t, tracker_tick_fn *tick, void *ctx)
{
        t->tick = tick;
        t->tick_ctx = ctx;
}

void tracker_set_local(struct tracker *t, bool local)
{
        t->local = local;
}

/* -------------------------------------------------------------------- time */

static void move_to(struct tracker *t, uint64_t time_ns)
{
        bool new_second = time_ns / NS_PER_S != t->watermark_ns / NS_PER_S;

        /* Closes the minutes that end at or before `time_ns` in every trend. */
        uint64_t resolution = t->config.trend.resolution_ns;

        if (time_ns / resolution != t->watermark_ns / resolution) {
                for (unsigned i = 0; i < SERIES_COUNT; i++)
                        if (t->series[i] && t->series[i]->trend)
                                trend_close(t->series[i]->trend, time_ns);
                tracker_bands_close(t, time_ns);
                t->scan = true;
        }
        t->watermark_ns = time_ns;
        if (new_second)
                tracker_early_advance(t, time_ns);
}

/* The first multiple of tick_ns after a time. */
static uint64_t tick_after(const struct tracker *t, uint64_t time_ns)
{
        uint64_t tick;

        return ckd_add(&tick, time_ns - time_ns % t->config.tick_ns, t->config.tick_ns) ? UINT64_MAX : tick;
}

/* The tick after `tick_ns` in a gap from `from_ns` whose last tick is `last_ns`. */
static uint64_t next_tick(const struct tracker *t, uint64_t from_ns, uint64_t tick_ns, uint64_t last_ns, bool costly)
{
        uint64_t gap_ns = tick_ns - from_ns, next;

        if ((gap_ns <= GAP_EXACT_TICKS * t->config.tick_ns && !costly) || tick_ns >= last_ns)
                return tick_after(t, tick_ns);
        next = gap_ns > GAP_LOOKED_AT_NS ? last_ns
                                         : tick_after(t, tick_ns + gap_ns / (costly ? GAP_PART_COSTLY : GAP_PART));
        return next < last_ns ? next : last_ns;
}

/*
 * While the stream is silent, windows slide over the past and times run out, so rules are judged throughout: at every
 * tick at first, then at distances that grow with the silence, so that a change is timed to within 1/64 of it. False:
 * ticks wait.
 */
static bool emit_ticks(struct tracker *t)
{
        struct gap *g = &t->gap;

        while (t->tick && (g->again || (t->next_tick_ns <= g->to_ns && t->next_tick_ns < UINT64_MAX))) {
                if (!g->again) {
                        g->tick.watermark_ns = t->next_tick_ns;
                        move_to(t, g->tick.watermark_ns);
                        t->next_tick_ns = next_tick(t, g->from_ns, g->tick.watermark_ns, g->last_ns, g->costly);
                        g->tick.goes_on = t->next_tick_ns <= g->to_ns;
                }
                enum tick_answer answer = t->tick(t->tick_ctx, &g->tick);
                g->again = answer == TICK_WAIT;
                if (g->again)
                        return false;
                g->costly = answer == TICK_COSTLY;
                g->tick.follows = true;
        }
        return true;
}

static void advance_watermark(struct tracker *t, uint64_t time_ns)
{
        if (t->started && time_ns <= t->watermark_ns)
                return;
        if (!t->started) {
                t->started = true;
                t->watermark_ns = time_ns;
                t->next_tick_ns = t->config.tick_ns ? tick_after(t, time_ns) : UINT64_MAX;
                return;
        }
        if (t->tick && t->next_tick_ns <= time_ns) {
                t->gap = (struct gap){ .from_ns = t->watermark_ns, .to_ns = time_ns };
                t->gap.last_ns = time_ns - time_ns % t->config.tick_ns;
                t->waits = !emit_ticks(t);
                if (t->waits)
                        return;
        }
        move_to(t, time_ns);
}

/* Recomputes the watermark. */
static void update_watermark(struct tracker *t)
{
        uint64_t waiting = sub_sat(t->newest_ns, TRACKER_WAIT_MINUTES * t->config.trend.resolution_ns);

        advance_watermark(t, waiting > t->blocks_ns ? waiting : t->blocks_ns);
}

void tracker_end_run(struct tracker *t)
{
        uint64_t newest = model_time_ns(t->model);

        t->blocks_ns = newest;
        if (t->started)
                advance_watermark(t, newest);
        t->ended = t->scan = true;
}

void tracker_resume_run(struct tracker *t)
{
        t->ended = false;
}

/* -------------------------------------------------------------------- sink */

static struct series_state *new_series(struct tracker *t, enum series_id id)
{
        struct series_state *s = calloc(1, sizeof(*s));

        if (s && series_rows[id].judged)
                s->trend = malloc(sizeof(*s->trend));
        if (!s || (series_rows[id].judged && !s->trend)) {
                free(s);
                return NULL;
        }
        if (s->trend)
                trend_init(s->trend, &t->config.trend);
        t->series[id] = s;
        return s;
}

/* Moves W. */
static void see_newest(struct tracker *t, uint64_t time_ns)
{
        if (time_ns > t->newest_ns)
                t->newest_ns = time_ns;
        update_watermark(t);
}

static void see_held(struct tracker *t, const struct held *h)
{
        if (h->what == HELD_WATERMARK) {
                t->blocks_ns = h->time_ns;
                update_watermark(t);
        } else {
                see_newest(t, h->time_ns);
        }
}

/* The memory of a control group that other processes share says nothing about this program. */
static bool is_its_own(const struct tracker *t, enum series_id series)
{
        return series != SERIES_CGROUP || model_heap(t->model)->process.cgroup_shared != 1;
}

/*
 * RSS and the memory of a control group are judged without what the kernel takes when it needs memory: that is neither
 * growth nor in the way of a limit.
 */
static uint64_t judged_value(const struct tracker *t, enum series_id series, uint64_t value)
{
        const double *facts = model_heap(t->model)->facts;
        const double held = series == SERIES_RSS      ? facts[CARRIED_RESIDENT_HELD]
                            : series == SERIES_CGROUP ? facts[CARRIED_CGROUP_HELD]
                                                      : NAN;

        return isnan(held) ? value : u64_sat(held);
}

/* RSS has memory that was given back, which is counted more rarely: it is judged at these times. */
static bool is_judged_now(const struct tracker *t, enum series_id series, uint64_t time_ns)
{
        const struct resident *r = &model_heap(t->model)->resident;

        return series != SERIES_RSS || r->rss_bytes == UNKNOWN_U64 || r->parts[RESIDENT_GIVEN_BACK] == UNKNOWN_U64 ||
               r->time_ns == time_ns;
}

static void add_sample(struct tracker *t, enum series_id series, uint64_t time_ns, uint64_t value)
{
        struct series_state *s = t->series[series] ? t->series[series] : new_series(t, series);

        const uint64_t judged = judged_value(t, series, value);

        tracker_early_sample(t, series, time_ns, judged);
        if (!s)
                return; /* out of memory: the model's own series has the sample; the next one tries again */
        if (s->trend && is_its_own(t, series) && is_judged_now(t, series, time_ns))
                (void)trend_push(s->trend, time_ns, (double)judged); /* late ones are counted there */
        series_sketch_push(&s->sketch, time_ns, value);
        s->published.fresh = true;
}

static void add_held(struct tracker *t, const struct held *h)
{
        if (h->what == HELD_SAMPLE)
                add_sample(t, h->series, h->time_ns, h->value);
        else if (h->what == HELD_CENSUS)
                tracker_bands_census(t, &h->census);
}

/* Room for one more; false: out of memory, or the model did not stop. */
static bool has_room(struct tracker *t)
{
        if (!t->held)
                t->held = malloc(HELD_MAX * sizeof(*t->held));
        return t->held && t->n_held < HELD_MAX;
}

/* Takes in what the model passes on, or holds it while ticks are waiting. */
static void add_or_hold(struct tracker *t, struct held h)
{
        if (!t->waits) {
                see_held(t, &h);
                h.seen = true;
        }
        while (t->waits && !has_room(t))
                (void)tracker_resume(t); /* each call does part of a tick */
        if (!t->waits)
                add_held(t, &h);
        else
                t->held[t->n_held++] = h;
}

bool tracker_waits(const struct tracker *t)
{
        return t->waits;
}

bool tracker_resume(struct tracker *t)
{
        if (t->waits && !emit_ticks(t))
                return false;
        if (t->waits)
                move_to(t, t->gap.to_ns);
        t->waits = false;
        while (t->held_from < t->n_held) {
                struct held *h = &t->held[t->held_from];
                if (!h->seen)
                        see_held(t, h);
                h->seen = true;
                if (t->waits)
                        return false;
                add_held(t, h);
                t->held_from++;
        }
        t->held_from = t->n_held = 0;
        free(t->held);
        t->held = NULL;
        return true;
}

static void on_sample(void *ctx, enum series_id series, uint64_t time_ns, uint64_t value)
{
        struct tracker *t = ctx;
        const bool of_log = !series_rows[series].of_process; /* others do not move W: finished is judged as live */
        const bool seen = of_log && !t->waits;

        if (seen)
                see_newest(t, time_ns);
        if (of_log && t->waits)
                add_or_hold(t, (struct held){ HELD_SAMPLE, seen, series, time_ns, value, .census.number = 0 });
        else
                add_sample(t, series, time_ns, value);
}

static void on_census(void *ctx, const struct census *census)
{
        add_or_hold(ctx, (struct held){ .what = HELD_CENSUS, .time_ns = census->time_ns, .census = *census });
}

static void on_watermark(void *ctx, uint64_t time_ns)
{
        add_or_hold(ctx, (struct held){ .what = HELD_WATERMARK, .time_ns = time_ns });
}

struct model_sink tracker_sink(struct tracker *t)
{
        return (struct model_sink){
                .ctx = t, .census = on_census, .sample = on_sample, .watermark = on_watermark, .stop = &t->waits
        };
}

/* --------------------------------------------------------------------- due */

static bool is_due(const struct tracker *t, const struct published *published, unsigned word, unsigned minutes)
{
        const uint64_t steps_ns = minutes * t->config.trend.resolution_ns;
        const uint64_t period_ns = steps_ns > NS_PER_S ? steps_ns : NS_PER_S;

        if (published->ever && word != published->word)
                return true;
        if (t->ended && published->ever && published->at_ns != t->watermark_ns)
                return true; /* the final verdict is as of the run's end, whenever the previous one was */
        if (!published->fresh)
                return false;
        /* as soon as the minute is closed: who asks then is told the same as who follows */
        return !published->ever || t->ended || t->watermark_ns / period_ns != published->at_ns / period_ns;
}

/* `trend` may be NULL. A sample of a minute that is still open changes the verdict once more, when it is closed. */
static bool mark_published(struct tracker *t, struct published *published, const struct trend *trend, unsigned word,
                           unsigned minutes)
{
        if (!is_due(t, published, word, minutes))
                return false;
        *published = (struct published){ .at_ns = t->watermark_ns,
                                         .word = word,
                                         .ever = true,
                                         .fresh = !t->ended && trend && trend_has_open(trend) };
        return true;
}

uint32_t tracker_collect_due(struct tracker *t, struct subject *subjects, uint32_t max)
{
        struct rising_subjects rising;
        uint32_t n = 0;

        tracker_rising(t, &rising);
        for (unsigned i = 0; i < SERIES_COUNT && n < max; i++) {
                struct series_state *s = t->series[i];
                const struct subject subject = subject_series((enum series_id)i);
                const enum trend_verdict now = s && s->trend ? s->trend->verdict.now : TREND_UNKNOWN;

                if (s && mark_published(t, &s->published, s->trend, tracker_word(&rising, subject, now), 1))
                        subjects[n++] = subject;
        }
        for (uint32_t i = 0; i < t->n_bands && n < max; i++) {
                struct band_state *s = tracker_band_state(t, i + 1);
                if (!s)
                        continue;
                const enum trend_verdict now = s->trend.verdict.now;
                const unsigned word = tracker_word(&rising, subject_band(i + 1), now);
                s->published.fresh |= s->published_censuses != t->censuses;
                if (!mark_published(t, &s->published, &s->trend, word, now >= TREND_GROWING ? 1 : CALM_BAND_MINUTES))
                        continue;
                s->published_censuses = t->censuses;
                subjects[n++] = subject_band(i + 1);
        }
        if (n < max)
                t->scan = false;
        return n;
}

bool tracker_any_due(const struct tracker *t)
{
        return t->scan;
}

bool tracker_next(const struct tracker *t, uint32_t *at, struct subject *ret)
{
        for (; *at < SERIES_COUNT; ++*at) {
                if (!t->series[*at])
                        continue;
                *ret = subject_series((enum series_id)(*at)++);
                return true;
        }
        for (; *at - SERIES_COUNT < t->n_bands; ++*at) {
                if (!tracker_band(t, *at - SERIES_COUNT + 1))
                        continue;
                *ret = subject_band(*at - SERIES_COUNT + 1);
                ++*at;
                return true;
        }
        return false;
}
