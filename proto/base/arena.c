/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a chain of blocks, the first of FIRST_BYTES, each further one as large
 * as all before it together, up to BLOCK_BYTES: a target has several arenas, and
 * most of them hold a few hundred bytes. A larger request gets a block of its
 * own. arena_reset() rewinds to the first block and keeps the chain; memory is
 * zeroed when it is handed out, not when its block is made.
 */
#include "proto/base/arena.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/ckd.h"

#define FIRST_BYTES ((size_t)1024)
#define BLOCK_BYTES ((size_t)16 * 1024)

void arena_init(struct arena *a, size_t max_bytes)
{
        *a = (struct arena){ .max_bytes = max_bytes };
}

void arena_done(struct arena *a)
{
        struct arena_block *b = a->first;

        while (b) {
                struct arena_block *next = b->next;
                free(b);
                b = next;
        }
        arena_init(a, a->max_bytes);
}

void arena_reset(struct arena *a)
{
        for (struct arena_block *b = a->first; b; b = b->next)
                b->used = 0;
        a->current = a->first;
}

static struct arena_block *add_block(struct arena *a, size_t size)
{
        size_t payload = a->held_bytes < FIRST_BYTES   ? FIRST_BYTES
                         : a->held_bytes < BLOCK_BYTES ? a->held_bytes
                                                       : BLOCK_BYTES;
        size_t bytes;

        if (size > payload)
                payload = size;
        if (ckd_add(&bytes, payload, sizeof(struct arena_block)))
                return NULL;
        if (a->max_bytes && bytes > sub_sat(a->max_bytes, a->held_bytes))
                return NULL;
        struct arena_block *b = malloc(bytes);
        if (!b)
                return NULL;
        *b = (struct arena_block){ .size = payload };
        if (a->current) {
                b->next = a->current->next;
                a->current->next = b;
        } else {
                b->next = a->first;
                a->first = b;
        }
        a->current = b;
        a->held_bytes += bytes;
        return b;
}

void *arena_alloc(struct arena *a, size_t size)
{
        size_t need;

        if (ckd_add(&need, size, alignof(max_align_t) - 1))
                return NULL;
        need -= need % alignof(max_align_t);
        struct arena_block *b = a->current;
        while (b && need > b->size - b->used) {
                b = b->next;
                if (b)
                        a->current = b;
        }
        if (!b)
                b = add_block(a, need);
        if (!b)
                return NULL;
        void *p = b->data + b->used;
        b->used += need;
        return p;
}

void *arena_zalloc(struct arena *a, size_t size)
{
        void *p = arena_alloc(a, size);

        return p ? memset(p, 0, size) : NULL;
}

char *arena_strndup(struct arena *a, const void *bytes, size_t size)
{
        size_t need;
        char *p = ckd_add(&need, size, 1) ? NULL : arena_zalloc(a, need);

        if (p && size)
                memcpy(p, bytes, size);
        return p;
}

void *arena_calloc(struct arena *a, size_t n, size_t size)
{
        size_t bytes;

        return ckd_mul(&bytes, n, size) ? NULL : arena_zalloc(a, bytes);
}
