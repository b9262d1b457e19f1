/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world_trend.c - how series and bands move.
 *
 * DESIGN: a message brings the trends that changed, so each is kept by its
 * series or band; what stands beside them (growth, time to limit, scale) is
 * full state and is kept as the newest message without its list.
 */
#include "client/state/internal.h"

#include <errno.h>

/* On failure the old one stays. */
static int trend_keep(Hw__Trend **slot, const Hw__Trend *trend)
{
        Hw__Trend *copy = message_copy(&trend->base);

        if (!copy)
                return -ENOMEM;
        hw__trend__free_unpacked(*slot, NULL);
        *slot = copy;
        return 0;
}

static int keep_band(struct target_state *ts, const Hw__Trend *trend)
{
        struct world_band *b;

        if (!id_valid(trend->band))
                return 0;
        b = bands_entry(ts, trend->band);
        return b ? trend_keep(&b->trend, trend) : -ENOMEM;
}

/* A trend of a series or band that this version does not know is left out. */
static int apply_one(struct target_state *ts, const Hw__Trend *trend)
{
        if (trend->has_band)
                return keep_band(ts, trend);
        if (!trend->has_series || trend->series <= 0 || trend->series >= WORLD_SERIES)
                return 0;
        return trend_keep(&ts->t.trends[trend->series], trend);
}

int trends_apply(struct target_state *ts, const Hw__Trends *trends)
{
        Hw__Trends state = *trends, *copy;

        state.n_trends = 0;
        copy = message_copy(&state.base);
        if (!copy)
                return -ENOMEM;
        hw__trends__free_unpacked(ts->t.trend_state, NULL);
        ts->t.trend_state = copy;
        for (size_t i = 0; i < trends->n_trends; i++) {
                if (apply_one(ts, trends->trends[i]) < 0)
                        return -ENOMEM;
        }
        return 0;
}

void trends_done(struct target_state *ts)
{
        struct world_target *t = &ts->t;

        for (size_t i = 0; i < WORLD_SERIES; i++) {
                hw__trend__free_unpacked(t->trends[i], NULL);
                t->trends[i] = NULL;
        }
        hw__trends__free_unpacked(t->trend_state, NULL);
        t->trend_state = NULL;
}
