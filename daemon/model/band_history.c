/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * band_history.c - the points of a band's history, as cells of a fold (proto/base/fold.h): 64 of them in 1.3 kB, or 8
 * in 160 bytes, which are left behind when the band gets 64.
 */
#include "daemon/model/bands_private.h"

/* Cells for one more history. NULL: out of memory. */
static struct band_point *new_points(struct arena *arena, struct band_points *newest, uint32_t points)
{
        if (!newest->cells || newest->used == BAND_STRIDE) {
                newest->cells = arena_alloc(arena, sizeof(*newest->cells) * BAND_STRIDE * points);
                newest->used = 0;
        }
        return newest->cells ? newest->cells + newest->used++ : NULL;
}

static void move(struct fold *h, struct band_point *to)
{
        const struct band_point *from = h->cells;

        for (uint32_t i = 0; i < h->n; i++)
                to[(size_t)i * BAND_STRIDE] = from[(size_t)i * BAND_STRIDE];
        h->cells = to;
}

void bands_fit_history(struct bands *b, struct band *band, bool large)
{
        bool whole = large || band->id <= BAND_WHOLE_FIRST, none = band->id > LIMIT_FULL_BANDS;

        if (none || (band->history && !whole)) {
                band->whole = none;
                return;
        }
        struct band_point *cells = whole ? new_points(&b->points, &b->newest_points, BAND_POINTS)
                                         : new_points(&b->points, &b->newest_thin_points, BAND_POINTS_THIN);
        if (cells && !band->history)
                band->history = pool_add(&b->histories);
        if (!cells || !band->history)
                return;
        move(band->history, cells);
        band->whole = whole;
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
