/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a walk, then a bend. The walk goes from the window's start back in
 * time, first through the rest of its own level, then through the coarser ones,
 * which reach further. Buckets whose floor is near the line move the onset to
 * their start; one that is not is forgiven (a spike), two in a row end the
 * walk. An empty bucket is not near, unless samples are rare. Coarse buckets that begin before the onset
 * but are centred after it overlap what has been walked already and are
 * skipped.
 *
 * What is near the line may be the level from which the growth began. So among
 * all hinges (a level, then a line) least squares finds the best over
 * everything since; when it is clearly better than a line alone, its bend is
 * the onset. Clearly: the squares that it saves are BEND_GAIN times the mean
 * square left per point.
 */
#include "daemon/judge/trend/trend.h"

#include <math.h>

#define MISSES     2u
#define BEND_LEAST 4u /* points after it */
#define BEND_GAIN  10
#define POINTS     (LADDER_LEVELS * LADDER_BUCKETS)

static uint64_t walk_back(const struct ladder *l, const struct windows *w, unsigned index)
{
        const struct window_result *r = windows_result(w, index);
        double points = window_points(index), point = windows_point(w, index);
        double near = fmax(3 * (double)r->sd, 0.05 * r->slope * points);
        uint64_t span = windows_span(w, index), onset = r->ended > span ? r->ended - span : 0;
        bool rare = index == RARE_WINDOW;
        unsigned misses = 0;

        for (unsigned level = rare ? 0 : index / WINDOWS_PER_LEVEL; level < LADDER_LEVELS; level++) {
                uint64_t width = ladder_width(level), count = ladder_count(l, level);
                unsigned kept = ladder_kept(l, level);

                for (unsigned age = 0; age < kept; age++) {
                        uint64_t start = (count - 1 - age) * width;
                        double centre = (double)start + (double)width / 2;

                        double floor = ladder_floor(l, level, age);

                        if (centre >= (double)onset || (rare && isnan(floor)))
                                continue;
                        /* The newest point is half a point before the window's end. */
                        double line = r->end + r->slope * ((centre - (double)r->ended) / point + 0.5);
                        if (fabs(floor - line) <= near) {
                                onset = start;
                                misses = 0;
                        } else if (++misses == MISSES) {
                                return onset;
                        }
                }
        }
        return onset;
}

/* A bucket that has a floor. */
struct onset_point {
        uint64_t start;
        double centre, floor, weight;
};

/*
 * The finest buckets that the ladder has of every time since minute `from`, newest first, but for the run's first: in
 * it the program is loaded, and its floor is from before that. Returns how many.
 */
static unsigned gather_points(const struct ladder *l, uint64_t from, struct onset_point out[POINTS])
{
        uint64_t end = l->minutes;
        unsigned n = 0;

        for (unsigned level = 0; level < LADDER_LEVELS; level++) {
                uint64_t width = ladder_width(level), count = ladder_count(l, level);
                unsigned kept = ladder_kept(l, level);

                for (unsigned age = 0; age < kept; age++) {
                        uint64_t start = (count - 1 - age) * width;
                        double floor = ladder_floor(l, level, age);

                        if (start + width > end)
                                continue; /* a finer level has it */
                        if (start < from)
                                return n;
                        end = start;
                        if (!isnan(floor) && start > 0)
                                out[n++] = (struct onset_point){ start, (double)start + (double)width / 2, floor,
                                                                 (double)width };
                }
        }
        return n;
}

/* Weighted sums of the points after a bend; the mean of all points is subtracted from the floors. */
struct sums {
        double w, t, tt, y, ty;
};

static void add_point(struct sums *s, const struct onset_point *p, double mean)
{
        double y = p->floor - mean;

        s->w += p->weight;
        s->t += p->weight * p->centre;
        s->tt += p->weight * p->centre * p->centre;
        s->y += p->weight * y;
        s->ty += p->weight * p->centre * y;
}

/* How much the squares shrink when the level is followed by a rising line from minute b; 0: it falls. */
static double saved_squares(const struct sums *s, double all_weight, double b)
{
        double h = s->t - b * s->w, hh = s->tt - 2 * b * s->t + b * b * s->w, hy = s->ty - b * s->y;
        double spread = hh - h * h / all_weight;

        return spread > 0 && hy > 0 ? hy * hy / spread : 0;
}

static uint64_t bend_after(const struct ladder *l, uint64_t from)
{
        struct onset_point points[POINTS];
        unsigned n = gather_points(l, from, points);
        double weight = 0, mean = 0, squares = 0, most = 0, line = 0;
        struct sums after = { 0 };
        uint64_t bend = from;

        for (unsigned i = 0; i < n; i++) {
                weight += points[i].weight;
                mean += points[i].weight * points[i].floor;
        }
        if (n < 2 * BEND_LEAST)
                return from;
        mean /= weight;
        for (unsigned i = 0; i < n; i++) {
                squares += points[i].weight * (points[i].floor - mean) * (points[i].floor - mean);
                add_point(&after, &points[i], mean);
                if (i + 1 < BEND_LEAST)
                        continue;
                line = saved_squares(&after, weight, (double)points[i].start); /* finally of a line since `from` */
                if (line > most) {
                        most = line;
                        bend = points[i].start;
                }
        }
        return (most - line) * n > BEND_GAIN * (squares - most) ? bend : from;
}

uint64_t onset_minute(const struct ladder *l, const struct windows *w, unsigned index)
{
        return bend_after(l, walk_back(l, w, index));
}
