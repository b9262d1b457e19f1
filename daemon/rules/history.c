/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: every function is one walk over the buckets of a range, oldest first:
 * pyramid_visit() for a series. A bucket across the newer end is replaced by
 * finer ones:
 *
 *      |    10 min    |    10 min    |1m|1m|1m|10s|1s|1s| to
 */
#include "daemon/rules/history.h"
#include "proto/base/time.h"

#include <math.h>
#include <stddef.h>

typedef void visit_fn(void *ctx, const void *bucket);

bool history_span(const struct series *s, struct time_range range, struct bucket *ret)
{
        *ret = (struct bucket){ 0 };
        pyramid_sum(&series_shape, &s->pyramid, range, ret);
        return ret->moments.n > 0;
}

static void keep_first(void *ctx, const void *bucket)
{
        struct bucket *first = ctx;

        if (!first->moments.n)
                *first = *(const struct bucket *)bucket;
}

bool history_oldest(const struct series *s, struct time_range range, struct bucket *ret)
{
        *ret = (struct bucket){ 0 };
        pyramid_visit(&series_shape, &s->pyramid, range, keep_first, ret);
        return ret->moments.n > 0;
}

bool history_newest(const struct series *s, uint64_t before_ns, struct bucket *ret)
{
        struct bucket room;
        const struct bucket *b = pyramid_before(&series_shape, &s->pyramid, before_ns, &room);

        if (b)
                *ret = *b;
        return b != NULL;
}

struct area {
        double sum, value;
        uint64_t since_ns;
        bool any;
};

static void add_area(void *ctx, const void *bucket)
{
        const struct bucket *b = bucket;
        struct area *a = ctx;
        uint64_t at = (uint64_t)(b->moments.t_mean * (double)NS_PER_S);

        if (a->any && at > a->since_ns)
                a->sum += a->value * ((double)(at - a->since_ns) / (double)NS_PER_S);
        a->value = b->moments.v_mean;
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

/* A point as a bucket, with its mean at the middle of its time, as nothing finer is kept. Empty without a sample. */
static struct bucket bucket_of(const struct band *band, uint32_t i)
{
        uint64_t start = fold_time_ns(band->history, i), width_ns = band->history->width_ns;
        struct bucket b = { 0 };
        struct band_point p;

        if (!band_point(band, i, &p))
                return b;
        b.min = (double)p.min;
        b.max = (double)p.max;
        b.last = (double)p.last;
        b.last_time_ns = start + width_ns - 1;
        b.moments.n = p.count;
        b.moments.t_mean = ((double)start + (double)width_ns / 2) / (double)NS_PER_S;
        b.moments.v_mean = (double)p.mean;
        return b;
}

static void walk_band(const struct band *band, struct time_range range, visit_fn *visit, void *ctx)
{
        const struct fold *h = band ? band->history : NULL;

        for (uint32_t i = 0; h && i < h->n; i++) {
                uint64_t start = fold_time_ns(h, i);
                struct bucket b = bucket_of(band, i);
                if (b.moments.n && start >= range.from_ns && start < range.to_ns)
                        visit(ctx, &b);
        }
}

bool history_band_span(const struct band *band, struct time_range range, struct bucket *ret)
{
        *ret = (struct bucket){ 0 };
        walk_band(band, range, bucket_cell_merge, ret);
        return ret->moments.n > 0;
}

bool history_band_oldest(const struct band *band, struct time_range range, struct bucket *ret)
{
        *ret = (struct bucket){ 0 };
        walk_band(band, range, keep_first, ret);
        return ret->moments.n > 0;
}

bool history_band_newest(const struct band *band, uint64_t before_ns, struct bucket *ret)
{
        const struct fold *h = band ? band->history : NULL;

        *ret = (struct bucket){ 0 };
        for (uint32_t i = 0; h && i < h->n && fold_time_ns(h, i + 1) <= before_ns; i++) {
                struct bucket b = bucket_of(band, i);
                if (b.moments.n)
                        *ret = b;
        }
        return ret->moments.n > 0;
}

double history_band_integral(const struct band *band, struct time_range range)
{
        struct area a = { 0 };

        walk_band(band, range, add_area, &a);
        return finish_area(&a, range.to_ns);
}
