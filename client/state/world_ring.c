/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world_ring.c - rings of points that grow to their bound, growing arrays, and
 * the index of ids.
 *
 * DESIGN: most series and bands see few points, so a ring starts small and
 * doubles; it wraps only at its greatest size, hence growing never has to
 * unroll it: while it grows, `next` equals `count`.
 */
#include "client/state/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RING_FIRST = 8, INDEX_FIRST = 64 };

static int ring_grow(struct world_ring *r, size_t max)
{
        size_t capacity = r->capacity ? r->capacity * 2 : RING_FIRST;
        struct world_point *points;

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

int ring_push(struct world_ring *r, size_t max, uint64_t time_ns, double value)
{
        if (r->count == r->capacity && r->capacity < max && ring_grow(r, max) < 0)
                return -ENOMEM;
        r->points[r->next] = (struct world_point){ .time_ns = time_ns, .value = value };
        r->next = r->next + 1 == r->capacity && r->capacity == max ? 0 : r->next + 1;
        if (r->count < r->capacity)
                r->count++;
        return 0;
}

void ring_done(struct world_ring *r)
{
        free(r->points);
        memset(r, 0, sizeof(*r));
}

const struct world_point *world_ring_newest(const struct world_ring *r, size_t i)
{
        if (i >= r->count)
                return NULL;
        return &r->points[(r->next + r->capacity - 1 - i) % r->capacity];
}

/* Room for `need` objects of `size` bytes, the new ones zeroed. NULL: short of memory, the array is unchanged. */
void *array_grow(void *array, uint32_t *capacity, uint32_t need, size_t size)
{
        uint32_t wider = *capacity ? *capacity : 16;
        char *grown;

        if (need <= *capacity)
                return array;
        while (wider < need)
                wider = wider > UINT32_MAX / 2 ? need : wider * 2;
        grown = reallocarray(array, wider, size);
        if (!grown)
                return NULL;
        memset(grown + (size_t)*capacity * size, 0, (size_t)(wider - *capacity) * size);
        *capacity = wider;
        return grown;
}

static struct id_slot *slot_of(struct id_slot *slots, uint32_t n_slots, uint64_t id)
{
        uint32_t i = (uint32_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32);

        for (;; i++) {
                struct id_slot *s = &slots[i & (n_slots - 1)];

                if (!s->position_1 || s->id == id)
                        return s;
        }
}

static int index_grow(struct id_index *x)
{
        uint32_t n = x->n_slots ? x->n_slots * 2 : INDEX_FIRST;
        struct id_slot *slots = calloc(n, sizeof(*slots));

        if (!slots)
                return -ENOMEM;
        for (uint32_t i = 0; i < x->n_slots; i++) {
                if (x->slots[i].position_1)
                        *slot_of(slots, n, x->slots[i].id) = x->slots[i];
        }
        free(x->slots);
        x->slots = slots;
        x->n_slots = n;
        return 0;
}

int id_index_add(struct id_index *x, uint64_t id, uint32_t position)
{
        struct id_slot *s;

        if (x->n_used * 2 >= x->n_slots && index_grow(x) < 0)
                return -ENOMEM;
        s = slot_of(x->slots, x->n_slots, id);
        x->n_used += !s->position_1;
        *s = (struct id_slot){ .id = id, .position_1 = position + 1 };
        return 0;
}

bool id_index_find(const struct id_index *x, uint64_t id, uint32_t *ret_position)
{
        const struct id_slot *s;

        if (!x->n_slots)
                return false;
        s = slot_of(x->slots, x->n_slots, id);
        if (!s->position_1)
                return false;
        *ret_position = s->position_1 - 1;
        return true;
}

void id_index_done(struct id_index *x)
{
        free(x->slots);
        memset(x, 0, sizeof(*x));
}
