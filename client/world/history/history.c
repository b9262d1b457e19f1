/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * history.c - which sample goes where.
 *
 * DESIGN: a series is one list of points: what the daemon remembers, then what came in updates since own_ns. Bands
 * come as whole censuses (grid.c); what a daemon remembers of a band is coarser, and each band's answer is of another
 * moment, so it is kept beside the censuses as it came and aligned with the total's points when it is read.
 */
#include "client/world/history/history.h"
#include "proto/base/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"

/* ------------------------------------------------------------------- collections */

/* An array that is halved when it is full. */
static bool stays_beside(const Hw__Collection *a, const Hw__Collection *b)
{
        if (a->major != b->major)
                return a->major;
        return a->pause_ns >= b->pause_ns;
}

static void halve_collections(struct collections *c)
{
        size_t n = 0;

        for (size_t i = 0; i + 1 < c->n; i += 2)
                c->list[n++] = stays_beside(&c->list[i], &c->list[i + 1]) ? c->list[i] : c->list[i + 1];
        if (c->n % 2)
                c->list[n++] = c->list[c->n - 1];
        c->left_out += c->n - n;
        c->n = n;
}

int collections_add(struct collections *c, const Hw__Gc *gc)
{
        if (!c->list && gc->n_collections)
                c->list = calloc(COLLECTIONS_MOST, sizeof(*c->list));
        if (!c->list && gc->n_collections)
                return -ENOMEM;
        for (size_t i = 0; i < gc->n_collections; i++) {
                if (c->n == COLLECTIONS_MOST)
                        halve_collections(c);
                c->list[c->n] = *gc->collections[i];
                c->list[c->n].base.n_unknown_fields = 0; /* not ours */
                c->list[c->n].base.unknown_fields = NULL;
                c->n++;
        }
        c->left_out += gc->has_collections_dropped ? gc->collections_dropped : 0;
        return 0;
}

void collections_done(struct collections *c)
{
        free(c->list);
        memset(c, 0, sizeof(*c));
}

/* ----------------------------------------------------------------------- history */

static void set_bounds(struct history *h)
{
        for (size_t i = 0; i < SERIES_COUNT; i++) {
                h->series[i].max = h->options.points < 2 ? 2 : h->options.points;
                h->series[i].fades = h->options.keep_recent;
        }
        h->bands.columns.max = h->options.columns;
        h->bands.columns.fades = h->options.keep_recent;
        h->bands.max_cells = h->options.cells;
}

static void clear_series(struct history *h, size_t i)
{
        past_done(&h->series[i]);
        h->samples[i] = 0;
        h->own_ns[i] = UINT64_MAX;
        h->sampled[i] = h->recalled[i] = false;
}

static void clear_all_but_live(struct history *h)
{
        for (size_t i = 0; i < SERIES_COUNT; i++)
                if (i != HW__SERIES__SERIES_LIVE)
                        clear_series(h, i);
        collections_done(&h->collections);
        grid_clear(&h->bands);
        for (uint32_t i = 0; i < h->n_recalled; i++)
                past_done(&h->recalled_bands[i]);
        free(h->recalled_bands);
        h->recalled_bands = NULL;
        h->n_recalled = 0;
        set_bounds(h);
}

void history_bound(struct history *h, const struct history_options *share)
{
        if (share->brief && !h->options.brief)
                clear_all_but_live(h);
        h->options.brief = share->brief;
        h->options.points = h->options.points ? share->points : 0;
        h->options.cells = share->cells;
        set_bounds(h);
}

struct history *history_new(const struct history_options *options)
{
        struct history *h = calloc(1, sizeof(*h));

        if (!h)
                return NULL;
        h->options = *options;
        history_clear(h);
        return h;
}

void history_clear(struct history *h)
{
        clear_series(h, HW__SERIES__SERIES_LIVE);
        clear_all_but_live(h);
}

void history_destroy(struct history **h)
{
        if (!*h)
                return;
        history_clear(*h);
        free(*h);
        *h = NULL;
}

/* ------------------------------------------------------------------ filling */

/* A sample from before own_ns is in the daemon's answer. */
static int insert_value(struct history *h, Hw__Series series, uint64_t time_ns, double value)
{
        if (h->own_ns[series] == UINT64_MAX)
                past_end(&h->series[series], time_ns);
        else if (time_ns < h->own_ns[series] && h->recalled[series])
                return 0;
        if (time_ns < h->own_ns[series])
                h->own_ns[series] = time_ns;
        h->samples[series]++;
        return past_insert(&h->series[series], time_ns, value);
}

