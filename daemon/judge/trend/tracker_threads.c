/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tracker_threads.c - how many threads there are, judged by the second, and how many wait at one place: each such group
 * is judged by their number.
 *
 * DESIGN: the verdict is that of bytes. A thread counts as 1 KiB, which the runtime makes a stack of at first, so that,
 * as of bands, what has gained less than 64 of them does not grow. A census that does not tell groups is no sample:
 * their number is not known then. One that does is a sample of each group, of 0 where it is not in it.
 */
#include <math.h>
#include <stdlib.h>

#include "daemon/judge/trend/tracker_private.h"
#include "proto/base/ckd.h"
#include "proto/base/time.h"

#define GROUPS_MOST 64u /* at a time; of further ones no rate is known */
#define UNIT_BYTES  1024.0
#define PILE_LEAST  256.0 /* threads more than before: fewer are workers of a pool */
#define SILENT_NS   (5 * NS_PER_S)
#define STALE_NS    NS_PER_MINUTE /* no rise is told of a number that is older, unless only censuses count */

struct waiting_group *tracker_waiting_group(const struct tracker *t, uint32_t band)
{
        for (uint32_t i = 0; i < t->n_groups; i++)
                if (t->groups[i].band == band)
                        return &t->groups[i];
        return NULL;
}

/* One whose threads have gone gives its place away. NULL: there is none, or no memory. */
static struct waiting_group *new_group(struct tracker *t, uint32_t band)
{
        struct waiting_group *g = NULL, *longer;

        for (uint32_t i = 0; t->n_groups == GROUPS_MOST && i < t->n_groups; i++)
                if (t->groups[i].threads == 0 && t->groups[i].number.verdict.now < TREND_GROWING)
                        g = &t->groups[i];
        if (g) {
                trend_done(&g->number);
        } else if (t->n_groups < GROUPS_MOST) {
                if (!(longer = realloc(t->groups, (t->n_groups + 1) * sizeof(*longer))))
                        return NULL;
                t->groups = longer;
                g = &longer[t->n_groups++];
        }
        if (g) {
                *g = (struct waiting_group){ .band = band };
                trend_init(&g->number, &t->config.trend);
        }
        return g;
}

static void set_group(struct tracker *t, const struct census_row *row, bool is_new)
{
        struct waiting_group *g = tracker_waiting_group(t, row->band);

        if (row->threads == 0 || (!g && !(is_new && (g = new_group(t, row->band)))))
                return;
        g->threads = row->threads;
        g->bytes = row->bytes;
}

static void set_groups(struct tracker *t, const struct census *census, bool are_new)
{
        for (uint32_t i = 0; i < census->n_rows; i++)
                set_group(t, &census->rows[i], are_new);
        for (uint32_t i = 0; i < census->n_groups; i++)
                set_group(t, &census->groups[i], are_new);
}

/* A number that only censuses tell is of their moments: between them it is no sample. */
static void add_number(struct tracker *t, uint64_t time_ns)
{
        const double threads = model_threads(t->model);

        if (!isnan(threads))
                early_rise_add(&t->threads, (double)time_ns / 1e9, threads * UNIT_BYTES);
}

void tracker_threads_census(struct tracker *t, const struct census *census)
{
        if (census->counts_threads && !model_tells_threads(t->model))
                add_number(t, census->time_ns);
        if (!census->tells_groups)
                return;
        t->groups_time_ns = census->time_ns;
        for (uint32_t i = 0; i < t->n_groups; i++)
                t->groups[i].threads = 0;
        set_groups(t, census, false); /* first of all: then it is known which places are free */
        set_groups(t, census, true);
        for (uint32_t i = 0; i < t->n_groups; i++)
                (void)trend_push(&t->groups[i].number, census->time_ns, t->groups[i].threads * UNIT_BYTES);
}

void tracker_threads_close(struct tracker *t, uint64_t time_ns)
{
        for (uint32_t i = 0; i < t->n_groups; i++)
                trend_close(&t->groups[i].number, time_ns);
}

