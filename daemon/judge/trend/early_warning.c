/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a warning is in proportion to the danger. A rise is warned of when the time that is left is less than 1.25
 * times its age (44 % of the way is covered); less readily when the rise has slowed down, in proportion. It begins only
 * with fresh news and then stays more readily than it came. Whatever the line says, a value near the limit is warned
 * of.
 */
#include "daemon/judge/trend/early_warning.h"

#include <math.h>
#include <stddef.h>

#define COPY_FACTOR_MIN     1.3
#define COPY_FACTOR_MAX     3.2 /* also before a collection has shown it */
#define LEFT_TO_AGE         1.25
#define LEFT_TO_AGE_WARNED  3.0
#define NEAR_SHARE          0.85 /* of the limit: two samples are enough */
#define RISING_NEAR_SHARE   0.8
#define PROCESS_NEAR_SHARE  0.8 /* live data is not near a process's limit while RSS is below this share of it */
#define AGE_MIN_S           0.1
#define FRESH_GAPS          2.0
#define SOONEST_EXPONENTIAL 0.9
#define LATEST_FACTOR       1.25
#define LATEST_PACE         0.3
#define KILL_GAPS           1.7 /* of a control group: the latest time is that of the next collections */

void early_warning_init(struct early_warning *w, const struct early_limits *limits)
{
        *w = (struct early_warning){ .limits = *limits, .lowest_off_heap = INFINITY, .pending_live = NAN };
        early_rise_init(&w->live.rise);
        early_rise_init(&w->off_heap.rise);
        w->live.out.limit = w->off_heap.out.limit = NAN;
}

void early_warning_set_limits(struct early_warning *w, const struct early_limits *limits)
{
        w->limits = *limits;
}

/* ---------------------------------------------------------------- limits */

/* How many bytes of heap a live byte needs at a major collection: the least of the newest ones, for heap lags. */
static double copy_factor(const struct early_warning *w)
{
        double least = INFINITY;

        for (unsigned i = 0; i < w->n_ratios; i++)
                least = fmin(least, w->ratios[i]);
        return fmin(fmax(least, COPY_FACTOR_MIN), COPY_FACTOR_MAX);
}

/* What a collection must fit in, with all that it copies; NaN: neither is known. */
static double room_to_copy(const struct early_warning *w)
{
        const double off_heap = isfinite(w->lowest_off_heap) ? fmax(w->lowest_off_heap, 0) : 0;
        const double by_process = w->limits.process - off_heap;

        return w->limits.reserved > 0 ? fmin(w->limits.reserved, by_process) : by_process;
}

static double live_limit_by_copying(const struct early_warning *w)
{
        return (room_to_copy(w) - w->limits.nursery) / copy_factor(w);
}

/* Without what the heap may take of the process's limit. */
static double off_heap_limit(const struct early_warning *w)
{
        const double by_process = w->limits.process - w->highest_heap;

        return w->limits.space > 0 ? fmin(w->limits.space, by_process) : by_process;
}

enum early_limit early_warning_limit(const struct early_warning *w, const struct early_series *s)
{
        if (s == &w->off_heap)
                return w->limits.space > 0 && off_heap_limit(w) >= w->limits.space ? EARLY_SPACE : EARLY_PROCESS;
        if (!isnan(w->limits.live) && !(live_limit_by_copying(w) < w->limits.live))
                return EARLY_MAX_HEAP;
        return w->limits.reserved > 0 && room_to_copy(w) >= w->limits.reserved ? EARLY_RESERVED : EARLY_PROCESS;
}

/* ---------------------------------------------------------- time to limit */

/* A limit in a series' own bytes. */
struct limit_ahead {
        double bytes;      /* NaN or at most 0: none */
        double extra_gaps; /* the latest time is so many more gaps between samples away */
        bool may_be_near;  /* what else is known allows that the limit is near */
};

struct way {
        double level;  /* now, bytes */
        double pace;   /* mean growth since the onset, bytes per second */
        double left_s; /* the best guess */
};

static struct way way_to(const struct early_rise *e, double now_s, double limit)
{
        const struct early_fit *p = &e->shortest;
        double onset_s = (e->onset.from_s + e->onset.to_s) / 2;
        struct way way = { .level = fmax(p->end + p->slope * (now_s - p->end_s), e->last),
                           .pace = (e->last - e->onset.base) / fmax(e->last_s - onset_s, AGE_MIN_S) };

        way.left_s = fmax(limit - way.level, 0) / p->slope;
        return way;
}

static void set_interval(struct early_runs_out *o, const struct early_rise *e, const struct way *way,
                         const struct limit_ahead *limit)
{
        const struct early_fit *p = &e->shortest;
        double low, high, above = way->level - e->onset.base;

        early_rise_rate(e, &low, &high);
        o->soonest_s = (limit->bytes - way->level - p->sd) / high - 1;
        if (above > 0 && limit->bytes > way->level)
                o->soonest_s = fmin(o->soonest_s, SOONEST_EXPONENTIAL * log((limit->bytes - e->onset.base) / above) *
                                                          above / p->slope); /* it may be exponential */
        o->soonest_s = fmax(o->soonest_s, 0);
        o->latest_s = fmax(limit->bytes - way->level, 0) / fmax(low, LATEST_PACE * p->slope) * LATEST_FACTOR +
                      (1 + limit->extra_gaps) * e->gap_s + 1;
        o->latest_s = fmax(o->latest_s, o->soonest_s);
}

/*
 * The newest sample was on the line, and is not old; samples that come far apart may be: then the clock alone says that
 * the time is up, whenever it is.
 */
