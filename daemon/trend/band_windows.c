/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a sample goes into one slice, `now`, as wide as those of the finest
 * ring; when time leaves it, it is merged into all four rings. The other widths
 * are multiples of that one, so a slice never lies across two. Late samples, of
 * before `now`, are merged at once. (Each sample into each ring: 97 ns; so:
 * 20 ns, of 446 bands in a census every millisecond.)
 */
#include "trend/band_windows.h"

#define SECOND UINT64_C(1000000000)

/* A sixth of each window; the shortest first. */
static const uint64_t widths[BAND_RINGS] = { 100 * SECOND, 600 * SECOND, 3600 * SECOND, 14400 * SECOND };

static void slice_add(struct band_slice *s, double t_s, double v, double area)
{
        double dt = t_s - (double)s->t_mean, dv = v - s->v_mean, part = 1 / (double)++s->n;

        s->t_mean = (float)((double)s->t_mean + dt * part);
        s->v_mean += dv * part;
        s->m_tt += (float)(dt * (t_s - (double)s->t_mean));
        s->m_tv += (float)(dt * (v - s->v_mean));
        s->m_vv += (float)(dv * (v - s->v_mean));
        if (s->n == 1 || v < (double)s->min)
                s->min = (float)v;
        if (s->n == 1 || v > (double)s->max)
                s->max = (float)v;
        if (s->n == 1 || t_s >= (double)s->last_t) {
                s->last = (float)v;
                s->last_t = (float)t_s;
        }
        s->area += (float)area;
}

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

/* Puts samples of one finest slice into every ring that still has the place. */
static void into_rings(struct band_windows *w, const struct band_slice *from)
{
        uint64_t start_ns = from->index * widths[0];

        for (unsigned r = 0; r < BAND_RINGS; r++) {
                uint32_t index = (uint32_t)(start_ns / widths[r]);
                struct band_slice *s = &w->slices[r][index % BAND_SLICES];
                if (s->n && s->index > index)
                        continue; /* too late for this ring; the wider ones take it */
                if (!s->n || s->index < index)
                        *s = (struct band_slice){ .index = index };
                slice_merge(s, from, (double)(start_ns % widths[r]) / 1e9);
        }
}

void band_windows_push(struct band_windows *w, uint64_t time_ns, double value)
{
        uint32_t index = (uint32_t)(time_ns / widths[0]); /* below 2^28: times have 64 bits */
        struct band_slice late = { .index = index }, *s = &w->now;
        double area = 0;

        if (w->any && time_ns > w->last_ns)
                area = (w->last + value) / 2 * ((double)(time_ns - w->last_ns) / 1e9);
        if (!w->any || time_ns >= w->last_ns) {
                w->last = value;
                w->last_ns = time_ns;
        }
        w->any = true;
        w->area += area;
        if (w->now.n && index < w->now.index) {
                s = &late;
        } else if (w->now.n && index > w->now.index) {
                into_rings(w, &w->now);
                w->now.n = 0;
        }
        if (!w->now.n)
                w->now = late;
        slice_add(s, (double)(time_ns - index * widths[0]) / 1e9, value, area);
        if (s == &late)
                into_rings(w, s);
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

/* The finest ring that reaches back to a time. */
static unsigned choose(const struct band_windows *w, uint64_t from_ns)
{
        unsigned r = 0;

        while (r + 1 < BAND_RINGS && from_ns / widths[r] + BAND_SLICES <= w->last_ns / widths[r])
                r++;
        return r;
}

bool band_windows_reach(const struct band_windows *w, uint64_t from_ns)
{
        return w->any && from_ns / widths[BAND_RINGS - 1] + BAND_SLICES > w->last_ns / widths[BAND_RINGS - 1];
}

typedef void slice_fn(void *ctx, const struct bucket *b, double area);

static void visit(const struct band_slice *s, uint64_t width_ns, slice_fn *each, void *ctx)
{
        struct bucket b;

        to_bucket(s, width_ns, &b);
        each(ctx, &b, (double)s->area);
}

/* Calls `each` for the slices of a stretch, and for `now` in the one where it belongs, in no order. */
static void each_slice(const struct band_windows *w, uint64_t from_ns, uint64_t to_ns, slice_fn *each, void *ctx)
{
        if (!w->any || from_ns >= to_ns)
                return;
        unsigned r = choose(w, from_ns);
        uint64_t from = from_ns / widths[r] + (from_ns % widths[r] != 0), last = (to_ns - 1) / widths[r];
        uint64_t now = w->now.index / (widths[r] / widths[0]);
        if (from > last)
                from = last;
        for (unsigned i = 0; i < BAND_SLICES; i++) {
                const struct band_slice *s = &w->slices[r][i];
                if (s->n && s->index >= from && s->index <= last && s->index + BAND_SLICES > now)
                        visit(s, widths[r], each, ctx);
        }
        if (w->now.n && now >= from && now <= last)
                visit(&w->now, widths[0], each, ctx);
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

bool band_windows_span(const struct band_windows *w, uint64_t from_ns, uint64_t to_ns, struct bucket *ret,
                       double *ret_area)
{
        struct span span = { .bucket = ret };

        *ret = (struct bucket){ 0 };
        each_slice(w, from_ns, to_ns, add_slice, &span);
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

bool band_windows_oldest(const struct band_windows *w, uint64_t from_ns, uint64_t to_ns, struct bucket *ret)
{
        *ret = (struct bucket){ 0 };
        each_slice(w, from_ns, to_ns, keep_oldest, ret);
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

bool band_windows_before(const struct band_windows *w, uint64_t time_ns, struct bucket *ret)
{
        struct newest newest = { .slice = NULL };

        keep_newest(&newest, &w->now, widths[0], time_ns);
        for (unsigned r = 0; r < BAND_RINGS; r++)
                for (unsigned i = 0; i < BAND_SLICES; i++)
                        keep_newest(&newest, &w->slices[r][i], widths[r], time_ns);
        if (newest.slice)
                to_bucket(newest.slice, newest.width_ns, ret);
        return newest.slice != NULL;
}
