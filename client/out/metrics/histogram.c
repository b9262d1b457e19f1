/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/metrics/metric.h"

#include <math.h>
#include <string.h>

#include "proto/base/sketch.h"

#define PAUSE_BITS 5                             /* daemon/model/histogram.c */
#define CELL_LAST  SKETCH_CELLS(PAUSE_BITS, 42u) /* the last cell holds everything longer */

const double histogram_bounds[HISTOGRAM_BOUNDS] = { 0.00001, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                    0.05,    0.1,    0.25,    0.5,    1,     2.5,    5,     10 };

/* The last value of a cell, in ns. */
static uint64_t cell_high(uint32_t bucket)
{
        unsigned cell = bucket < CELL_LAST ? bucket : CELL_LAST - 1;

        return sketch_low(PAUSE_BITS, cell) + (sketch_width(PAUSE_BITS, cell) - 1);
}

static size_t cells(const Hw__Generation *g)
{
        return g->n_bucket < g->n_bucket_count ? g->n_bucket : g->n_bucket_count;
}

double histogram_of_pauses(double counts[HISTOGRAM_BOUNDS], const Hw__Generation *g)
{
        double all = 0;

        for (size_t b = 0; b < HISTOGRAM_BOUNDS; b++)
                counts[b] = 0;
        for (size_t i = 0; i < cells(g); i++) {
                double high = (double)cell_high(g->bucket[i]);

                all += (double)g->bucket_count[i];
                for (size_t b = HISTOGRAM_BOUNDS; b-- && high <= histogram_bounds[b] * 1e9;)
                        counts[b] += (double)g->bucket_count[i];
        }
        return all;
}

/* log2 of a bound itself may come out a little above it. */
static int native_index(uint64_t ns)
{
        int index = (int)ceil(log2((double)ns * 1e-9) * (1 << NATIVE_SCHEMA) - 1e-9), last = (int)NATIVE_BUCKETS - 1;

        return index < NATIVE_FIRST ? NATIVE_FIRST : index > NATIVE_FIRST + last ? NATIVE_FIRST + last : index;
}

void native_of_pauses(struct native_histogram *h, const Hw__Generation *g)
{
        size_t skipped = 0;

        memset(h, 0, sizeof(*h));
        for (size_t i = 0; i < cells(g); i++) {
                uint64_t high = cell_high(g->bucket[i]);

                h->count += g->bucket_count[i];
                if (high == 0)
                        h->zero += g->bucket_count[i];
                else
                        h->counts[native_index(high) - NATIVE_FIRST] += g->bucket_count[i];
        }
        for (h->n = NATIVE_BUCKETS; h->n > 0 && !h->counts[h->n - 1]; h->n--)
                ;
        while (skipped < h->n && !h->counts[skipped])
                skipped++;
        h->n -= skipped;
        h->first = NATIVE_FIRST + (int)skipped;
        memmove(h->counts, h->counts + skipped, h->n * sizeof(h->counts[0]));
}
