/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * band_history.c - the points of a band's history, as cells of a fold (proto/base/fold.h): 64 of them in 1.3 kB, or 8
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

static struct band_point thickened(const struct band_point_thin *p)
{
        return (struct band_point){ p->min, p->max, p->mean, p->last, p->count };
}

static void move(struct fold *h, struct band_point *to)
{
        for (uint32_t i = 0; i < h->n; i++)
                to[(size_t)i * BAND_STRIDE] = thickened(fold_slot(&band_history_thin, h, i));
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

bool band_point(const struct band *band, uint32_t i, struct band_point *ret)
{
        const void *found = band->history ? fold_at(band_history_shape(band), band->history, i) : NULL;

        if (found)
                *ret = band->whole ? *(const struct band_point *)found : thickened(found);
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

/* *later is the later one. */
void band_point_merge(void *point, const void *later)
{
        struct band_point *to = point;
        const struct band_point *from = later;
        float a = (float)to->count, b = (float)from->count;

        if (!from->count)
                return;
        if (!to->count) {
                *to = *from;
                return;
        }
        if (from->min < to->min)
                to->min = from->min;
        if (from->max > to->max)
                to->max = from->max;
        to->mean += (from->mean - to->mean) * (b / (a + b));
        to->last = from->last;
        to->count += from->count;
}

bool band_point_thin_is_empty(const void *point)
{
        return ((const struct band_point_thin *)point)->count == 0;
}

void band_point_thin_reset(void *point)
{
        ((struct band_point_thin *)point)->count = 0;
}

/* The same. */
void band_point_thin_merge(void *point, const void *later)
{
        struct band_point_thin *to = point;
        struct band_point sum = thickened(to), more = thickened(later);

        band_point_merge(&sum, &more);
        *to = (struct band_point_thin){
                .mean = sum.mean,
                .min = (uint16_t)sum.min,
                .max = (uint16_t)sum.max,
                .last = (uint16_t)sum.last,
                .count = (uint16_t)(sum.count < UINT16_MAX ? sum.count : UINT16_MAX),
        };
}
