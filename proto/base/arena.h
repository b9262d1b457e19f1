/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arena.h - memory that is freed all at once.
 *
 * Blocks are chained and kept over a reset, so a steady user allocates
 * nothing. Not for objects with a lifetime of their own.
 */
#pragma once

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

struct arena_block {
        struct arena_block *next;
        size_t size;
        size_t used;
        alignas(max_align_t) uint8_t data[];
};

struct arena {
        struct arena_block *first; /* blocks in order of use */
        struct arena_block *current;
        size_t held_bytes; /* of all blocks */
        size_t max_bytes;  /* 0 = no limit: requests beyond give NULL */
};

/* Starts empty; allocates nothing. */
void arena_init(struct arena *a, size_t max_bytes);

/* Frees all blocks. */
void arena_done(struct arena *a);

/* Forgets all contents. Keeps the blocks for reuse. */
void arena_reset(struct arena *a);

/* `size` bytes, uninitialised, aligned for any type; NULL when out of memory or at the limit. */
void *arena_alloc(struct arena *a, size_t size);

/* The same, zeroed. */
void *arena_zalloc(struct arena *a, size_t size);

/* A NUL-terminated copy of `size` bytes; NULL as above. */
char *arena_strndup(struct arena *a, const void *bytes, size_t size);

/* n objects of `size` bytes, zeroed; NULL also when the product overflows. */
void *arena_calloc(struct arena *a, size_t n, size_t size);
