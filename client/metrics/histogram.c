/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/metrics/histogram.h"

#include "proto/base/sketch.h"

#define PAUSE_BITS 5                             /* daemon/model/histogram.h */
#define CELL_LAST  SKETCH_CELLS(PAUSE_BITS, 42u) /* the last cell holds everything longer */

const double histogram_bounds[HISTOGRAM_BOUNDS] = { 0.00001, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                    0.05,    0.1,    0.25,    0.5,    1,     2.5,    5,     10 };

double histogram_of_pauses(double counts[HISTOGRAM_BOUNDS], const Hw__Generation *g)
{
        double all = 0;
        size_t n = g->n_bucket < g->n_bucket_count ? g->n_bucket : g->n_bucket_count;

        for (size_t b = 0; b < HISTOGRAM_BOUNDS; b++)
                counts[b] = 0;
        for (size_t i = 0; i < n; i++) {
                unsigned cell = g->bucket[i] < CELL_LAST ? g->bucket[i] : CELL_LAST - 1;
                uint64_t high = sketch_low(PAUSE_BITS, cell) + (sketch_width(PAUSE_BITS, cell) - 1);

                all += (double)g->bucket_count[i];
                for (size_t b = HISTOGRAM_BOUNDS; b-- && (double)high <= histogram_bounds[b] * 1e9;)
                        counts[b] += (double)g->bucket_count[i];
        }
        return all;
}
