/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/trend/statistics.h"

#include <math.h>

static void put_line(const struct bucket *b, double from_s, struct statistics *s)
{
        const struct moments *m = &b->moments;

        s->slope = m->m_tv / m->m_tt;
        s->intercept = m->v_mean + s->slope * (from_s - m->t_mean);
        if (m->m_vv > 0)
                s->fit = m->m_tv / m->m_tt * (m->m_tv / m->m_vv);
        if (b->max > 0 && b->last_time_ns > 0) {
                s->normalised_slope = s->slope * ((double)b->last_time_ns / 1e9) / b->max;
                s->normalised_intercept = (m->v_mean - s->slope * m->t_mean) / b->max;
                s->normalised_fit = s->fit;
        }
}

void statistics_of(const struct bucket *bucket, struct time_range range, struct statistics *ret)
{
        const struct moments *m = &bucket->moments;
        double n = (double)m->n;

        *ret = (struct statistics){
                .from_ns = range.from_ns,
                .to_ns = range.to_ns,
                .count = m->n,
                .min = bucket->min,
                .max = bucket->max,
                .mean = m->v_mean,
                .last = bucket->last,
                .stddev = m->n > 1 ? sqrt(fmax(m->m_vv, 0) / (n - 1)) : NAN,
                .sum = m->v_mean * n,
                .p50 = NAN,
                .p90 = NAN,
                .p99 = NAN,
                .integral = NAN,
                .slope = NAN,
                .intercept = NAN,
                .fit = NAN,
                .normalised_slope = NAN,
                .normalised_intercept = NAN,
                .normalised_fit = NAN,
        };
        if (m->n > 1 && m->m_tt > 0)
                put_line(bucket, (double)range.from_ns / 1e9, ret);
}
