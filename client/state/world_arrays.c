/* SPDX-License-Identifier: BSD-3-Clause */
/* world_arrays.c - the index of ids. */
#include "client/state/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { INDEX_FIRST = 64 };

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
