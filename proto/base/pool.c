/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: an array of chunks; only the array of their addresses moves when it grows. */
#include "proto/base/pool.h"
#include "proto/base/array.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void pool_init(struct pool *p, size_t object_bytes, unsigned chunk_shift)
{
        *p = (struct pool){ .object_bytes = (uint32_t)object_bytes, .chunk_shift = chunk_shift };
}

void pool_done(struct pool *p)
{
        for (uint32_t i = 0; i < p->n_chunks; i++)
                free(p->chunks[i]);
        free(p->chunks);
        pool_init(p, p->object_bytes, p->chunk_shift);
}

static size_t chunk_bytes(const struct pool *p)
{
        return (size_t)p->object_bytes << p->chunk_shift;
}

static bool add_chunk(struct pool *p)
{
        if (!ARRAY_RESERVE(p->chunks, p->room, p->n_chunks + 1))
                return false;
        char *chunk = malloc(chunk_bytes(p));
        if (!chunk)
                return false;
        p->chunks[p->n_chunks++] = chunk;
        return true;
}

void *pool_add(struct pool *p)
{
        if (p->count >> p->chunk_shift == p->n_chunks && !add_chunk(p))
                return NULL;
        p->count++;
        return memset(pool_at(p, p->count), 0, p->object_bytes);
}

void pool_undo(struct pool *p)
{
        p->count--;
}

size_t pool_held(const struct pool *p)
{
        return p->n_chunks * chunk_bytes(p) + p->room * sizeof(*p->chunks);
}
