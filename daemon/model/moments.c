/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/model/moments.h"

void moments_add(struct moments *m, double t_s, double v)
{
        double part = 1 / (double)++m->n;
        double dt = t_s - m->t_mean, dv = v - m->v_mean;

        m->t_mean += dt * part;
        m->v_mean += dv * part;
        m->m_tt += dt * (t_s - m->t_mean);
        m->m_tv += dt * (v - m->v_mean);
        m->m_vv += dv * (v - m->v_mean);
}

void moments_merge(struct moments *m, const struct moments *other)
{
        if (!other->n)
                return;
        if (!m->n) {
                *m = *other;
                return;
        }
        double a = (double)m->n, b = (double)other->n, n = a + b;
        double dt = other->t_mean - m->t_mean, dv = other->v_mean - m->v_mean, weight = a * (b / n);
        m->n += other->n;
        m->t_mean += dt * (b / n);
        m->v_mean += dv * (b / n);
        m->m_tt += other->m_tt + dt * dt * weight;
        m->m_tv += other->m_tv + dt * dv * weight;
        m->m_vv += other->m_vv + dv * dv * weight;
}

void bucket_add_at(struct bucket *b, uint64_t time_ns, double t_s, double value)
{
        if (!b->moments.n) {
                b->min = b->max = b->last = value;
                b->last_time_ns = time_ns;
        }
        moments_add(&b->moments, t_s, value);
        if (value < b->min)
                b->min = value;
        if (value > b->max)
                b->max = value;
        if (time_ns >= b->last_time_ns) {
                b->last = value;
                b->last_time_ns = time_ns;
        }
}

void bucket_merge(struct bucket *b, const struct bucket *other)
{
        if (!other->moments.n)
                return;
        if (!b->moments.n) {
                *b = *other;
                return;
        }
        moments_merge(&b->moments, &other->moments);
        if (other->min < b->min)
                b->min = other->min;
        if (other->max > b->max)
                b->max = other->max;
        if (other->last_time_ns >= b->last_time_ns) {
                b->last = other->last;
                b->last_time_ns = other->last_time_ns;
        }
}

bool bucket_cell_is_empty(const void *cell)
{
        return ((const struct bucket *)cell)->moments.n == 0;
}

void bucket_cell_reset(void *cell)
{
        ((struct bucket *)cell)->moments = (struct moments){ 0 };
}

void bucket_cell_merge(void *to, const void *from)
{
        bucket_merge(to, from);
}
