/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: samples come as slices of the finest width (band_now.h collects them) and are merged into all four rings. The
 * other widths are multiples of that one, so a slice never straddles two. Late ones go into the rings that still have
 * their slice.
 */
#include "daemon/trend/band_windows.h"

#include "proto/base/ckd.h"
#include "proto/base/edge.h"

const uint32_t band_ring_fans[BAND_RINGS] = { 1, 6, 36, 144 };

const struct rings_shape band_windows_shape = {
        .n = BAND_RINGS,
        .most = BAND_SLICES,
        .grain = 1,
        .size = { sizeof(struct band_slice), sizeof(struct band_slice), sizeof(struct band_slice),
                  sizeof(struct band_slice) },
};

void band_windows_done(struct band_windows *w)
{
        rings_done(&w->slices);
        *w = (struct band_windows){ .area = 0 };
}

/* The slices of a ring: n of them, in no particular order. */
static const struct band_slice *slices_of(const struct band_windows *w, unsigned ring, unsigned *ret_n)
{
        *ret_n = rings_room(&band_windows_shape, &w->slices, ring);
        return rings_at(&band_windows_shape, &w->slices, ring, 0);
}

static uint64_t width_of(unsigned ring)
{
        return band_ring_fans[ring] * BAND_SLICE_NS;
}

struct band_reach band_reach(struct time_range range, uint64_t newest)
{
        uint64_t oldest = range.from_ns / BAND_SLICE_NS;
        struct band_reach r = { .ring = 0 };

        while (r.ring + 1 < BAND_RINGS &&
               oldest / band_ring_fans[r.ring] + BAND_SLICES <= newest / band_ring_fans[r.ring])
                r.ring++;
        r.width_ns = width_of(r.ring);
        r.from = range.from_ns / r.width_ns + (range.from_ns % r.width_ns != 0);
        r.last = (range.to_ns - 1) / r.width_ns;
        if (r.from > r.last)
                r.from = r.last;
        return r;
}

/* Merges `from`, whose start is `later_s` after that of `s` (Chan, Golub, LeVeque 1979). */
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
                uint32_t index = samples->index / band_ring_fans[r];
                unsigned place = band_ring_place(&band_windows_shape, &w->slices, r, &w->phases[r], index);
                struct band_slice *s = rings_reach(&band_windows_shape, &w->slices, r, place);
                if (!s || (s->n && s->index > index))
                        continue; /* too late for this ring; the wider ones take it */
                if (!s->n || s->index < index)
                        *s = (struct band_slice){ .index = index };
                slice_merge(s, samples, (double)(start_ns % width_of(r)) / 1e9);
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
                .moments = { .n = s->n,
                             .t_mean = start_s + (double)s->t_mean,
                             .v_mean = s->v_mean,
                             .m_tt = (double)s->m_tt,
                             .m_tv = (double)s->m_tv,
                             .m_vv = (double)s->m_vv },
                .min = (double)s->min,
                .max = (double)s->max,
                .last = (double)s->last,
                .last_time_ns = last_of(s, width_ns),
        };
}

/* ----------------------------------------------------------------- reading */

static uint64_t newest_ns(const struct band_windows *w, const struct band_slice *waiting)
{
        uint64_t last_ns = waiting ? last_of(waiting, BAND_SLICE_NS) : 0;

        return last_ns > w->last_ns ? last_ns : w->last_ns;
}

bool band_windows_reach(const struct band_windows *w, uint64_t from_ns)
{
        uint64_t width_ns = width_of(BAND_RINGS - 1);

        return from_ns / width_ns + BAND_SLICES > w->last_ns / width_ns;
}

typedef void slice_fn(void *ctx, const struct bucket *b, double area);

static void visit(const struct band_slice *s, uint64_t width_ns, slice_fn *each, void *ctx)
{
        struct bucket b;

        to_bucket(s, width_ns, &b);
        each(ctx, &b, (double)s->area);
}

/* Calls `each` for the slices of an interval, and for what waits to be added to one of them, in no particular order. */
static void each_slice(const struct band_windows *w, const struct band_slice *waiting, struct time_range range,
                       slice_fn *each, void *ctx)
{
        uint64_t last_ns = newest_ns(w, waiting);

        if (range.from_ns >= range.to_ns)
                return;
        struct band_reach r = band_reach(range, last_ns / BAND_SLICE_NS);
        unsigned n;
        const struct band_slice *slices = slices_of(w, r.ring, &n);
        for (unsigned i = 0; i < n; i++) {
                const struct band_slice *s = &slices[i];
                if (s->n && s->index >= r.from && s->index <= r.last && s->index + BAND_SLICES > last_ns / r.width_ns)
                        visit(s, r.width_ns, each, ctx);
        }
        if (waiting) {
                uint64_t index = waiting->index / band_ring_fans[r.ring];
                if (index >= r.from && index <= r.last)
                        visit(waiting, BAND_SLICE_NS, each, ctx);
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

bool band_windows_span(const struct band_windows *w, const struct band_slice *waiting, struct time_range range,
                       struct bucket *ret, double *ret_area)
{
        struct span span = { .bucket = ret };

        *ret = (struct bucket){ 0 };
        each_slice(w, waiting, range, add_slice, &span);
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

bool band_windows_oldest(const struct band_windows *w, const struct band_slice *waiting, struct time_range range,
                         struct bucket *ret)
{
        *ret = (struct bucket){ 0 };
        each_slice(w, waiting, range, keep_oldest, ret);
        return ret->moments.n > 0;
}

/* Both edges of a slice. */
static void meet_slice(struct edge *edge, uint64_t index, uint64_t width_ns, struct time_range range)
{
        edge_meet_range(edge, index * width_ns, range);
        edge_meet_range(edge, (index + 1) * width_ns, range);
}

uint64_t band_windows_still(const struct band_windows *w, const struct band_slice *waiting, struct time_range range)
{
        uint64_t last[] = { w->last_ns / BAND_SLICE_NS, newest_ns(w, waiting) / BAND_SLICE_NS };
        struct edge edge = EDGE_NONE;

        for (unsigned r = 0; r < BAND_RINGS; r++) {
                unsigned n;
                const struct band_slice *slices = slices_of(w, r, &n);
                for (unsigned i = 0; i < n; i++)
                        if (slices[i].n)
                                meet_slice(&edge, slices[i].index, width_of(r), range);
                if (waiting)
                        meet_slice(&edge, waiting->index / band_ring_fans[r], width_of(r), range);
                for (unsigned i = 0; i < 2; i++) /* from here on the ring reaches back far enough */
                        edge_meet_range(&edge, sub_sat(last[i] / band_ring_fans[r], BAND_SLICES - 1) * width_of(r),
                                        range);
        }
        return edge.after_ns;
}

/* The slice with the newest last sample among those before a time. */
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
                keep_newest(&newest, waiting, BAND_SLICE_NS, time_ns);
        for (unsigned r = 0; r < BAND_RINGS; r++) {
                unsigned n;
                const struct band_slice *slices = slices_of(w, r, &n);
                for (unsigned i = 0; i < n; i++)
                        keep_newest(&newest, &slices[i], width_of(r), time_ns);
        }
        if (newest.slice)
                to_bucket(newest.slice, newest.width_ns, ret);
        return newest.slice != NULL;
}
