/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one walk over the buckets of a stretch, oldest first, that all
 * questions are made of. It takes the finest ring that reaches back to the
 * stretch's older end (from the bucket that holds it on); a bucket of it that
 * lies across the newer end is taken to pieces, by the rings below:
 *
 *      |    10 min    |    10 min    |1m|1m|1m|10s|1s|1s| to
 */
#include "daemon/rules/history.h"

#include <math.h>
#include <stddef.h>

#define SECOND_NS 1e9

typedef void visit_fn(void *ctx, const struct bucket *b);

static void walk(const struct series *s, uint64_t from_ns, uint64_t to_ns, visit_fn *visit, void *ctx)
{
        if (!s->memory_bytes) /* not born: no sample has come */
                return;
        for (unsigned ring = series_ring(s, from_ns);; ring--) {
                const struct window *w = &s->windows[ring];
                uint64_t i = from_ns / w->width_ns, end = to_ns / w->width_ns;

                if (!w->empty && i < w->from)
                        i = w->from;
                for (; !w->empty && i < end && i <= w->newest; i++) {
                        const struct bucket *b = window_at(w, i);
                        if (b)
                                visit(ctx, b);
                }
                if (ring == 0)
                        break;
                if (end * w->width_ns > from_ns)
                        from_ns = end * w->width_ns;
        }
}

static void merge(void *ctx, const struct bucket *b)
{
        bucket_merge(ctx, b);
}

/* As walk(), but nobody asks for single buckets, so that wider ones may stand for several. */
bool history_span(const struct series *s, uint64_t from_ns, uint64_t to_ns, struct bucket *ret)
{
        *ret = (struct bucket){ 0 };
        if (!s->memory_bytes)
                return false;
        for (unsigned ring = series_ring(s, from_ns);; ring--) {
                uint64_t width = s->windows[ring].width_ns, end = to_ns / width;

                series_merge(s, ring, from_ns / width, end, ret);
                if (ring == 0)
                        break;
                if (end * width > from_ns)
                        from_ns = end * width;
        }
        return ret->moments.n > 0;
}

static void keep_first(void *ctx, const struct bucket *b)
{
        struct bucket *first = ctx;

        if (!first->moments.n)
                *first = *b;
}

bool history_oldest(const struct series *s, uint64_t from_ns, uint64_t to_ns, struct bucket *ret)
{
        *ret = (struct bucket){ 0 };
        walk(s, from_ns, to_ns, keep_first, ret);
        return ret->moments.n > 0;
}

/* Backwards through the finest ring, then through what only the wider ones still have. */
bool history_newest(const struct series *s, uint64_t before_ns, struct bucket *ret)
{
        for (unsigned ring = 0; s->memory_bytes && ring < SERIES_WIDTHS; ring++) {
                const struct window *w = &s->windows[ring];
                uint64_t end = before_ns / w->width_ns;

                if (w->empty)
                        return false;
                if (end > w->newest + 1)
                        end = w->newest + 1;
                for (uint64_t i = end; i > w->from; i--) {
                        const struct bucket *b = window_at(w, i - 1);
                        if (b) {
                                *ret = *b;
                                return true;
                        }
                }
        }
        return false;
}

struct area {
        double sum, value;
        uint64_t since_ns;
        bool any;
};

static void add_area(void *ctx, const struct bucket *b)
{
        struct area *a = ctx;
        uint64_t at = (uint64_t)(b->moments.t_mean * SECOND_NS);

        if (a->any && at > a->since_ns)
                a->sum += a->value * ((double)(at - a->since_ns) / SECOND_NS);
        a->value = b->moments.v_mean;
        a->since_ns = at;
        a->any = true;
}

static double finish_area(const struct area *a, uint64_t to_ns)
{
        if (!a->any)
                return (double)NAN;
        return a->sum + (to_ns > a->since_ns ? a->value * ((double)(to_ns - a->since_ns) / SECOND_NS) : 0);
}

double history_integral(const struct series *s, uint64_t from_ns, uint64_t to_ns)
{
        struct area a = { 0 };

        walk(s, from_ns, to_ns, add_area, &a);
        return finish_area(&a, to_ns);
}

/* ---------------------------------------------------------------------- bands */

/* A point as a bucket: its mean in the middle of its time, which is all that is kept. Empty when it has no sample. */
static struct bucket bucket_of(const struct band_history *h, uint32_t i)
{
        const struct band_point *p = band_point(h, i);
        uint64_t start = (h->first + i) * h->width_ns;
        struct bucket b = { 0 };

        if (!p)
                return b;
        b.min = (double)p->min;
        b.max = (double)p->max;
        b.last = (double)p->last;
        b.last_time_ns = start + h->width_ns - 1;
        b.moments.n = p->count;
        b.moments.t_mean = ((double)start + (double)h->width_ns / 2) / SECOND_NS;
        b.moments.v_mean = (double)p->mean;
        return b;
}

static void walk_band(const struct band_history *h, uint64_t from_ns, uint64_t to_ns, visit_fn *visit, void *ctx)
{
        for (uint32_t i = 0; h && i < h->n; i++) {
                uint64_t start = (h->first + i) * h->width_ns;
                struct bucket b = bucket_of(h, i);
                if (b.moments.n && start >= from_ns && start < to_ns)
                        visit(ctx, &b);
        }
}

bool history_band_span(const struct band_history *h, uint64_t from_ns, uint64_t to_ns, struct bucket *ret)
{
        *ret = (struct bucket){ 0 };
        walk_band(h, from_ns, to_ns, merge, ret);
        return ret->moments.n > 0;
}

bool history_band_oldest(const struct band_history *h, uint64_t from_ns, uint64_t to_ns, struct bucket *ret)
{
        *ret = (struct bucket){ 0 };
        walk_band(h, from_ns, to_ns, keep_first, ret);
        return ret->moments.n > 0;
}

bool history_band_newest(const struct band_history *h, uint64_t before_ns, struct bucket *ret)
{
        *ret = (struct bucket){ 0 };
        for (uint32_t i = 0; h && i < h->n && (h->first + i + 1) * h->width_ns <= before_ns; i++)
                if (band_point(h, i))
                        *ret = bucket_of(h, i);
        return ret->moments.n > 0;
}

double history_band_integral(const struct band_history *h, uint64_t from_ns, uint64_t to_ns)
{
        struct area a = { 0 };

        walk_band(h, from_ns, to_ns, add_area, &a);
        return finish_area(&a, to_ns);
}
