/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * idtable.h - from a hash to the ids (from 1) stored under it. Keys stay with
 * their owner, who compares them:
 *
 *     uint32_t at = idtable_start(t, hash), id;
 *     while ((id = idtable_next(t, hash, &at)) && !same(id, key))
 *             ;
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct idtable_slot {
        uint32_t hash, id; /* id 0: free */
};

struct idtable {
        struct idtable_slot *slots; /* linear probing, a power of two, at most 3/4 full; NULL while empty */
        uint32_t n_slots, n_used;
};

/* A zeroed idtable is empty. Frees the slots and leaves it so. */
void idtable_done(struct idtable *t);

/* Forgets all, and keeps the slots: as many ids fit again without an error. */
void idtable_clear(struct idtable *t);

/* Stores an id; 0 or -ENOMEM. Does not look for equal ones. */
int idtable_add(struct idtable *t, uint64_t hash, uint32_t id);

static inline size_t idtable_held(const struct idtable *t)
{
        return t->n_slots * sizeof(*t->slots);
}

static inline uint32_t idtable_start(const struct idtable *t, uint64_t hash)
{
        return t->n_slots ? (uint32_t)hash & (t->n_slots - 1) : 0;
}

/* Prefetches the slot where a look-up will begin. */
static inline void idtable_prefetch(const struct idtable *t, uint64_t hash)
{
        if (t->n_slots)
                __builtin_prefetch(&t->slots[idtable_start(t, hash)]);
}

/* The next id stored under `hash`, or 0 when there are no more. */
static inline uint32_t idtable_next(const struct idtable *t, uint64_t hash, uint32_t *at)
{
        if (!t->n_slots)
                return 0;
        for (;;) {
                const struct idtable_slot *slot = &t->slots[*at];
                if (!slot->id)
                        return 0;
                *at = (*at + 1) & (t->n_slots - 1);
                if (slot->hash == (uint32_t)hash)
                        return slot->id;
        }
}
