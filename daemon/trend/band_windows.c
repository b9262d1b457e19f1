/* SPDX-License-Identifier: BSD-3-Clause */
#include "trend/band_windows.h"

#define SECOND UINT64_C(1000000000)

/* A sixth of each window; the shortest first. */
static const uint64_t widths[BAND_RINGS] = { 100 * SECOND, 600 * SECOND, 3600 * SECOND, 14400 * SECOND };

static void slice_add(struct band_slice *s, double t_s, double v, double area)
{
        double n = (double)++s->n, dt = t_s - (double)s->t_mean, dv = v - s->v_mean;

        s->t_mean = (float)((double)s->t_mean + dt / n);
        s->v_mean += dv / n;
        s->m_tt += (float)(dt * (t_s - (double)s->t_mean));
        s->m_tv += (float)(dt * (v - s->v_mean));
        s->m_vv += (float)(dv * (v - s->v_mean));
        if (n < 2 || v < (double)s->min)
                s->min = (float)v;
        if (n < 2 || v > (double)s->max)
                s->max = (float)v;
        if (n < 2 || t_s >= (double)s->last_t) {
                s->last = (float)v;
                s->last_t = (float)t_s;
        }
        s->area += (float)area;
}

void band_windows_push(struct band_windows *w, uint64_t time_ns, double value)
{
        double area = 0;

        if (w->any && time_ns > w->last_ns)
                area = (w->last + value) / 2 * ((double)(time_ns - w->last_ns) / 1e9);
        if (!w->any || time_ns >= w->last_ns) {
                w->last = value;
                w->last_ns = time_ns;
        }
        w->any = true;
        w->area += area;
        for (unsigned r = 0; r < BAND_RINGS; r++) {
                uint32_t index = (uint32_t)(time_ns / widths[r]); /* below 2^28: times have 64 bits */
                struct band_slice *s = &w->slices[r][index % BAND_SLICES];
                if (s->n && s->index > index)
                        continue; /* too late for this ring; the wider ones take it */
                if (!s->n || s->index < index)
                        *s = (struct band_slice){ .index = index };
                slice_add(s, (double)(time_ns % widths[r]) / 1e9, value, area);
        }
}

static void to_bucket(const struct band_slice *s, uint64_t width_ns, struct bucket *ret)
{
        double start_s = (double)(s->index * width_ns) / 1e9;

        *ret = (struct bucket){
                .moments = { .n = s->n, .t_mean = start_s + (double)s->t_mean, .v_mean = s->v_mean,
                             .m_tt = (double)s->m_tt, .m_tv = (double)s->m_tv, .m_vv = (double)s->m_vv },
                .min = (double)s->min, .max = (double)s->max, .last = (double)s->last,
                .last_time_ns = s->index * width_ns + (uint64_t)((double)s->last_t * 1e9),
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

bool band_windows_span(const struct band_windows *w, uint64_t from_ns, uint64_t to_ns, struct bucket *ret,
                       double *ret_area)
{
        *ret = (struct bucket){ 0 };
        *ret_area = 0;
        if (!w->any || from_ns >= to_ns)
                return false;
        unsigned r = choose(w, from_ns);
        uint64_t from = from_ns / widths[r] + (from_ns % widths[r] != 0), last = (to_ns - 1) / widths[r];
        if (from > last)
                from = last;
        for (unsigned i = 0; i < BAND_SLICES; i++) {
                const struct band_slice *s = &w->slices[r][i];
                struct bucket b;
                if (!s->n || s->index < from || s->index > last)
                        continue;
                to_bucket(s, widths[r], &b);
                bucket_merge(ret, &b);
                *ret_area += (double)s->area;
        }
        return ret->moments.n > 0;
}
