/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * past.c - points of a series and their thinning.
 *
 * DESIGN: an array in order of time. Samples come almost in order (each
 * capability flushes its own buffer), so the place of a late one is looked for
 * from the end. Halving costs n and happens once in n insertions.
 */
#include "client/history/past.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct past_point past_sample(uint64_t time_ns, double value)
{
        return (struct past_point){
                .time_ns = time_ns,
                .last_ns = time_ns,
                .count = 1,
                .min = value,
                .max = value,
                .mean = value,
                .last = value,
        };
}

void past_point_merge(struct past_point *p, const struct past_point *later)
{
        uint64_t end = later->time_ns + later->width_ns;

        p->count += later->count;
        p->mean += (later->mean - p->mean) * ((double)later->count / (double)p->count);
        if (later->min < p->min)
                p->min = later->min;
        if (later->max > p->max)
                p->max = later->max;
        p->last = later->last;
        p->last_ns = later->last_ns;
        if (end > p->time_ns + p->width_ns)
                p->width_ns = end - p->time_ns;
}

static int make_room(struct past *p)
{
        size_t capacity = p->capacity ? p->capacity * 2 : 16;
        struct past_point *points;

        if (p->n < p->capacity)
                return 0;
        points = reallocarray(p->points, capacity, sizeof(*points));
        if (!points)
                return -ENOMEM;
        p->points = points;
        p->capacity = capacity;
        return 0;
}

int past_append(struct past *p, const struct past_point *point)
{
        if (make_room(p) < 0)
                return -ENOMEM;
        p->points[p->n++] = *point;
        return 0;
}

/* Whether a sample of this time belongs into the wide point before its place. */
static bool covers(const struct past_point *p, uint64_t time_ns)
{
        return p->width_ns && time_ns <= p->time_ns + p->width_ns;
}

/* A sample goes into a point; one that is not its newest is not its last. */
static void add(struct past_point *p, const struct past_point *sample)
{
        struct past_point before = *p;

        past_point_merge(p, sample);
        if (sample->time_ns < before.last_ns) {
                p->last = before.last;
                p->last_ns = before.last_ns;
        }
}

int past_insert(struct past *p, size_t max, uint64_t time_ns, double value)
{
        struct past_point point = past_sample(time_ns, value);
        size_t at;

        if (p->n >= max) {
                past_halve(p);
                p->per_point = p->per_point ? p->per_point * 2 : 2;
        }
        if (p->n > 0 && p->points[p->n - 1].count < p->per_point && time_ns >= p->points[p->n - 1].time_ns) {
                add(&p->points[p->n - 1], &point);
                return 0;
        }
        for (at = p->n; at > 0 && p->points[at - 1].time_ns > time_ns; at--)
                continue;
        if (at > 0 && covers(&p->points[at - 1], time_ns)) {
                add(&p->points[at - 1], &point);
                return 0;
        }
        if (make_room(p) < 0)
                return -ENOMEM;
        memmove(&p->points[at + 1], &p->points[at], (p->n - at) * sizeof(*p->points));
        p->points[at] = point;
        p->n++;
        return 0;
}

void past_halve(struct past *p)
{
        size_t n = 0;

        for (size_t i = 0; i < p->n; i += 2) {
                struct past_point merged = p->points[i];

                if (i + 1 < p->n)
                        past_point_merge(&merged, &p->points[i + 1]);
                p->points[n++] = merged;
        }
        p->n = n;
}

void past_limit(struct past *p, size_t max)
{
        while (p->n > max && p->n > 1)
                past_halve(p);
}

void past_widen(struct past *p, uint64_t step_ns)
{
        size_t n = 0;

        for (size_t i = 0; step_ns && i < p->n; i++) {
                if (n && p->points[n - 1].time_ns / step_ns == p->points[i].time_ns / step_ns)
                        past_point_merge(&p->points[n - 1], &p->points[i]);
                else
                        p->points[n++] = p->points[i];
        }
        if (step_ns)
                p->n = n;
}

void past_cut(struct past *p, uint64_t from_ns, uint64_t to_ns)
{
        size_t n = 0;

        for (size_t i = 0; i < p->n; i++) {
                if (p->points[i].time_ns >= from_ns && p->points[i].time_ns < to_ns)
                        p->points[n++] = p->points[i];
        }
        p->n = n;
}

void past_end(struct past *p, uint64_t time_ns)
{
        while (p->n > 0 && p->points[p->n - 1].time_ns + p->points[p->n - 1].width_ns > time_ns)
                p->n--;
}

/* What the band held in one point of the total: points *at and on, those before it are passed. */
static int align_one(const struct past *band, size_t *at, const struct past_point *total, double *last,
                     struct past_point *ret)
{
        bool any = false;

        *ret = *total;
        ret->min = ret->max = ret->mean = *last;
        for (; *at < band->n && band->points[*at].time_ns <= total->last_ns; (*at)++) {
                const struct past_point *p = &band->points[*at];

                if (p->width_ns > total->width_ns)
                        return -EAGAIN;
                if (any)
                        past_point_merge(ret, p);
                else
                        *ret = *p;
                any = true;
                *last = p->last;
        }
        ret->time_ns = total->time_ns;
        ret->width_ns = total->width_ns;
        ret->last_ns = total->last_ns;
        ret->count = total->count;
        ret->last = *last;
        return 0;
}

int past_align(struct past *band, const struct past *total)
{
        struct past aligned = { 0 };
        size_t at = 0;
        double last = 0;
        int r = 0;

        for (size_t i = 0; i < total->n && r == 0; i++) {
                struct past_point p;

                r = align_one(band, &at, &total->points[i], &last, &p);
                if (r == 0)
                        r = past_append(&aligned, &p);
        }
        if (r < 0) {
                past_done(&aligned);
                return r;
        }
        past_done(band);
        *band = aligned;
        return 0;
}

void past_done(struct past *p)
{
        free(p->points);
        memset(p, 0, sizeof(*p));
}
