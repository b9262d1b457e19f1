/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: eight bytes a slot, hash beside id: growing and most misses never touch the objects themselves. */
#include "proto/base/idtable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64u

static void place(struct idtable_slot *slots, uint32_t n_slots, struct idtable_slot slot)
{
        uint32_t at = slot.hash & (n_slots - 1);

        while (slots[at].id)
                at = (at + 1) & (n_slots - 1);
        slots[at] = slot;
}

static int grow(struct idtable *t)
{
        if (t->n_slots > UINT32_MAX / 2)
                return -ENOMEM;
        uint32_t n_slots = t->n_slots ? t->n_slots * 2 : FIRST_SLOTS;
        struct idtable_slot *slots = calloc(n_slots, sizeof(*slots));
        if (!slots)
                return -ENOMEM;
        for (uint32_t i = 0; i < t->n_slots; i++)
                if (t->slots[i].id)
                        place(slots, n_slots, t->slots[i]);
        free(t->slots);
        t->slots = slots;
        t->n_slots = n_slots;
        return 0;
}

int idtable_add(struct idtable *t, uint64_t hash, uint32_t id)
{
        if (t->n_used >= t->n_slots / 4 * 3 && grow(t) < 0)
                return -ENOMEM;
        place(t->slots, t->n_slots, (struct idtable_slot){ .hash = (uint32_t)hash, .id = id });
        t->n_used++;
        return 0;
}

void idtable_clear(struct idtable *t)
{
        if (t->n_slots)
                memset(t->slots, 0, t->n_slots * sizeof(*t->slots));
        t->n_used = 0;
}

void idtable_done(struct idtable *t)
{
        free(t->slots);
        *t = (struct idtable){ 0 };
}
