/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: distances over slopes, with three corrections. The average is above
 * the floor that the line follows, and lags behind a trend by its own time
 * constant. Growth that slows down (its newer half clearly below the older)
 * gets the newer half's slope at the late end. Growth that clearly accelerates
 * gets, at the early end, the time of
 *
 *      gap = s t + acc t^2 / 2   =>   t = (sqrt(s^2 + 2 acc gap) - s) / acc
 *
 * but accelerates for eight window lengths at most: a short window says nothing
 * about the growth of days.
 */
#include "daemon/judge/trend/limit.h"

#include <math.h>

#define AVERAGE_MINUTES 64.0
#define SPEEDS_UP       8.0 /* window lengths for which growth goes on accelerating */

void recent_average_add(struct recent_average *a, double mean)
{
        a->sum += (mean - a->sum) / AVERAGE_MINUTES;
        a->weight += (1 - a->weight) / AVERAGE_MINUTES;
}

/* Everything below is per second. */
struct rates {
        double slope, low, high;
        double point_s; /* seconds from point to point */
};

static double early(unsigned index, const struct window_result *r, const struct rates *v, double gap)
{
        double newer = (double)r->new_slope, faster = newer - (double)r->old_slope, points = window_points(index);

        if (gap <= 0)
                return 0;
        if (faster > 8 * (double)r->sd / sqrt((double)r->sxx)) {
                double acc = faster / (points / 2) / (v->point_s * v->point_s);
                double s = fmax(v->high, (newer + faster / 2) / v->point_s);
                double lasts = SPEEDS_UP * points * v->point_s, by_then = s * lasts + acc * lasts * lasts / 2;

                if (gap > by_then)
                        return lasts + (gap - by_then) / (s + acc * lasts);
                return (sqrt(s * s + 2 * acc * gap) - s) / acc;
        }
        return v->high > 0 ? gap / v->high : NAN;
}

static double late(const struct window_result *r, const struct rates *v, double gap)
{
        double slope = v->low, newer = (double)r->new_slope;

        if (newer < (double)r->old_slope - 4 * (double)r->se)
                slope = fmin(slope, newer / v->point_s);
        return slope > 0 ? fmax(gap, 0) / slope : NAN;
}

struct time_to_limit time_to_limit(const struct windows *w, unsigned index, const struct recent_average *average,
                                   double limit, double resolution_s)
{
        const struct window_result *r = windows_result(w, index);
        double point_s = windows_point(w, index) * resolution_s;
        struct rates v = {
                .slope = r->slope / point_s,
                .low = (r->slope - WINDOW_INTERVAL_SE * (double)r->se) / point_s,
                .high = (r->slope + WINDOW_INTERVAL_SE * (double)r->se) / point_s,
                .point_s = point_s,
        };
        double floor_now = r->end + r->slope / 2, weight = average->weight;
        double lag_s = AVERAGE_MINUTES * resolution_s * weight;
        double average_now = weight > 0 ? average->sum / weight + v.slope * lag_s : floor_now;

        return (struct time_to_limit){
                .early_s = early(index, r, &v, limit - (fmax(floor_now, average_now) + 2 * (double)r->sd)),
                .late_s = late(r, &v, limit - (floor_now - 2 * (double)r->sd)),
        };
}

struct memory_limit limit_least(struct memory_limit a, struct memory_limit b)
{
        if (a.bytes == UNKNOWN_U64 && b.bytes == UNKNOWN_U64)
                return (struct memory_limit){ UNKNOWN_U64, LIMIT_SOURCE_UNKNOWN };
        return b.bytes < a.bytes ? b : a; /* UNKNOWN_U64 is the largest */
}
