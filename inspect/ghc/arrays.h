/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arrays.h - the byte arrays of a snapshot (ARR_WORDS: what ByteString, Text and unboxed arrays are made of): how large
 * they are, and which have the same contents as another one. Contents are compared, and never kept.
 */
#ifndef HW_INSPECT_GHC_ARRAYS_H
#define HW_INSPECT_GHC_ARRAYS_H

#include "inspect/ghc/census.h"
#include "proto/base/idtable.h"

#define ARRAY_CLASSES 8u

extern const uint64_t array_class_ends[ARRAY_CLASSES]; /* bytes of contents are below it; the last has no bound */

struct array_class {
        uint64_t arrays, bytes; /* of contents */
};

/* Arrays with the same contents. */
struct array_content {
        uint64_t hash, first; /* where the first of them has its contents */
        uint64_t bytes;       /* of each */
        uint64_t arrays;
};

struct heap_arrays {
        struct array_class classes[ARRAY_CLASSES];
        uint64_t arrays, bytes;
        struct array_content *contents;
        uint32_t n_contents, contents_capacity;
        struct idtable by_hash;
        uint64_t not_compared, not_compared_bytes; /* of these: beyond one megablock, of which the rest is not copied */
        uint64_t repeated, repeated_bytes;         /* those that have the contents of one before them */
        struct heap_census all;                    /* closures: how much of the heap was understood */
        bool out_of_memory;
        const struct heap_snapshot *snapshot;
        uint64_t seed;
};

/* False: out of memory. heap_arrays_done() in any case. */
bool heap_arrays_count(struct heap_arrays *a, const struct heap_snapshot *s);

/* The bytes of contents, as many as it has. */
const uint8_t *heap_arrays_value(const struct heap_arrays *a, const struct array_content *c);

/* The contents that are there more than once, by the bytes that one array of each would leave, most first. */
void heap_arrays_sort(struct heap_arrays *a);
void heap_arrays_done(struct heap_arrays *a);

/* What would go if each of these contents were there once. */
static inline uint64_t array_spare_bytes(const struct array_content *c)
{
        return (c->arrays - 1) * c->bytes;
}

#endif