static bool is_kept(const struct history *h, Hw__Series series)
{
        return !h->options.brief || series == HW__SERIES__SERIES_LIVE;
}

static int add_samples(struct history *h, const Hw__Samples *s)
{
        int r = 0;

        if (!s->has_series || !s->series || (unsigned)s->series >= SERIES_COUNT || !is_kept(h, s->series))
                return 0;
        if (!h->sampled[s->series]) { /* drop what was derived, not what the daemon remembers of the time before */
                if (h->recalled[s->series])
                        past_end(&h->series[s->series], h->own_ns[s->series]);
                else
                        h->series[s->series].n = 0;
                h->own_ns[s->series] = UINT64_MAX;
                h->samples[s->series] = 0;
                h->sampled[s->series] = true;
        }
        for (size_t i = 0; i < s->n_times_ns && i < s->n_values && r == 0; i++)
                r = insert_value(h, s->series, s->times_ns[i], (double)s->values[i]);
        return r;
}

static int derive_rate(struct history *h, Hw__Series series, uint64_t time_ns, bool known, uint64_t value)
{
        return known && !h->sampled[series] ? insert_value(h, series, time_ns, (double)value) : 0;
}

static int add_collection(struct history *h, const Hw__Collection *c)
{
        int r = derive_rate(h, HW__SERIES__SERIES_GC_PAUSE, c->end_time_ns, c->has_pause_ns, c->pause_ns);

        r = r ? r : derive_rate(h, HW__SERIES__SERIES_COPIED, c->end_time_ns, c->has_copied_bytes, c->copied_bytes);
        r = r ? r : derive_rate(h, HW__SERIES__SERIES_SLOP, c->end_time_ns, c->has_slop_bytes, c->slop_bytes);
        return r ? r
                 : derive_rate(h, HW__SERIES__SERIES_FRAGMENTATION, c->end_time_ns, c->has_fragmentation_bytes,
                               c->fragmentation_bytes);
}

int history_add(struct history *h, const Hw__Update *u)
{
        const struct history_options *o = &h->options;
        int r = 0;

        if (u->body_case == HW__UPDATE__BODY_HEAP) {
                for (size_t i = 0; i < u->heap->n_samples && o->points && r == 0; i++)
                        r = add_samples(h, u->heap->samples[i]);
        } else if (u->body_case == HW__UPDATE__BODY_GC && !o->brief) {
                r = o->collections ? collections_add(&h->collections, u->gc) : 0;
                for (size_t i = 0; i < u->gc->n_collections && o->points && r == 0; i++)
                        r = add_collection(h, u->gc->collections[i]);
        } else if (u->body_case == HW__UPDATE__BODY_CENSUS && !o->brief) {
                const Hw__Census *c = u->census;
                const bool is_new = c->has_number && c->number > h->bands.newest;

                r = o->columns ? grid_add(&h->bands, c) : 0;
                if (r == 0 && is_new && o->points)
                        r = derive_rate(h, HW__SERIES__SERIES_CENSUS_TOTAL, c->time_ns, c->has_total_bytes,
                                        c->total_bytes);
        }
        return r;
}

int history_points_of(const Hw__History *answer, struct past *to)
{
        int r = 0;

        for (size_t i = 0; i < answer->n_points && r == 0; i++) {
                const Hw__Point *p = answer->points[i];
                struct point point = { p->time_ns,
                                       p->width_ns,
                                       { .n = p->count ? p->count : 1,
                                         .mean = p->mean,
                                         .min = p->min,
                                         .max = p->max,
                                         .last = p->last,
                                         .last_ns = p->has_last_time_ns ? p->last_time_ns : p->time_ns } };

                if (p->has_time_ns && p->has_max && p->time_ns <= UINT64_MAX - p->width_ns)
                        r = past_append(to, &point);
        }
        return r;
}

int history_recall_series(struct history *h, Hw__Series series, const struct past *points)
{
        if (!h->options.points || !series || (unsigned)series >= SERIES_COUNT || !is_kept(h, series))
                return 0;
        h->recalled[series] = true;
        return past_splice(&h->series[series], points, h->own_ns[series]);
}

