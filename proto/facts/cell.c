/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/facts/cell.h"

#include <math.h>

void trend_cell_merge(struct trend_cell *to, const struct trend_cell *from)
{
        if (!from->cell.n)
                return;
        if (!to->cell.n) {
                *to = *from;
                return;
        }
        double a = (double)to->cell.n, b = (double)from->cell.n, part = b / (a + b);
        double dt = from->t_mean - to->t_mean, dv = from->cell.mean - to->cell.mean, weight = a * part;
        cell_merge(&to->cell, &from->cell);
        to->t_mean += dt * part;
        to->m_tt += from->m_tt + dt * dt * weight;
        to->m_tv += from->m_tv + dt * dv * weight;
        to->m_vv += from->m_vv + dv * dv * weight;
}

void trend_cell_add(struct trend_cell *c, uint64_t time_ns, double value)
{
        double t_s = (double)time_ns / 1e9;

        if (!c->cell.n) {
                *c = (struct trend_cell){ .cell = cell_of(time_ns, value), .t_mean = t_s };
                return;
        }
        double part = 1 / (double)++c->cell.n, dt = t_s - c->t_mean, dv = value - c->cell.mean;
        c->t_mean += dt * part;
        c->cell.mean += dv * part;
        c->m_tt += dt * (t_s - c->t_mean);
        c->m_tv += dt * (value - c->cell.mean);
        c->m_vv += dv * (value - c->cell.mean);
        if (value < c->cell.min)
                c->cell.min = value;
        if (value > c->cell.max)
                c->cell.max = value;
        if (time_ns >= c->cell.last_ns) {
                c->cell.last = value;
                c->cell.last_ns = time_ns;
        }
}

double trend_cell_slope(const struct trend_cell *c)
{
        return c->cell.n > 1 && c->m_tt > 0 ? c->m_tv / c->m_tt : (double)NAN;
}

double trend_cell_fit(const struct trend_cell *c)
{
        return c->m_vv > 0 ? trend_cell_slope(c) * (c->m_tv / c->m_vv) : (double)NAN;
}

double trend_cell_deviation(const struct trend_cell *c)
{
        return c->cell.n > 1 ? sqrt(fmax(c->m_vv, 0) / (double)(c->cell.n - 1)) : (double)NAN;
}

bool any_cell_is_empty(const void *cell)
{
        return ((const struct cell *)cell)->n == 0;
}

void any_cell_reset(void *cell)
{
        ((struct cell *)cell)->n = 0;
}

void any_cell_merge(void *to, const void *from)
{
        cell_merge(to, from);
}

void any_trend_cell_merge(void *to, const void *from)
{
        trend_cell_merge(to, from);
}