void tracker_threads_clear(struct tracker *t)
{
        for (uint32_t i = 0; i < t->n_groups; i++)
                trend_done(&t->groups[i].number);
        free(t->groups);
        t->groups = NULL;
        t->n_groups = 0;
}

void tracker_threads_growing(struct waiting_group *g, struct growing_band *ret)
{
        struct trend_result r;

        trend_result(&g->number, &r);
        ret->threads = g->threads;
        ret->thread_slope = r.slope / UNIT_BYTES;
        ret->thread_slope_low = r.slope_low / UNIT_BYTES;
        ret->thread_slope_high = r.slope_high / UNIT_BYTES;
}

bool tracker_threads_grow_beside(const struct tracker *t, uint32_t i, struct growing_band *ret)
{
        struct waiting_group *g = &t->groups[i];
        const struct band *band = bands_get(model_bands(t->model), g->band);
        struct trend_result r;

        if (g->number.verdict.now < TREND_GROWING || g->threads == 0 || !band || band->sampled)
                return false;
        trend_result(&g->number, &r);
        if (!r.has_slope)
                return false;
        const double each = (double)g->bytes / g->threads / UNIT_BYTES; /* of a thread now */
        *ret = (struct growing_band){
                .band = g->band,
                .verdict = r.verdict,
                .slope = r.slope * each,
                .gained_bytes = r.slope * each * ((double)r.evidence.span_ns / 1e9),
                .gained_low_bytes = r.evidence.sure_rise_bytes * each,
                .span_ns = r.evidence.span_ns,
                .onset_ns = r.onset_ns,
                .bytes = g->bytes,
        };
        tracker_threads_growing(g, ret);
        return true;
}

/* What nobody has counted is neither flat nor quiet: whether the rise goes on show the samples after it. */
void tracker_threads_advance(struct tracker *t, uint64_t time_ns)
{
        struct early_rise *rise = &t->threads;
        const double now_s = (double)time_ns / 1e9;

        if (isnan(model_threads(t->model)) || (time_ns < t->gap.to_ns && t->gap.to_ns - t->gap.from_ns > SILENT_NS))
                return;
        if (rise->samples > 0 && now_s - rise->now_s > SILENT_NS / 1e9)
                rise->passed_s += now_s - rise->now_s;
        early_rise_advance(rise, now_s);
        if (model_tells_threads(t->model))
                add_number(t, time_ns);
}

bool tracker_thread_rise(const struct tracker *t, struct thread_rise *ret)
{
        const struct early_rise *rise = &t->threads;
        const struct waiting_group *group = NULL;

        for (uint32_t i = 0; i < t->n_groups; i++)
                if (t->groups[i].threads > (group ? group->threads : 0))
                        group = &t->groups[i];
        const uint64_t as_of_ns = u64_sat(rise->last_s * 1e9), age_ns = sub_sat(t->watermark_ns, as_of_ns);
        double low, high;

        if (!rise->rising || (age_ns > STALE_NS && !t->ended && model_tells_threads(t->model)) ||
            rise->last - rise->onset.base < PILE_LEAST * UNIT_BYTES)
                return false;
        early_rise_rate(rise, &low, &high);
        *ret = (struct thread_rise){
                .threads = rise->last / UNIT_BYTES,
                .base = rise->onset.base / UNIT_BYTES,
                .rate = rise->widest.slope / UNIT_BYTES,
                .rate_low = low / UNIT_BYTES,
                .rate_high = high / UNIT_BYTES,
                .onset_from_ns = u64_sat(rise->onset.from_s * 1e9),
                .onset_to_ns = u64_sat(rise->onset.to_s * 1e9),
                .as_of_ns = as_of_ns,
                .age_ns = age_ns > SILENT_NS ? age_ns : 0,
                .since_start = rise->onset.first,
                .band = group ? group->band : 0,
                .band_threads = group ? group->threads : 0,
                .band_time_ns = t->groups_time_ns,
                .ended = t->ended,
        };
        return true;
}
