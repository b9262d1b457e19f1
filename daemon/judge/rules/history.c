/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: every function is one walk over the cells of a range, oldest first:
 * pyramid_visit() for a series. A cell across the newer end is replaced by
 * finer ones:
 *
 *      |    10 min    |    10 min    |1m|1m|1m|10s|1s|1s| to
 */
#include "daemon/judge/rules/data.h"
#include "proto/base/ckd.h"
#include "proto/base/time.h"

#include <math.h>
#include <stddef.h>

bool history_span(const struct series *s, struct time_range range, struct trend_cell *ret)
{
        *ret = (struct trend_cell){ .cell.n = 0 };
        pyramid_sum(&series_shape, &s->pyramid, range, ret);
        return ret->cell.n > 0;
}

static void keep_first(void *ctx, const void *cell)
{
        struct trend_cell *first = ctx;

        if (!first->cell.n)
                *first = *(const struct trend_cell *)cell;
}

bool history_oldest(const struct series *s, struct time_range range, struct trend_cell *ret)
{
        *ret = (struct trend_cell){ .cell.n = 0 };
        pyramid_visit(&series_shape, &s->pyramid, range, keep_first, ret);
        return ret->cell.n > 0;
}

bool history_newest(const struct series *s, uint64_t before_ns, struct trend_cell *ret)
{
        struct trend_cell room;
        const struct trend_cell *b = pyramid_before(&series_shape, &s->pyramid, before_ns, &room);

        if (b)
                *ret = *b;
        return b != NULL;
}

struct area {
        double sum, value;
        uint64_t since_ns;
        bool any;
};

static void add_area(void *ctx, const void *cell)
{
        const struct trend_cell *c = cell;
        struct area *a = ctx;
        uint64_t at = u64_sat(c->t_mean * (double)NS_PER_S);

        if (a->any && at > a->since_ns)
                a->sum += a->value * ((double)(at - a->since_ns) / (double)NS_PER_S);
        a->value = c->cell.mean;
        a->since_ns = at;
        a->any = true;
}

static double finish_area(const struct area *a, uint64_t to_ns)
{
        if (!a->any)
                return (double)NAN;
        return a->sum + (to_ns > a->since_ns ? a->value * ((double)(to_ns - a->since_ns) / (double)NS_PER_S) : 0);
}

double history_integral(const struct series *s, struct time_range range)
{
        struct area a = { 0 };

        pyramid_visit(&series_shape, &s->pyramid, range, add_area, &a);
        return finish_area(&a, range.to_ns);
}

/* ---------------------------------------------------------------------- bands */

/* A point with its mean at the middle of its time, as nothing finer is kept. Empty without a sample. */
static struct trend_cell cell_of_band(const struct band *band, uint32_t i)
{
        uint64_t start = fold_time_ns(band->history, i), width_ns = band->history->width_ns;
        struct trend_cell c = { .cell.n = 0 };

        (void)band_point(band, i, &c.cell);
        c.cell.last_ns = start + width_ns - 1;
        c.t_mean = ((double)start + (double)width_ns / 2) / (double)NS_PER_S;
        return c;
}

bool history_band_span(const struct band *band, struct time_range range, struct range_samples *ret)
{
        const struct fold *h = band ? band->history : NULL;
        struct area a = { 0 };

        *ret = (struct range_samples){ .all.cell.n = 0 };
        for (uint32_t i = 0; h && i < h->n; i++) {
                uint64_t start = fold_time_ns(h, i);
                struct trend_cell c = cell_of_band(band, i);
                if (!c.cell.n || start < range.from_ns || start >= range.to_ns)
                        continue;
                keep_first(&ret->oldest, &c);
                add_area(&a, &c);
                trend_cell_merge(&ret->all, &c);
        }
        ret->area = finish_area(&a, range.to_ns);
        return ret->all.cell.n > 0;
}

bool history_band_newest(const struct band *band, uint64_t before_ns, struct trend_cell *ret)
{
        const struct fold *h = band ? band->history : NULL;

        *ret = (struct trend_cell){ .cell.n = 0 };
        for (uint32_t i = 0; h && i < h->n && fold_time_ns(h, i + 1) <= before_ns; i++) {
                struct trend_cell c = cell_of_band(band, i);
                if (c.cell.n)
                        *ret = c;
        }
        return ret->cell.n > 0;
}
