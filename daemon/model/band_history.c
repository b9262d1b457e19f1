/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: 64 points over the whole life of a band. Point 0 is the stretch
 * `first`; when a sample does not fit on either side, neighbours are merged,
 * the width doubles, and the question is asked again. So a band of ten minutes
 * has points of 16 s, one of a month points of 12 h, in the same 1.3 kB.
 */
#include "daemon/model/bands_private.h"

static struct band_point *at(const struct band_history *h, uint32_t i)
{
        return &h->points[(size_t)i * BAND_STRIDE];
}

/* Makes the points up to `i`. */
static void reach(struct band_history *h, uint32_t i)
{
        while (h->n <= i)
                at(h, h->n++)->count = 0;
}

/* *from is the later one. */
static void merge_point(struct band_point *to, const struct band_point *from)
{
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

static void widen(struct band_history *h)
{
        uint32_t odd = h->first % 2, n = h->n;

        for (uint32_t i = 0; i < n; i++) {
                uint32_t to = (i + odd) / 2;
                if (to == i)
                        continue;
                merge_point(at(h, to), at(h, i));
                at(h, i)->count = 0;
        }
        h->n = (n - 1 + odd) / 2 + 1;
        h->first /= 2;
        h->width_ns *= 2;
}

/* Moves all points up, so that point 0 becomes the stretch `first`. */
static void lower(struct band_history *h, uint64_t first)
{
        uint32_t by = (uint32_t)(h->first - first), n = h->n;

        reach(h, n - 1 + by);
        for (uint32_t i = n; i-- > 0;)
                *at(h, i + by) = *at(h, i);
        for (uint32_t i = 0; i < by; i++)
                at(h, i)->count = 0;
        h->first = first;
}

/* The point of a time; made by widening when need be. The width stays below 2^63: times have 64 bits. */
static uint32_t point_of(struct band_history *h, uint64_t time_ns)
{
        for (;;) {
                uint64_t index = time_ns / h->width_ns;
                if (index >= h->first && index - h->first < BAND_POINTS) {
                        reach(h, (uint32_t)(index - h->first));
                        return (uint32_t)(index - h->first);
                }
                if (index < h->first && h->first - index + h->n - 1 < BAND_POINTS) {
                        lower(h, index);
                        return 0;
                }
                widen(h);
        }
}

struct band_point *band_history_point(struct band_history *h, uint64_t time_ns)
{
        if (!h->width_ns) {
                h->width_ns = BAND_FIRST_WIDTH_NS;
                h->first = time_ns / BAND_FIRST_WIDTH_NS;
        }
        h->newest = point_of(h, time_ns);
        h->newest_ns = (h->first + h->newest) * h->width_ns;
        return at(h, h->newest);
}
