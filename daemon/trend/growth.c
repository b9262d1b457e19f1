/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/trend/growth.h"

static bool rises(const struct growth_series *s)
{
        return s->known && s->trend.verdict >= TREND_GROWING;
}

static bool flat(const struct growth_series *s)
{
        return s->known && s->trend.verdict == TREND_STEADY;
}

/* Not there at all, or flat: a series that a log does not have says nothing against an answer. */
static bool not_in_doubt(const struct growth_series *s)
{
        return !s->known || flat(s);
}

enum growth_where growth_decide(const struct growth *g)
{
        bool heap_rises = rises(&g->heap) || rises(&g->blocks);
        bool heap_flat = flat(&g->heap) && not_in_doubt(&g->blocks);

        if (rises(&g->live))
                return GROWTH_LIVE;
        if (!flat(&g->live))
                return GROWTH_UNKNOWN;
        if (heap_rises)
                return g->live_in_doubt ? GROWTH_UNKNOWN : GROWTH_RETENTION;
        if (!heap_flat)
                return GROWTH_UNKNOWN;
        if (rises(&g->rss) || rises(&g->off_heap))
                return g->heap_in_doubt ? GROWTH_UNKNOWN : GROWTH_OFF_HEAP;
        return not_in_doubt(&g->rss) ? GROWTH_NOWHERE : GROWTH_UNKNOWN;
}
