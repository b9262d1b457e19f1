/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring.c - rings of points that grow to their bound.
 *
 * DESIGN: most series see few points, so a ring starts small and doubles; it
 * wraps only at its greatest size, hence growing never has to unroll it: while
 * it grows, `next` equals `count`.
 */
#include "client/history/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RING_FIRST = 8 };

static int ring_grow(struct ring *r, size_t max)
{
        size_t capacity = r->capacity ? r->capacity * 2 : RING_FIRST;
        struct point *points;

        if (capacity > max)
                capacity = max;
        points = realloc(r->points, capacity * sizeof(*points));
        if (!points)
                return -ENOMEM;
        r->points = points;
        r->capacity = capacity;
        r->next = r->count;
        return 0;
}

int ring_push(struct ring *r, size_t max, uint64_t time_ns, double value)
{
        if (r->count == r->capacity && r->capacity < max && ring_grow(r, max) < 0)
                return -ENOMEM;
        r->points[r->next] = (struct point){ .time_ns = time_ns, .value = value };
        r->next = r->next + 1 == r->capacity && r->capacity == max ? 0 : r->next + 1;
        if (r->count < r->capacity)
                r->count++;
        return 0;
}

void ring_done(struct ring *r)
{
        free(r->points);
        memset(r, 0, sizeof(*r));
}

const struct point *ring_newest(const struct ring *r, size_t i)
{
        if (i >= r->count)
                return NULL;
        return &r->points[(r->next + r->capacity - 1 - i) % r->capacity];
}
