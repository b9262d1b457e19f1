/* SPDX-License-Identifier: BSD-3-Clause */
/* band_past.c - the daemon's points put onto those of the total (past_align), our own censuses behind. */
#include "client/console/scene/band_past.h"

#include <stdlib.h>

struct band_past {
        struct history *own;
        struct ring ring; /* made by band_past_ring */
};

struct band_past *band_past_new(void)
{
        static const struct history_options options = { .keep_recent = true,
                                                        .max_columns = 512,
                                                        .max_cells = (size_t)1 << 20 };
        struct band_past *p = calloc(1, sizeof(*p));

        if (p)
                p->own = history_new(&options);
        if (p && !p->own)
                band_past_destroy(&p);
        return p;
}

void band_past_destroy(struct band_past **p)
{
        if (!*p)
                return;
        history_destroy(&(*p)->own);
        ring_done(&(*p)->ring);
        free(*p);
        *p = NULL;
}

int band_past_watch(struct band_past *p, size_t daemon, const Hw__Update *update)
{
        return history_take(p->own, daemon, update);
}

void band_past_forget(struct band_past *p, size_t daemon)
{
        history_reset(p->own, daemon);
}

static const struct grid *own_grid(const struct band_past *p, const struct world_target *t)
{
        const struct history_target *h = history_find(p->own, t->daemon, t->name);

        return h && h->run == t->run && h->bands.n ? &h->bands : NULL;
}

/* The daemon's points of a band onto the total's; none when they do not fit each other yet. 0 or -ENOMEM. */
static int add_recalled(struct past *to, const struct recall *recall, const struct world_target *t, uint32_t band)
{
        const struct past *total = recall ? recall_band(recall, t, 0) : NULL;
        const struct past *points = recall ? recall_band(recall, t, band) : NULL;
        int r = 0;

        if (!total || !points)
                return 0;
        for (size_t i = 0; i < points->n && r == 0; i++)
                r = past_append(to, &points->points[i]);
        if (r == 0 && past_align(to, total) < 0)
                past_done(to);
        return r;
}

const struct ring *band_past_ring(struct band_past *p, const struct recall *recall, const struct world_target *t,
                                  uint32_t band)
{
        const struct grid *g = own_grid(p, t);
        const struct grid_band *b = g ? grid_band(g, band) : NULL;
        struct grid_band none = { 0 };
        struct past past = { 0 };
        int r = add_recalled(&past, recall, t, band);

        ring_done(&p->ring);
        if (g) {
                past_end(&past, g->columns[0].time_ns);
                r |= grid_whole_points(g, b ? b : &none, &past);
        }
        for (size_t i = 0; i < past.n && r == 0; i++)
                r = ring_push(&p->ring, past.n, past.points[i].last_ns, past.points[i].last);
        past_done(&past);
        return &p->ring; /* out of memory: as far as it came */
}

/* ------------------------------------------------------------------- change */

/* What a band held at a time, by the daemon's points: see past_align. */
static double held(const struct past *band, uint64_t time_ns)
{
        double last = 0;

        for (size_t i = 0; i < band->n && band->points[i].time_ns <= time_ns; i++)
                last = band->points[i].last;
        return last;
}

/* The newest point that ends by a time, else the first; one that may still grow does not count. */
static const struct past_point *base_of(const struct past *total, uint64_t time_ns)
{
        const struct past_point *best = total->n > 1 ? &total->points[0] : NULL;

        for (size_t i = 1; i + 1 < total->n; i++) {
                if (total->points[i].time_ns + total->points[i].width_ns <= time_ns)
                        best = &total->points[i];
        }
        return best;
}

static bool recalled_base(const struct recall *recall, const struct world_target *t, uint32_t band, uint64_t from_ns,
                          uint64_t widest_ns, double *ret)
{
        const struct past *total = recall ? recall_band(recall, t, 0) : NULL;
        const struct past *points = recall ? recall_band(recall, t, band) : NULL;
        const struct past_point *base = total && points ? base_of(total, from_ns) : NULL;

        if (!base || base->width_ns > widest_ns)
                return false;
        *ret = held(points, base->last_ns);
        return true;
}

/* By the censuses seen here: the newest that ends by a time, else, if any will do, the first of several. */
static bool own_base(const struct grid *g, uint32_t band, uint64_t from_ns, bool any, double *ret)
{
        const struct grid_band *b = g ? grid_band(g, band) : NULL;
        size_t i = g ? g->n : 0;

        while (i > 0 && g->columns[i - 1].time_ns + g->columns[i - 1].width_ns > from_ns)
                i--;
        if (i == 0 && (!any || !g || g->n < 2))
                return false;
        i = i ? i - 1 : 0;
        *ret = b && i >= b->first && i < b->first + b->n ? b->cells[i - b->first].last : 0;
        return true;
}

bool band_past_change(const struct band_past *p, const struct recall *recall, const struct world_target *t,
                      const struct world_band *b, uint64_t window_ns, double *ret_change)
{
        uint64_t now_ns = t->census ? t->census->time_ns : 0;
        uint64_t from_ns = window_ns && window_ns < now_ns ? now_ns - window_ns : 0;
        const struct grid *g = own_grid(p, t);
        double base;

        if (!t->census)
                return false;
        if (!recalled_base(recall, t, b->id, from_ns, from_ns ? window_ns / 4 : UINT64_MAX, &base) &&
            !own_base(g, b->id, from_ns, false, &base) &&
            !recalled_base(recall, t, b->id, from_ns, UINT64_MAX, &base) && !own_base(g, b->id, from_ns, true, &base))
                return false;
        *ret_change = (double)b->bytes - base;
        return true;
}
