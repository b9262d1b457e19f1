/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: samples come as slices of the finest width (band_now.h gathers them)
 * and are merged into all four rings. The other widths are multiples of that
 * one, so a slice never lies across two. Those that come late find their place
 * in the rings that still have it.
 */
#include "trend/band_windows.h"

#define SECOND UINT64_C(1000000000)

/* A sixth of each window; the shortest first. */
static const uint64_t widths[BAND_RINGS] = { BAND_SLICE_NS, 600 * SECOND, 3600 * SECOND, 14400 * SECOND };

/* Merges `from`, whose start is `later_s` behind that of `s` (Chan, Golub, LeVeque 1979). */
static void slice_merge(struct band_slice *s, const struct band_slice *from, double later_s)
{
        double a = (double)s->n, b = (double)from->n, part = b / (a + b);
        double dt = (double)from->t_mean + later_s - (double)s->t_mean, dv = from->v_mean - s->v_mean;
        double last_t = (double)from->last_t + later_s;

        if (!s->n || from->min < s->min)
                s->min = from->min;
        if (!s->n || from->max > s->max)
                s->max = from->max;
        if (!s->n || last_t >= (double)s->last_t) {
                s->last = from->last;
                s->last_t = (float)last_t;
        }
        s->n += from->n;
        s->t_mean = (float)((double)s->t_mean + dt * part);
        s->v_mean += dv * part;
        s->m_tt += (float)((double)from->m_tt + dt * dt * a * part);
        s->m_tv += (float)((double)from->m_tv + dt * dv * a * part);
        s->m_vv += (float)((double)from->m_vv + dv * dv * a * part);
        s->area += from->area;
}

void band_windows_add(struct band_windows *w, const struct band_slice *samples, double area, uint64_t last_ns)
{
        uint64_t start_ns = samples->index * BAND_SLICE_NS;

        w->area += area;
        if (last_ns > w->last_ns)
                w->last_ns = last_ns;
        for (unsigned r = 0; r < BAND_RINGS; r++) {
                uint32_t index = (uint32_t)(start_ns / widths[r]);
                struct band_slice *s = &w->slices[r][index % BAND_SLICES];
                if (s->n && s->index > index)
                        continue; /* too late for this ring; the wider ones take it */
                if (!s->n || s->index < index)
                        *s = (struct band_slice){ .index = index };
                slice_merge(s, samples, (double)(start_ns % widths[r]) / 1e9);
        }
}

/* Time of its last sample. */
static uint64_t last_of(const struct band_slice *s, uint64_t width_ns)
{
        return s->index * width_ns + (uint64_t)((double)s->last_t * 1e9);
}

static void to_bucket(const struct band_slice *s, uint64_t width_ns, struct bucket *ret)
{
        double start_s = (double)(s->index * width_ns) / 1e9;

        *ret = (struct bucket){
                .moments = { .n = s->n, .t_mean = start_s + (double)s->t_mean, .v_mean = s->v_mean,
                             .m_tt = (double)s->m_tt, .m_tv = (double)s->m_tv, .m_vv = (double)s->m_vv },
                .min = (double)s->min, .max = (double)s->max, .last = (double)s->last,
                .last_time_ns = last_of(s, width_ns),
        };
}

/* ----------------------------------------------------------------- reading */

static uint64_t newest_ns(const struct band_windows *w, const struct band_slice *waiting)
{
        uint64_t last_ns = waiting ? last_of(waiting, widths[0]) : 0;

        return last_ns > w->last_ns ? last_ns : w->last_ns;
}

bool band_windows_reach(const struct band_windows *w, uint64_t from_ns)
{
        return from_ns / widths[BAND_RINGS - 1] + BAND_SLICES > w->last_ns / widths[BAND_RINGS - 1];
}

/* The finest ring that reaches back to a time. */
static unsigned choose(uint64_t from_ns, uint64_t last_ns)
{
        unsigned r = 0;

        while (r + 1 < BAND_RINGS && from_ns / widths[r] + BAND_SLICES <= last_ns / widths[r])
                r++;
        return r;
}

