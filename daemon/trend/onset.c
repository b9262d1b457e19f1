/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: from the window's start back in time, first through the rest of its
 * own rung, then through the coarser ones, which reach further. Buckets whose
 * floor lies near the line move the onset to their start; one that does not is
 * forgiven (a spike), two in a row are the bend. An empty bucket is not near.
 * Coarse buckets that begin before the onset but are centred behind it overlap
 * what has been walked already and are passed over.
 */
#include "daemon/trend/onset.h"

#include <math.h>

#define MISSES 2u

uint64_t onset_minute(const struct ladder *l, unsigned index, const struct window_result *r)
{
        double points = window_points(index), point = (double)window_point_minutes(index);
        double near = fmax(3 * (double)r->sd, 0.05 * r->slope * points);
        uint64_t span = window_span_minutes(index), onset = r->ended > span ? r->ended - span : 0;
        unsigned misses = 0;

        for (unsigned rung = index / WINDOWS_PER_RUNG; rung < LADDER_RUNGS; rung++) {
                uint64_t width = ladder_width(rung), count = ladder_count(l, rung);
                unsigned kept = ladder_kept(l, rung);

                for (unsigned age = 0; age < kept; age++) {
                        uint64_t start = (count - 1 - age) * width;
                        double centre = (double)start + (double)width / 2;

                        if (centre >= (double)onset)
                                continue;
                        /* The newest point stands half a point before the window's end. */
                        double line = r->end + r->slope * ((centre - (double)r->ended) / point + 0.5);
                        if (fabs(ladder_floor(l, rung, age) - line) <= near) {
                                onset = start;
                                misses = 0;
                        } else if (++misses == MISSES) {
                                return onset;
                        }
                }
        }
        return onset;
}
