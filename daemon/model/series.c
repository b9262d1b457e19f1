/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: four rings in one block. Most series are young, and each ring begins
 * on a page of its own, so rings are laid in pairs whose young ends meet:
 *
 *      page:  |      |      |   ..young|young..  |      |      |
 *             [ ring of 10 min, starts ][ ring of 1 min         ]
 *               near its end, goes on at its beginning
 *
 * and likewise 10 s with 1 s. Capacities are chosen so that the meeting point
 * lies within a page: a series of some seconds touches two pages, not four.
 */
#include "model/series.h"

#include <errno.h>
#include <stdlib.h>

#define PAGE_BYTES ((size_t)4096)
#define SECOND UINT64_C(1000000000)
#define YOUNG 15u       /* buckets of a pair's first ring that lie before the meeting point */

static const struct {
        uint64_t width_ns;
        uint32_t capacity;
        uint32_t start;
} rings[SERIES_WIDTHS] = {
        { SECOND, 300, 0 },
        { 10 * SECOND, 384, 384 - YOUNG },
        { 60 * SECOND, 360, 0 },
        { 600 * SECOND, 288, 288 - YOUNG },
};

static const unsigned order[SERIES_WIDTHS] = { 3, 2, 1, 0 }; /* in memory */

static size_t place_ring(unsigned ring, size_t at)
{
        if (ring == 1) /* the second pair begins on a page */
                at = (at + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        return at;
}

int series_init(struct series *s)
{
        size_t offsets[SERIES_WIDTHS], size = 0;

        *s = (struct series){ 0 };
        for (unsigned i = 0; i < SERIES_WIDTHS; i++) {
                unsigned r = order[i];
                offsets[r] = place_ring(r, size);
                size = offsets[r] + rings[r].capacity * sizeof(struct bucket);
        }
        size = (size + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        for (unsigned r = 0; r < SERIES_WIDTHS; r++)
                s->windows[r].empty = true;
        char *memory = aligned_alloc(PAGE_BYTES, size);
        if (!memory)
                return -ENOMEM;
        s->memory = memory;
        s->memory_bytes = size;
        for (unsigned r = 0; r < SERIES_WIDTHS; r++) {
                window_init(&s->windows[r], (struct bucket *)(void *)(memory + offsets[r]), rings[r].capacity,
                            rings[r].width_ns);
                s->windows[r].start = rings[r].start;
        }
        return 0;
}

void series_done(struct series *s)
{
        free(s->memory);
        *s = (struct series){ 0 };
        for (unsigned r = 0; r < SERIES_WIDTHS; r++)
                s->windows[r].empty = true;
}

void series_clear(struct series *s)
{
        for (unsigned r = 0; r < SERIES_WIDTHS; r++)
                window_clear(&s->windows[r]);
        s->total = (struct bucket){ 0 };
        s->late = 0;
}

void series_push(struct series *s, uint64_t time_ns, double value)
{
        bucket_add(&s->total, time_ns, value);
        if (!s->memory || !window_add(&s->windows[0], time_ns, value))
                s->late++;
        for (unsigned r = 1; s->memory && r < SERIES_WIDTHS; r++)
                (void)window_add(&s->windows[r], time_ns, value); /* too late for a wide ring too: already counted */
}

/* The finest window that has all there is from from_ns on, else the widest. */
static const struct window *choose(const struct series *s, uint64_t from_ns)
{
        for (unsigned r = 0; r + 1 < SERIES_WIDTHS; r++) {
                const struct window *w = &s->windows[r];
                if (!w->rolled || w->from <= from_ns / w->width_ns)
                        return w;
        }
        return &s->windows[SERIES_WIDTHS - 1];
}

size_t series_history(const struct series *s, uint64_t from_ns, uint64_t to_ns, uint64_t step_ns,
                      struct series_point *points, size_t max)
{
        const struct window *w = choose(s, from_ns);
        size_t n = 0;

        if (w->empty || from_ns >= to_ns)
                return 0;
        uint64_t from = from_ns / w->width_ns, last = (to_ns - 1) / w->width_ns;
        uint64_t group = step_ns ? (step_ns - 1) / w->width_ns + 1 : 1, group_now = 0;
        if (from < w->from)
                from = w->from;
        if (last > w->newest)
                last = w->newest;
        for (uint64_t i = from; i <= last; i++) {
                const struct bucket *b = window_at(w, i);
                if (!b)
                        continue;
                if (n && group_now == i / group) {
                        bucket_merge(&points[n - 1].bucket, b);
                        continue;
                }
                if (n == max)
                        break;
                group_now = i / group;
                points[n++] = (struct series_point){
                        .time_ns = group_now * group * w->width_ns,
                        .width_ns = group * w->width_ns,
                        .bucket = *b,
                };
        }
        return n;
}

void series_recent(const struct series *s, uint64_t now_ns, uint64_t span_ns, struct bucket *ret)
{
        uint64_t from = now_ns > span_ns ? now_ns - span_ns : 0;

        window_merge(&s->windows[0], from, now_ns == UINT64_MAX ? now_ns : now_ns + 1, ret);
}
