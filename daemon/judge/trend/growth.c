/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/judge/trend/growth.h"

#include <stddef.h>

void growing_bands_insert(struct growing_band *list, uint32_t *n, uint32_t most, const struct growing_band *band)
{
        uint32_t at = *n;

        if (at == most && !(band->gained_low_bytes > list[at - 1].gained_low_bytes))
                return;
        if (at < most)
                (*n)++;
        else
                at--;
        for (; at > 0 && band->gained_low_bytes > list[at - 1].gained_low_bytes; at--)
                list[at] = list[at - 1];
        list[at] = *band;
}

bool growth_rises(const struct growth_series *s)
{
        return s->known && s->trend.verdict >= TREND_GROWING;
}

static bool flat(const struct growth_series *s)
{
        return s->known && s->trend.verdict == TREND_STEADY;
}

/* Resident memory stands for foreign memory where the kernel does not tell them apart. */
const struct growth_series *growth_outside(const struct growth *g)
{
        return g->foreign.known ? &g->foreign : &g->rss;
}

/* Certainly rises by less than an eighth of that. */
static bool is_small(const struct growth_series *s, const struct growth_series *outside)
{
        return s->known && s->trend.has_slope && outside &&
               s->trend.slope_high * TREND_EXPLAINS < outside->trend.slope_low;
}

/* Flat or absent: a series that the log does not have does not contradict an answer. */
static bool not_in_doubt(const struct growth_series *s)
{
        return !s->known || flat(s);
}

enum growth_where growth_decide(const struct growth *g)
{
        /* What grows outside the heap; NULL when nothing does or it is not known. */
        const struct growth_series *s = growth_outside(g);
        const struct growth_series *outside = growth_rises(s) && s->trend.has_slope ? s : NULL;
        bool live_small = is_small(&g->live, outside), heap_small = is_small(&g->heap, outside),
             blocks_small = is_small(&g->blocks, outside);
        bool heap_rises = (growth_rises(&g->heap) && !heap_small) || (growth_rises(&g->blocks) && !blocks_small);
        bool heap_flat = (flat(&g->heap) || heap_small) && (not_in_doubt(&g->blocks) || blocks_small);

        if (g->process_only)
                return flat(&g->rss) ? GROWTH_NOWHERE : GROWTH_UNKNOWN;
        if (growth_rises(&g->live) && !live_small)
                return GROWTH_LIVE;
        if (!flat(&g->live) && !live_small)
                return GROWTH_UNKNOWN;
        if (heap_rises)
                return g->live_in_doubt || g->bands_rise ? GROWTH_UNKNOWN : GROWTH_RETENTION;
        if (!heap_flat)
                return GROWTH_UNKNOWN;
        if (growth_rises(growth_outside(g)))
                return g->heap_in_doubt ? GROWTH_UNKNOWN : GROWTH_FOREIGN;
        return not_in_doubt(&g->rss) && !g->bands_rise ? GROWTH_NOWHERE : GROWTH_UNKNOWN;
}
