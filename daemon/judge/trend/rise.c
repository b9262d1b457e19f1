/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: two pieces, a level and a line, split where their squared errors together are least. All splits are tried;
 * sums of the pieces grow or shrink by one sample at a time, so that takes time in proportion to the samples. What
 * follows the highest sample is left out: a program that dies for want of memory frees it first.
 */
#include "daemon/judge/trend/early_rise.h"

#include <math.h>

#define GAIN_LEAST 0.25                 /* of the highest sample: less is no rise of the whole */
#define AT_LEVEL   0.02                 /* of the gain: this much above the level before is no rise yet */
#define LATE_PART  4u                   /* the rise must reach the end but for this part of its length ... */
#define LATE_NS    UINT64_C(2000000000) /* ... or for this long */

struct sums {
        double n, t, b, tt, tb, bb;
};

/* Adds (sign 1) or removes (-1) a sample. Times are relative to the last one, so that squares stay exact. */
static void add(struct sums *s, double t, double b, double sign)
{
        s->n += sign;
        s->t += sign * t;
        s->b += sign * b;
        s->tt += sign * t * t;
        s->tb += sign * t * b;
        s->bb += sign * b * b;
}

static double error_of_level(const struct sums *s)
{
        return s->n > 0 ? fmax(s->bb - s->b * s->b / s->n, 0) : 0;
}

struct line {
        double slope, error, fit;
};

/* False: all samples are of one moment. */
static bool line_of(const struct sums *s, struct line *ret)
{
        double stt = s->tt - s->t * s->t / s->n, stb = s->tb - s->t * s->b / s->n, sbb = s->bb - s->b * s->b / s->n;

        if (!(stt > 0) || !(sbb > 0))
                return false;
        ret->slope = stb / stt;
        ret->error = fmax(sbb - stb * stb / stt, 0);
        ret->fit = 1 - ret->error / sbb;
        return true;
}

static size_t highest(const struct rise_point *p, size_t n)
{
        size_t at = 0;

        for (size_t i = 1; i < n; i++)
                if (p[i].bytes >= p[at].bytes)
                        at = i;
        return at;
}

static double seconds_before(const struct rise_point *p, const struct rise_point *end)
{
        return -(double)(end->time_ns - p->time_ns) / 1e9;
}

/* The split with the least error; n: no line. */
static size_t split(const struct rise_point *p, size_t n, struct line *ret)
{
        const struct rise_point *end = &p[n - 1];
        struct sums level = { 0 }, rest = { 0 };
        size_t best = n;
        double least = INFINITY;

        for (size_t i = 0; i < n; i++)
                add(&rest, seconds_before(&p[i], end), p[i].bytes, 1);
        for (size_t i = 0; i + RISE_POINTS_MIN <= n; i++) {
                struct line line;

                if (line_of(&rest, &line) && line.error + error_of_level(&level) < least) {
                        least = line.error + error_of_level(&level);
                        best = i;
                        *ret = line;
                }
                add(&level, seconds_before(&p[i], end), p[i].bytes, 1);
                add(&rest, seconds_before(&p[i], end), p[i].bytes, -1);
        }
        return best;
}

bool rise_find(const struct rise_point *points, size_t n, uint64_t end_ns, struct rise_line *ret)
{
        struct line line = { 0 };

        if (n < RISE_POINTS_MIN)
                return false;
        n = highest(points, n) + 1;
        size_t first = n >= RISE_POINTS_MIN ? split(points, n, &line) : n;
        if (first == n || line.slope <= 0 || line.fit < RISE_FIT_MIN)
                return false;
        size_t before = first > 0 ? first - 1 : first, by = first;
        /* samples that are on the line and on the level before it are from before the rise */
        while (first > 0 && by + 2 < n &&
               points[by].bytes - points[before].bytes <= AT_LEVEL * (points[n - 1].bytes - points[before].bytes))
                before = by++;
        *ret = (struct rise_line){
                .began_after_ns = points[before].time_ns,
                .began_by_ns = points[by].time_ns,
                .to_ns = points[n - 1].time_ns,
                .from_bytes = points[before].bytes < points[by].bytes ? points[before].bytes : points[by].bytes,
                .to_bytes = points[n - 1].bytes,
                .slope = line.slope,
                .fit = line.fit,
                .points = (unsigned)(n - first),
        };
        double gain = ret->to_bytes - ret->from_bytes;
        uint64_t length = ret->to_ns - ret->began_by_ns, late = length / LATE_PART;
        return gain >= RISE_BYTES_MIN && gain >= GAIN_LEAST * ret->to_bytes &&
               (end_ns <= ret->to_ns || end_ns - ret->to_ns <= (late > LATE_NS ? late : LATE_NS));
}
