/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: medians of blocks, because a block's mean would carry a burst into
 * the increments on both its sides. With at most eight blocks, speed does not
 * matter here.
 */
#include "daemon/judge/trend/life.h"

#include <assert.h>
#include <math.h>

#include "daemon/judge/trend/ladder.h"
#include "daemon/judge/trend/theil_sen.h"

static double median_of_filled(const double *p, unsigned n)
{
        double filled[LADDER_BUCKETS];
        unsigned k = 0;

        assert(n <= LADDER_BUCKETS);
        for (unsigned i = 0; i < n; i++)
                if (!isnan(p[i]))
                        filled[k++] = p[i];
        return median_of(filled, k);
}

static void clip(struct increments *inc)
{
        double size[SHAPE_BLOCKS - 1];

        for (unsigned i = 0; i < inc->n; i++)
                size[i] = fabs(inc->d[i]);
        double most = 2 * median_of_filled(size, inc->n);
        for (unsigned i = 0; i < inc->n; i++) {
                if (inc->d[i] > most)
                        inc->d[i] = most;
                else if (inc->d[i] < -most)
                        inc->d[i] = -most;
        }
}

void increments_of_blocks(const double *p, unsigned n, unsigned blocks, struct increments *ret)
{
        double medians[SHAPE_BLOCKS];

        assert(blocks >= 2 && blocks <= SHAPE_BLOCKS && n >= blocks);
        for (unsigned k = 0; k < blocks; k++) {
                unsigned from = k * n / blocks, to = (k + 1) * n / blocks;

                medians[k] = median_of_filled(p + from, to - from);
        }
        ret->n = blocks - 1;
        ret->filled = 0;
        for (unsigned k = 0; k < ret->n; k++) {
                ret->d[k] = medians[k + 1] - medians[k];
                ret->filled += !isnan(ret->d[k]);
        }
        clip(ret);
}

double increments_sum(const struct increments *inc, unsigned from, unsigned to, unsigned *ret_filled)
{
        double sum = 0;
        unsigned filled = 0;

        for (unsigned i = from; i < to; i++) {
                if (isnan(inc->d[i]))
                        continue;
                sum += inc->d[i];
                filled++;
        }
        if (ret_filled)
                *ret_filled = filled;
        return sum;
}
