/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * past.c - points of a series and their thinning.
 *
 * DESIGN: an array in order of time. Samples come almost in order (each
 * capability flushes its own buffer), so the place of a late one is searched
 * from the end. Halving costs n and happens once in n insertions.
 */
#include "client/world/history/past.h"
#include "proto/base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t end_of(const struct point *p)
{
        return p->time_ns + p->width_ns;
}

void past_point_merge(struct point *p, const struct point *later)
{
        uint64_t end = end_of(later);

        cell_merge(&p->cell, &later->cell);
        if (end > end_of(p))
                p->width_ns = end - p->time_ns;
}

static int make_room(struct past *p, size_t more)
{
        return ARRAY_RESERVE(p->points, p->capacity, p->n + more) ? 0 : -ENOMEM;
}

int past_append(struct past *p, const struct point *point)
{
        if (make_room(p, 1) < 0)
                return -ENOMEM;
        p->points[p->n++] = *point;
        return 0;
}

/* ----------------------------------------------------------------- thinning */

void past_merge(struct past *p, struct past_pairs pairs)
{
        size_t n = pairs.from, end = pairs.from + pairs.n;

        for (size_t i = pairs.from; i < end; i += 2) {
                struct point merged = p->points[i];

                past_point_merge(&merged, &p->points[i + 1]);
                p->points[n++] = merged;
        }
        memmove(&p->points[n], &p->points[end], (p->n - end) * sizeof(*p->points));
        p->n -= pairs.n / 2;
}

static unsigned level_of(const struct point *p)
{
        return 63u - (unsigned)__builtin_clzll(p->cell.n | 1);
}

static struct past_pairs all_pairs(const struct past *p)
{
        return (struct past_pairs){ .from = 0, .n = p->n & ~(size_t)1 };
}

struct past_pairs past_pairs(const struct past *p)
{
        size_t best = 0, length = 0;

        if (!p->fades)
                return all_pairs(p);
        for (size_t i = 0, run = 0; i < p->n; i++) {
                run = i > 0 && level_of(&p->points[i]) == level_of(&p->points[i - 1]) ? run + 1 : 1;
                if (run > length) {
                        length = run;
                        best = i + 1 - run;
                }
        }
        return (struct past_pairs){ length < 2 ? 0 : best, length < 4 ? 2 : length / 2 & ~(size_t)1 };
}

static void thin_points(struct past *p)
{
        past_merge(p, past_pairs(p));
        if (!p->fades)
                p->per_point = p->per_point ? p->per_point * 2 : 2;
}

/* ------------------------------------------------------------------ inserting */

/* Whether a sample of this time belongs in the wide point before its place. */
static bool is_covering(const struct point *p, uint64_t time_ns)
{
        return p->width_ns && time_ns <= end_of(p);
}

int past_insert(struct past *p, uint64_t time_ns, double value)
{
        struct point point = past_sample(time_ns, value);
        size_t at;

        while (p->n >= p->max && p->n > 1)
                thin_points(p);
        if (p->n > 0 && p->points[p->n - 1].cell.n < p->per_point && time_ns >= p->points[p->n - 1].time_ns) {
                past_point_merge(&p->points[p->n - 1], &point);
                return 0;
        }
        for (at = p->n; at > 0 && p->points[at - 1].time_ns > time_ns; at--)
                continue;
        if (at > 0 && is_covering(&p->points[at - 1], time_ns)) {
                past_point_merge(&p->points[at - 1], &point);
                return 0;
        }
        if (make_room(p, 1) < 0)
                return -ENOMEM;
        memmove(&p->points[at + 1], &p->points[at], (p->n - at) * sizeof(*p->points));
        p->points[at] = point;
        p->n++;
        return 0;
}

int past_splice(struct past *p, const struct past *insert, uint64_t until_ns)
{
        size_t from = 0, end = p->n, n = insert->n;

        while (n > 0 && end_of(&insert->points[n - 1]) > until_ns)
                n--;
        if (!n)
                return 0;
        if (make_room(p, n) < 0)
                return -ENOMEM;
        while (end > 0 && p->points[end - 1].cell.last_ns >= until_ns)
                end--;
        while (from < end && end_of(&p->points[from]) <= insert->points[0].time_ns)
                from++;
        if (end < p->n) /* what stays after it may begin earlier than the seam */
                while (n > 0 && end_of(&insert->points[n - 1]) > p->points[end].time_ns)
                        n--;
        memmove(&p->points[from + n], &p->points[end], (p->n - end) * sizeof(*p->points));
        memcpy(&p->points[from], insert->points, n * sizeof(*p->points));
        p->n += n - (end - from);
        while (p->n > p->max && p->n > 1)
                thin_points(p);
        return 0;
}

int past_copy(const struct past *p, struct past *ret)
{
        *ret = *p;
        ret->points = NULL;
        ret->n = ret->capacity = 0;
        if (!p->n)
                return 0;
        if (make_room(ret, p->n) < 0) {
                memset(ret, 0, sizeof(*ret));
                return -ENOMEM;
        }
        memcpy(ret->points, p->points, p->n * sizeof(*p->points));
        ret->n = p->n;
        return 0;
}

const struct point *past_before(const struct past *p, uint64_t time_ns)
{
        for (size_t i = p->n; i > 0; i--) {
                if (end_of(&p->points[i - 1]) <= time_ns)
                        return &p->points[i - 1];
        }
        return NULL;
}

/* -------------------------------------------------------------------- cutting */

void past_halve(struct past *p)
{
        past_merge(p, all_pairs(p));
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

void past_cut(struct past *p, struct time_range range)
{
        size_t n = 0;

        for (size_t i = 0; i < p->n; i++) {
                if (p->points[i].time_ns >= range.from_ns && p->points[i].time_ns < range.to_ns)
                        p->points[n++] = p->points[i];
        }
        p->n = n;
}

void past_end(struct past *p, uint64_t time_ns)
{
        while (p->n > 0 && end_of(&p->points[p->n - 1]) > time_ns)
                p->n--;
}

/* What the band held in one point of the total. Advances *at over the band's points. */
static int align_one(const struct past *band, size_t *at, const struct point *total, double *last, struct point *ret)
{
        struct cell held = { .n = 0 };

        for (; *at < band->n && band->points[*at].time_ns <= total->cell.last_ns; (*at)++) {
                const struct point *p = &band->points[*at];

                if (p->width_ns > total->width_ns)
                        return -EAGAIN;
                cell_merge(&held, &p->cell);
                *last = p->cell.last;
        }
        *ret = *total;
        ret->cell = held.n ? held : cell_of(0, *last);
        ret->cell.n = total->cell.n;
        ret->cell.last = *last;
        ret->cell.last_ns = total->cell.last_ns;
        return 0;
}

int past_align(struct past *band, const struct past *total)
{
        struct past aligned = { 0 };
        size_t at = 0;
        double last = 0;
        int r = 0;

        for (size_t i = 0; i < total->n && r == 0; i++) {
                struct point p;

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