int history_recall_band(struct history *h, uint32_t band, struct past *points)
{
        if (band > LIMIT_BANDS || h->options.brief)
                return 0;
        if (!ARRAY_RESERVE_ZEROED(h->recalled_bands, h->n_recalled, (size_t)band + 1))
                return -ENOMEM;
        past_done(&h->recalled_bands[band]);
        h->recalled_bands[band] = *points;
        memset(points, 0, sizeof(*points));
        return 0;
}

/* ------------------------------------------------------------------ reading */

const struct past *history_series(const struct history *h, Hw__Series series)
{
        static const struct past none;

        return h && series && (unsigned)series < SERIES_COUNT ? &h->series[series] : &none;
}

static const struct past *recalled_band(const struct history *h, uint32_t band)
{
        return band < h->n_recalled && h->recalled_bands[band].n ? &h->recalled_bands[band] : NULL;
}

/* Aligns the daemon's points of a band with the total's. */
static int add_recalled(const struct past *band, const struct past *total, struct past *ret)
{
        int r;

        if (!band || !total)
                return 0;
        r = past_copy(band, ret);
        if (r == 0 && band != total)
                r = past_align(ret, total);
        if (r < 0)
                past_done(ret);
        return r;
}

int history_band(const struct history *h, uint32_t band, const struct history_recalled *recalled, struct past *ret)
{
        const struct grid *g = h ? &h->bands : NULL;
        const struct grid_band *b = g ? grid_band(g, band) : NULL, none = { 0 };
        int r = recalled ? add_recalled(recalled->band, recalled->total, ret)
                         : add_recalled(recalled_band(h, band), recalled_band(h, 0), ret);

        if (r == -ENOMEM || !g || !g->columns.n)
                return r;
        past_end(ret, g->columns.points[0].time_ns);
        return grid_whole_points(g, b ? b : &none, ret) < 0 ? -ENOMEM : r;
}

/* What a band held at a time, according to the daemon's points: see past_align. */
static double held_value(const struct past *band, uint64_t time_ns)
{
        double last = 0;

        for (size_t i = 0; i < band->n && band->points[i].time_ns <= time_ns; i++)
                last = band->points[i].cell.last;
        return last;
}

/* The newest point that ends by a time, or else the first; one that may still grow does not count. */
static const struct point *base_of(const struct past *total, uint64_t time_ns)
{
        struct past settled = *total;
        const struct point *p;

        settled.n -= settled.n > 0;
        p = past_before(&settled, time_ns);
        return p || !settled.n ? p : &total->points[0];
}

static bool recalled_base(const struct history *h, uint32_t band, uint64_t from_ns, uint64_t widest_ns, double *ret)
{
        const struct past *total = recalled_band(h, 0), *points = recalled_band(h, band);
        const struct point *base = total && points ? base_of(total, from_ns) : NULL;

        if (!base || base->width_ns > widest_ns)
                return false;
        *ret = held_value(points, base->cell.last_ns);
        return true;
}

/* According to the censuses in updates: the newest that ends by a time, or else, with `any`, the first of several. */
static bool own_base(const struct grid *g, uint32_t band, uint64_t from_ns, bool any, double *ret)
{
        const struct grid_band *b = grid_band(g, band);
        const struct point *before = past_before(&g->columns, from_ns);

        if (!before && (!any || g->columns.n < 2))
                return false;
        *ret = b ? grid_cell(g, b, before ? (size_t)(before - g->columns.points) : 0).last : 0;
        return true;
}

double history_change(const struct history *h, uint32_t band, double now, uint64_t from_ns, uint64_t widest_ns)
{
        double base;

        if (!recalled_base(h, band, from_ns, widest_ns, &base) && !own_base(&h->bands, band, from_ns, false, &base) &&
            !recalled_base(h, band, from_ns, UINT64_MAX, &base) && !own_base(&h->bands, band, from_ns, true, &base))
                return NAN;
        return now - base;
}

uint64_t history_first_ns(const struct history *h)
{
        uint64_t first_ns = UINT64_MAX;

        for (size_t i = 0; i < SERIES_COUNT; i++) {
                const struct past *p = &h->series[i];

                if (p->n && p->points[0].time_ns < first_ns)
                        first_ns = p->points[0].time_ns;
        }
        return first_ns;
}
