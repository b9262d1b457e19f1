/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/judge/trend/statistics.h"

#include <math.h>

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
        if (!isnan(trend_cell_slope(of))) {
                double from_s = (double)range.from_ns / 1e9;
                ret->slope = trend_cell_slope(of);
                ret->intercept = of->cell.mean + ret->slope * (from_s - of->t_mean);
                ret->fit = trend_cell_fit(of);
                if (of->cell.max > 0 && of->cell.last_ns > 0) {
                        ret->normalised_slope = ret->slope * ((double)of->cell.last_ns / 1e9) / of->cell.max;
                        ret->normalised_intercept = (of->cell.mean - ret->slope * of->t_mean) / of->cell.max;
                        ret->normalised_fit = ret->fit;
                }
        }
}