static bool is_fresh(const struct early_rise *e, double now_s, double age_s)
{
        const struct early_fit *p = &e->shortest;
        double line = p->end + p->slope * (e->last_s - p->end_s);

        return now_s - e->last_s < fmin(FRESH_GAPS * e->gap_s, age_s / 2) && e->last >= line - p->slope * e->gap_s / 2;
}

static void judge_series(struct early_series *s, double now_s, const struct limit_ahead *limit)
{
        struct early_rise *e = &s->rise;
        struct early_runs_out *o = &s->out;

        o->limit = limit->bytes > 0 ? limit->bytes : NAN;
        o->soonest_s = o->latest_s = NAN;
        if (isnan(o->limit) || e->samples == 0) {
                o->warned = false;
                return;
        }
        if (e->samples != o->samples)
                o->high_samples = e->last >= NEAR_SHARE * o->limit ? o->high_samples + 1 : 0;
        o->samples = e->samples;
        bool high = e->last >= RISING_NEAR_SHARE * o->limit && (e->rising || o->warned);
        bool near = limit->may_be_near && (o->high_samples >= 2 || high);
        if (!e->rising) {
                o->warned = near;
                return;
        }
        double age_s = fmax(now_s - (e->onset.from_s + e->onset.to_s) / 2, AGE_MIN_S);
        struct way way = way_to(e, now_s, o->limit);
        set_interval(o, e, &way, limit);
        /* How many times its age a rise may have left to be warned of; one that slows down will do so further. */
        const double left_to_age =
                (o->warned ? LEFT_TO_AGE_WARNED : LEFT_TO_AGE) * fmin(e->shortest.slope_new / way.pace, 1);
        const bool in_danger = way.left_s <= left_to_age * age_s;
        o->warned = near || (in_danger && (o->warned || is_fresh(e, now_s, age_s)));
}

/* --------------------------------------------------------------- samples */

static void judge_live(struct early_warning *w, double now_s)
{
        const enum early_limit met = early_warning_limit(w, &w->live);
        const double by_copying = live_limit_by_copying(w);
        struct limit_ahead limit = { .bytes = w->limits.live, .may_be_near = true };

        if (met != EARLY_MAX_HEAP && !isnan(by_copying))
                limit = (struct limit_ahead){
                        .bytes = fmax(by_copying, 1),
                        .extra_gaps = KILL_GAPS,
                        .may_be_near = met == EARLY_RESERVED
                                               ? w->highest_heap >= PROCESS_NEAR_SHARE * w->limits.reserved
                                               : w->rss >= PROCESS_NEAR_SHARE * w->limits.process
                };
        judge_series(&w->live, now_s, &limit);
}

static void judge_off_heap(struct early_warning *w, double now_s)
{
        judge_series(&w->off_heap, now_s, &(struct limit_ahead){ .bytes = off_heap_limit(w), .may_be_near = true });
}

void early_warning_advance(struct early_warning *w, double t_s)
{
        early_rise_advance(&w->live.rise, t_s);
        early_rise_advance(&w->off_heap.rise, t_s);
        judge_live(w, w->live.rise.now_s);
        judge_off_heap(w, w->off_heap.rise.now_s);
}

void early_warning_bound_live(struct early_warning *w, double most)
{
        early_rise_bound(&w->live.rise, most);
        judge_live(w, w->live.rise.now_s);
}

void early_warning_live(struct early_warning *w, double t_s, double bytes)
{
        early_rise_add(&w->live.rise, t_s, bytes);
        w->pending_live = bytes;
        judge_live(w, w->live.rise.now_s);
}

void early_warning_heap(struct early_warning *w, double bytes)
{
        w->highest_heap = fmax(w->highest_heap, bytes);
        if (w->pending_live > 0) {
                w->ratios[w->next_ratio] = fmax(bytes - w->limits.nursery, 0) / w->pending_live;
                w->next_ratio = (w->next_ratio + 1) % EARLY_MAJORS;
                w->n_ratios += w->n_ratios < EARLY_MAJORS;
        }
        w->pending_live = NAN;
}

void early_warning_rss(struct early_warning *w, double t_s, double bytes)
{
        double off_heap = bytes - w->highest_heap;

        w->rss = bytes;
        w->lowest_off_heap = fmin(w->lowest_off_heap, off_heap);
        if (w->has_foreign)
                return;
        early_rise_add(&w->off_heap.rise, t_s, off_heap);
        judge_off_heap(w, w->off_heap.rise.now_s);
}

void early_warning_foreign(struct early_warning *w, double t_s, double bytes)
{
        if (!w->has_foreign) { /* another measure than until now */
                early_rise_init(&w->off_heap.rise);
                w->has_foreign = true;
        }
        early_rise_add(&w->off_heap.rise, t_s, bytes);
        judge_off_heap(w, w->off_heap.rise.now_s);
}

/* --------------------------------------------------------------- reading */

static bool is_sooner(const struct early_series *a, const struct early_series *b)
{
        if (a->out.warned != b->out.warned)
                return a->out.warned;
        if (a->rise.rising != b->rise.rising)
                return a->rise.rising;
        return a->out.soonest_s < b->out.soonest_s; /* false when unknown */
}

const struct early_series *early_warning_worst(const struct early_warning *w)
{
        const struct early_series *worst = is_sooner(&w->off_heap, &w->live) ? &w->off_heap : &w->live;

        return worst->out.warned || worst->rise.rising ? worst : NULL;
}

bool early_warning_is_sound(const struct early_warning *w)
{
        return early_rise_is_sound(&w->live.rise) && early_rise_is_sound(&w->off_heap.rise) &&
               w->n_ratios <= EARLY_MAJORS && w->next_ratio < EARLY_MAJORS;
}
