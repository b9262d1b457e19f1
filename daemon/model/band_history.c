/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: 64 points over the whole life of a band. points[0] is the stretch
 * `first`; when a sample does not fit on either side, neighbours are merged,
 * the width doubles, and the question is asked again. So a band of ten minutes
 * has points of 16 s, one of a month points of 12 h, in the same 1.3 kB.
 */
#include <string.h>

#include "model/bands_private.h"

#define FIRST_WIDTH_NS UINT64_C(1000000000)

/* Index of the last point in use; `h` has at least one. */
static unsigned last_point(const struct band_history *h)
{
        unsigned i = BAND_POINTS - 1;

        while (i && !h->points[i].count)
                i--;
        return i;
}

static void merge_point(struct band_history *h, unsigned to, unsigned from)
{
        if (!h->points[from].count || to == from)
                return;
        if (!h->points[to].count) {
                h->points[to] = h->points[from];
                return;
        }
        float a = (float)h->points[to].count, b = (float)h->points[from].count;
        if (h->points[from].min < h->points[to].min)
                h->points[to].min = h->points[from].min;
        if (h->points[from].max > h->points[to].max)
                h->points[to].max = h->points[from].max;
        h->points[to].mean += (h->points[from].mean - h->points[to].mean) * (b / (a + b));
        h->points[to].last = h->points[from].last; /* `from` is the later one */
        h->points[to].count += h->points[from].count;
}

static void widen(struct band_history *h)
{
        unsigned odd = h->first % 2, last = last_point(h);

        for (unsigned i = 0; i <= last; i++) {
                unsigned to = (i + odd) / 2;
                if (to == i)
                        continue;
                merge_point(h, to, i);
                h->points[i].count = 0;
        }
        h->first /= 2;
        h->width_ns *= 2;
}

/* Moves all points up, so that points[0] becomes the stretch `first`. */
static void lower(struct band_history *h, uint64_t first)
{
        unsigned by = (unsigned)(h->first - first), n = last_point(h) + 1;

        memmove(&h->points[by], &h->points[0], n * sizeof(h->points[0]));
        memset(&h->points[0], 0, by * sizeof(h->points[0]));
        h->first = first;
}

/* The point of a time; made by widening when need be. The width stays below 2^63: times have 64 bits. */
static unsigned point_of(struct band_history *h, uint64_t time_ns)
{
        for (;;) {
                uint64_t index = time_ns / h->width_ns;
                if (index >= h->first && index - h->first < BAND_POINTS)
                        return (unsigned)(index - h->first);
                if (index < h->first && h->first - index + last_point(h) < BAND_POINTS) {
                        lower(h, index);
                        return 0;
                }
                widen(h);
        }
}

void band_history_add(struct band_history *h, uint64_t time_ns, double value)
{
        float v = (float)value;

        if (!h->width_ns) {
                h->width_ns = FIRST_WIDTH_NS;
                h->first = time_ns / FIRST_WIDTH_NS;
                h->newest_ns = UINT64_MAX;
        }
        if (time_ns < h->newest_ns || time_ns - h->newest_ns >= h->width_ns) {
                h->newest = point_of(h, time_ns);
                h->newest_ns = (h->first + h->newest) * h->width_ns;
        }
        unsigned i = h->newest;
        if (!h->points[i].count) {
                h->points[i].min = h->points[i].max = h->points[i].mean = v;
        } else {
                if (v < h->points[i].min)
                        h->points[i].min = v;
                if (v > h->points[i].max)
                        h->points[i].max = v;
                h->points[i].mean += (v - h->points[i].mean) / (float)(h->points[i].count + 1);
        }
        h->points[i].last = v;
        h->points[i].count++;
}
