/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * band_history.c - the points of a band's history, as cells of a fold (proto/facts/fold.h): 64 of them in 1.3 kB, or 8
 * small ones in 96 bytes, which are left behind when the band gets 64.
 */
#include "daemon/model/bands_private.h"

/* Cells for one more history. NULL: out of memory. */
static void *new_points(struct arena *arena, struct band_points *newest, const struct fold_shape *shape)
{
        if (!newest->cells || newest->used == BAND_STRIDE) {
                newest->cells = arena_alloc(arena, shape->cell.size * BAND_STRIDE * shape->capacity);
                newest->used = 0;
        }
        return newest->cells ? newest->cells + newest->used++ * shape->cell.size : NULL;
}

static struct cell cell_of_point(const struct band_point *p)
{
        return (struct cell){ p->count, (double)p->mean, (double)p->min, (double)p->max, (double)p->last, 0 };
}

static struct band_point point_of_cell(const struct cell *c)
{
        return (struct band_point){ (float)c->min, (float)c->max, (float)c->mean, (float)c->last, (uint32_t)c->n };
}

static struct cell cell_of_thin(const struct band_point_thin *p)
{
        return (struct cell){ p->count, (double)p->mean, p->min, p->max, p->last, 0 };
}

static void move(struct fold *h, struct band_point *to)
{
        for (uint32_t i = 0; i < h->n; i++) {
                const struct cell c = cell_of_thin(fold_slot(&band_history_thin, h, i));
                to[(size_t)i * BAND_STRIDE] = point_of_cell(&c);
        }
        h->cells = to;
}

void bands_fit_history(struct bands *b, struct band *band, bool large)
{
        bool whole = large || band->id <= BAND_WHOLE_FIRST, none = band->id > LIMIT_FULL_BANDS;

        if (none || (band->history && !whole)) {
                band->whole = none;
                return;
        }
        void *cells = whole ? new_points(&b->points, &b->newest_points, &band_history)
                            : new_points(&b->points, &b->newest_thin_points, &band_history_thin);
        if (cells && !band->history)
                band->history = pool_add(&b->histories);
        if (!cells || !band->history)
                return;
        if (whole)
                move(band->history, cells);
        else
                band->history->cells = cells;
        band->whole = whole;
}

bool band_point(const struct band *band, uint32_t i, struct cell *ret)
{
        const void *found = band->history ? fold_at(band_history_shape(band), band->history, i) : NULL;

        if (found)
                *ret = band->whole ? cell_of_point(found) : cell_of_thin(found);
        return found;
}

bool band_point_is_empty(const void *point)
{
        return ((const struct band_point *)point)->count == 0;
}

void band_point_reset(void *point)
{
        ((struct band_point *)point)->count = 0;
}

/* The last value is that of `later`. */
void band_point_merge(void *point, const void *later)
{
        struct band_point *to = point;

        if (!to->count) { /* half of all cases when cells are widened */
                *to = *(const struct band_point *)later;
                return;
        }
        struct cell sum = cell_of_point(to), more = cell_of_point(later);
        cell_merge(&sum, &more);
        *to = point_of_cell(&sum);
}

bool band_point_thin_is_empty(const void *point)
{
        return ((const struct band_point_thin *)point)->count == 0;
}

void band_point_thin_reset(void *point)
{
        ((struct band_point_thin *)point)->count = 0;
}

void band_point_thin_merge(void *point, const void *later)
{
        struct cell sum = cell_of_thin(point), more = cell_of_thin(later);

        cell_merge(&sum, &more);
        *(struct band_point_thin *)point = (struct band_point_thin){
                .mean = (float)sum.mean,
                .min = (uint16_t)sum.min,
                .max = (uint16_t)sum.max,
                .last = (uint16_t)sum.last,
                .count = (uint16_t)(sum.n < UINT16_MAX ? sum.n : UINT16_MAX),
        };
}
