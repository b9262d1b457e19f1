/* SPDX-License-Identifier: BSD-3-Clause */
/* band_history.c - the points of a band's history, as cells of a fold (proto/base/fold.h): 64 of them in 1.3 kB. */
#include "daemon/model/bands_private.h"

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
