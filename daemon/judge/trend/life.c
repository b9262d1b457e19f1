/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: an exponential histogram in time. Halving touches 48 numbers once
 * per doubling of the run's age.
 *
 * The ratio looks at [T/4, T]: there a logarithm rises about half as fast in
 * its newer half, whatever T is; the first quarter is left out because of
 * warm-ups. Increments are clipped (shape.c), so that one step is not a trend.
 */
#include "daemon/judge/trend/life.h"

#include <math.h>
#include <stddef.h>

#include "daemon/judge/trend/ladder.h"

#define LIFE_LEAST           16u /* buckets; with fewer the ratio means nothing */
#define LIFE_LEAST_FILLED    5u  /* increments */
#define LIFE_NO_OLDER_GROWTH 99.0

const struct rings_shape life_shape = {
        .n = 1, .most = LIFE_BUCKETS, .grain = 8, .fill = 0xff, .size = { sizeof(double) }
};

void life_init(struct life *l)
{
        *l = (struct life){ .width = 1 };
}

void life_done(struct life *l)
{
        rings_done(&l->means);
        life_init(l);
}

static void halve(struct life *l)
{
        double *means = life_means(l);

        l->count /= 2;
        for (unsigned i = 0; i < l->count; i++)
                means[i] = floors_mean(means[2 * i], means[2 * i + 1]);
        l->width *= 2;
}

void life_push(struct life *l, double floor)
{
        l->places++;
        if (!isnan(floor)) {
                l->sum += floor;
                l->filled++;
        }
        if (l->places < l->width)
                return;
        if (l->count == LIFE_BUCKETS) {
                halve(l); /* the bucket in progress continues up to the new width */
                return;
        }
        double *mean = rings_reach(&life_shape, &l->means, 0, l->count);
        if (!mean)
                return;
        *mean = l->filled ? l->sum / (double)l->filled : NAN;
        l->count++;
        l->sum = 0;
        l->filled = l->places = 0;
}

double life_ratio(const struct life *l)
{
        struct increments inc;
        unsigned skip = l->count / 4;

        if (l->count < LIFE_LEAST)
                return 1;
        increments_of_blocks(life_means(l) + skip, l->count - skip, SHAPE_BLOCKS, &inc);
        if (inc.filled < LIFE_LEAST_FILLED)
                return 1;
        double older = increments_sum(&inc, 0, 3, NULL);
        double newer = increments_sum(&inc, inc.n - 3, inc.n, NULL);
        return older <= 0 ? LIFE_NO_OLDER_GROWTH : newer / older;
}