typedef void slice_fn(void *ctx, const struct bucket *b, double area);

static void visit(const struct band_slice *s, uint64_t width_ns, slice_fn *each, void *ctx)
{
        struct bucket b;

        to_bucket(s, width_ns, &b);
        each(ctx, &b, (double)s->area);
}

/* Calls `each` for the slices of a stretch, and for what waits in one of them, in no order. */
static void each_slice(const struct band_windows *w, const struct band_slice *waiting, uint64_t from_ns,
                       uint64_t to_ns, slice_fn *each, void *ctx)
{
        uint64_t last_ns = newest_ns(w, waiting);
        unsigned r = choose(from_ns, last_ns);
        uint64_t from = from_ns / widths[r] + (from_ns % widths[r] != 0), last = (to_ns - 1) / widths[r];
        uint64_t newest = last_ns / widths[r];

        if (from_ns >= to_ns)
                return;
        if (from > last)
                from = last;
        for (unsigned i = 0; i < BAND_SLICES; i++) {
                const struct band_slice *s = &w->slices[r][i];
                if (s->n && s->index >= from && s->index <= last && s->index + BAND_SLICES > newest)
                        visit(s, widths[r], each, ctx);
        }
        if (waiting) {
                uint64_t index = waiting->index / (widths[r] / widths[0]);
                if (index >= from && index <= last)
                        visit(waiting, widths[0], each, ctx);
        }
}

struct span {
        struct bucket *bucket;
        double area;
};

static void add_slice(void *ctx, const struct bucket *b, double area)
{
        struct span *span = ctx;

        bucket_merge(span->bucket, b);
        span->area += area;
}

bool band_windows_span(const struct band_windows *w, const struct band_slice *waiting, uint64_t from_ns, uint64_t to_ns,
                       struct bucket *ret, double *ret_area)
{
        struct span span = { .bucket = ret };

        *ret = (struct bucket){ 0 };
        each_slice(w, waiting, from_ns, to_ns, add_slice, &span);
        *ret_area = span.area;
        return ret->moments.n > 0;
}

static void keep_oldest(void *ctx, const struct bucket *b, double area)
{
        struct bucket *oldest = ctx;

        (void)area;
        if (!oldest->moments.n || b->moments.t_mean < oldest->moments.t_mean)
                *oldest = *b;
}

bool band_windows_oldest(const struct band_windows *w, const struct band_slice *waiting, uint64_t from_ns,
                         uint64_t to_ns, struct bucket *ret)
{
        *ret = (struct bucket){ 0 };
        each_slice(w, waiting, from_ns, to_ns, keep_oldest, ret);
        return ret->moments.n > 0;
}

/* The slice whose last sample is the newest, of those that lie before a time. */
struct newest {
        const struct band_slice *slice;
        uint64_t width_ns, last_ns;
};

static void keep_newest(struct newest *newest, const struct band_slice *s, uint64_t width_ns, uint64_t time_ns)
{
        if (!s->n || (s->index + UINT64_C(1)) * width_ns > time_ns)
                return;
        if (!newest->slice || last_of(s, width_ns) > newest->last_ns)
                *newest = (struct newest){ s, width_ns, last_of(s, width_ns) };
}

bool band_windows_before(const struct band_windows *w, const struct band_slice *waiting, uint64_t time_ns,
                         struct bucket *ret)
{
        struct newest newest = { .slice = NULL };

        if (waiting)
                keep_newest(&newest, waiting, widths[0], time_ns);
        for (unsigned r = 0; r < BAND_RINGS; r++)
                for (unsigned i = 0; i < BAND_SLICES; i++)
                        keep_newest(&newest, &w->slices[r][i], widths[r], time_ns);
        if (newest.slice)
                to_bucket(newest.slice, newest.width_ns, ret);
        return newest.slice != NULL;
}
