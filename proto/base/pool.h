/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pool.h - objects of one kind with dense ids from 1, at addresses that stay.
 *
 * Grows by chunks; objects are freed only all at once.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct pool {
        char **chunks;
        uint32_t n_chunks, room; /* chunks made; room for chunks */
        uint32_t count;          /* objects, and the newest's id */
        uint32_t object_bytes;
        uint32_t chunk_shift; /* a chunk holds 2^chunk_shift objects */
};

/* Allocates nothing yet. */
void pool_init(struct pool *p, size_t object_bytes, unsigned chunk_shift);

/* Frees all objects; the pool may be used again. */
void pool_done(struct pool *p);

/* A new object, zeroed, of id p->count; NULL when out of memory. */
void *pool_add(struct pool *p);

/* Removes the newest object. */
void pool_undo(struct pool *p);

size_t pool_held(const struct pool *p);

/* The object of an id that exists. */
static inline void *pool_at(const struct pool *p, uint32_t id)
{
        uint32_t i = id - 1, mask = (UINT32_C(1) << p->chunk_shift) - 1;

        return p->chunks[i >> p->chunk_shift] + (size_t)(i & mask) * p->object_bytes;
}
