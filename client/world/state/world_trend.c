/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world_trend.c - how series and bands move.
 *
 * DESIGN: a message brings the trends that changed, so each is kept by its
 * series or band; what is beside them (growth, time to limit, scale) is
 * full state and is kept as the newest message without its list.
 */
#include "client/world/state/internal.h"

#include <errno.h>

static int keep_band(struct target_state *ts, const Hw__Trend *trend)
{
        struct world_band *b;

        if (!id_valid(trend->band))
                return 0;
        b = world_bands_entry(ts, trend->band);
        if (!b)
                return -ENOMEM;
        KEEP(b->trend, trend);
        return 0;
}

/* Ignores a trend of a series or band that this version does not know. */
static int apply_one(struct target_state *ts, const Hw__Trend *trend)
{
        if (trend->has_band)
                return keep_band(ts, trend);
        if (trend->has_series && trend->series && (unsigned)trend->series < SERIES_COUNT)
                KEEP(ts->t.trends[trend->series], trend);
        return 0;
}

void trends_show(struct target_state *ts, const Hw__Trends *trends)
{
        KEEP(ts->whole.trend_state, trends);
        if (trends)
                ts->trend_state = *trends;
        ts->trend_state.n_trends = 0;
        ts->t.trend_state = trends ? &ts->trend_state : NULL;
}

int trends_apply(struct target_state *ts, const Hw__Trends *trends)
{
        trends_show(ts, trends);
        for (size_t i = 0; i < trends->n_trends; i++) {
                if (apply_one(ts, trends->trends[i]) < 0)
                        return -ENOMEM;
        }
        return 0;
}

void trends_done(struct target_state *ts)
{
        for (size_t i = 0; i < SERIES_COUNT; i++)
                FORGET(ts->t.trends[i]);
        trends_show(ts, NULL);
}
