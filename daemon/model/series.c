/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: four rings, each with memory of its own that doubles while the series
 * is young. Most series of most targets are young, and fifty targets with ten
 * series each must fit into a few megabytes, which whole rings would not. A
 * ring grows before it would drop a bucket that its full capacity can hold.
 *
 * A stretch is merged from the widest buckets that lie in it, down to the
 * ring's own at both ends: 30 to 40 merges instead of up to 384. Rules ask for
 * several stretches in every second of a log: catching up with two days of one
 * target spent 40 % of its time in merges.
 */
#include "daemon/model/series.h"

#include <errno.h>
#include <stdlib.h>

#define SECOND UINT64_C(1000000000)

static const struct {
        uint64_t width_ns;
        uint32_t first, most; /* capacity at birth and at last */
} rings[SERIES_WIDTHS] = {
        { SECOND, 8, 300 },
        { 10 * SECOND, 4, 384 },
        { 60 * SECOND, 2, 360 },
        { 600 * SECOND, 2, 288 },
};

int series_init(struct series *s)
{
        *s = (struct series){ 0 };
        series_clear(s);
        for (unsigned r = 0; r < SERIES_WIDTHS; r++) {
                size_t bytes = rings[r].first * sizeof(struct bucket);
                struct bucket *buckets = malloc(bytes);
                if (!buckets) {
                        series_done(s);
                        return -ENOMEM;
                }
                window_init(&s->windows[r], buckets, rings[r].first, rings[r].width_ns);
                s->memory_bytes += bytes;
        }
        return 0;
}

void series_done(struct series *s)
{
        for (unsigned r = 0; r < SERIES_WIDTHS; r++)
                free(s->windows[r].buckets);
        *s = (struct series){ 0 };
        series_clear(s);
}

void series_clear(struct series *s)
{
        for (unsigned r = 0; r < SERIES_WIDTHS; r++)
                window_clear(&s->windows[r]);
        s->total = (struct bucket){ 0 };
        s->late = 0;
}

/* Grows a ring when the bucket `index` would push out one that a full ring could keep. */
static void make_room(struct series *s, unsigned ring, uint64_t index)
{
        struct window *w = &s->windows[ring];
        uint64_t low = index < w->from ? index : w->from, high = index > w->newest ? index : w->newest;
        uint64_t jump = index > w->newest ? index - w->newest : w->newest - index;
        uint64_t capacity = (uint64_t)w->capacity * 2;

        if (w->empty || high - low < w->capacity || jump >= rings[ring].most)
                return;
        if (capacity <= high - low)
                capacity = high - low + 1;
        if (capacity > rings[ring].most)
                capacity = rings[ring].most;
        if (capacity == w->capacity)
                return;
        struct bucket *old = w->buckets, *buckets = malloc(capacity * sizeof(*buckets));
        if (!buckets)
                return;
        s->memory_bytes += (capacity - w->capacity) * sizeof(*buckets);
        window_move(w, buckets, (uint32_t)capacity);
        free(old);
}

static bool push(struct series *s, unsigned ring, uint64_t time_ns, double value)
{
        make_room(s, ring, time_ns / rings[ring].width_ns);
        return window_add(&s->windows[ring], time_ns, value);
}

void series_push(struct series *s, uint64_t time_ns, double value)
{
        bucket_add(&s->total, time_ns, value);
        if (!s->memory_bytes || !push(s, 0, time_ns, value))
                s->late++;
        for (unsigned r = 1; s->memory_bytes && r < SERIES_WIDTHS; r++)
                (void)push(s, r, time_ns, value); /* too late for a wide ring too: already counted */
}

unsigned series_ring(const struct series *s, uint64_t from_ns)
{
        unsigned r = 0;

        while (r + 1 < SERIES_WIDTHS && s->windows[r].rolled && s->windows[r].from > from_ns / s->windows[r].width_ns)
                r++;
        return r;
}

size_t series_history(const struct series *s, uint64_t from_ns, uint64_t to_ns, uint64_t step_ns,
                      struct series_point *points, size_t max)
{
        const struct window *w = &s->windows[series_ring(s, from_ns)];
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

void series_merge(const struct series *s, unsigned ring, uint64_t from, uint64_t end, struct bucket *ret)
{
        const struct window *w = &s->windows[ring], *wider = ring + 1 < SERIES_WIDTHS ? w + 1 : NULL;

        if (w->empty)
                return;
        if (from < w->from)
                from = w->from;
        if (end > w->newest + 1)
                end = w->newest + 1;
        if (from >= end)
                return;
        uint64_t fan = wider ? wider->width_ns / w->width_ns : 0;
        uint64_t first = wider ? from / fan + (from % fan != 0) : 0, behind = wider ? end / fan : 0;
        if (first >= behind || (wider->rolled && wider->from > first)) {
                window_add_up(w, from, end, ret);
                return;
        }
        window_add_up(w, from, first * fan, ret);
        series_merge(s, ring + 1, first, behind, ret);
        window_add_up(w, behind * fan, end, ret);
}

void series_span(const struct series *s, uint64_t from_ns, uint64_t to_ns, struct bucket *ret)
{
        *ret = (struct bucket){ 0 };
        if (!s->total.moments.n)
                return;
        if (from_ns == 0 && to_ns > s->total.last_time_ns) {
                *ret = s->total;
        } else if (from_ns < to_ns) {
                unsigned ring = series_ring(s, from_ns);
                const struct window *w = &s->windows[ring];
                series_merge(s, ring, window_first(w, from_ns), window_first(w, to_ns), ret);
        }
}

void series_recent(const struct series *s, uint64_t now_ns, uint64_t span_ns, struct bucket *ret)
{
        uint64_t from = now_ns > span_ns ? now_ns - span_ns : 0;

        window_merge(&s->windows[0], from, now_ns == UINT64_MAX ? now_ns : now_ns + 1, ret);
}
