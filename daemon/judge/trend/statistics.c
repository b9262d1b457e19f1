/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/judge/trend/statistics.h"

#include <math.h>

static void put_line(const struct trend_cell *c, double from_s, struct statistics *s)
{
        s->slope = trend_cell_slope(c);
        s->intercept = c->cell.mean + s->slope * (from_s - c->t_mean);
        s->fit = trend_cell_fit(c);
        if (c->cell.max > 0 && c->cell.last_ns > 0) {
                s->normalised_slope = s->slope * ((double)c->cell.last_ns / 1e9) / c->cell.max;
                s->normalised_intercept = (c->cell.mean - s->slope * c->t_mean) / c->cell.max;
                s->normalised_fit = s->fit;
        }
}

void statistics_of(const struct trend_cell *of, struct time_range range, struct statistics *ret)
{
        const struct cell *c = &of->cell;

        *ret = (struct statistics){
                .from_ns = range.from_ns,
                .to_ns = range.to_ns,
                .count = c->n,
                .min = c->min,
                .max = c->max,
                .mean = c->mean,
                .last = c->last,
                .stddev = trend_cell_deviation(of),
                .sum = c->mean * (double)c->n,
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
        if (!isnan(trend_cell_slope(of)))
                put_line(of, (double)range.from_ns / 1e9, ret);
}
