/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * census.h - the closures of a snapshot, one after the other: how many there are of each info table, and how large they
 * are. As the runtime's own census: what a collection has not come to yet is not in it.
 */
#pragma once

#include "inspect/ghc/closure.h"
#include "inspect/ghc/snapshot.h"
#include "inspect/ghc/graph/graph.h"
#include "proto/base/idtable.h"

/*
 * Types by two levels: the closures of one type, told apart by the types of what their fields lead to, as
 * Haskell writes them: "[Session]", "Map Text Session", "Maybe Int", "Entry Text Session", "thunk of Session".
 */

#define CONTENTS_FIELDS 4u /* of a closure, that are told apart */

enum contents_wanted { WANTED_UNKNOWN, NOT_WANTED, WANTED };

/* Closures of one table that hold the same. */
struct contents_row {
        uint32_t id; /* closure_table.id */
        uint32_t kinds[CONTENTS_FIELDS];
        uint64_t bytes, objects;
        uint8_t wanted;          /* enum contents_wanted */
        uint64_t elements, same; /* of arrays: those that were seen, and those of the kind that is named */
};

struct heap_contents {
        const struct heap_snapshot *snapshot; /* borrowed */
        struct contents_row *rows;
        uint32_t n_rows, rows_capacity;
        struct idtable row_ids; /* numbers of rows, plus 1 */
        uint8_t *known;         /* of each closure_table.id: what is known of its constructor */
        uint32_t known_capacity;
        bool only_matter;   /* other types than those whose contents matter are not wanted */
        const char *wanted; /* what a row is called that its owner wants to know of; NULL: none */
        bool out_of_memory;
};

/* Adds a closure of the heap. Returns whether it is of a row that is wanted. */
bool heap_contents_add(struct heap_contents *c, const struct closure_table *t, uint64_t at, uint64_t bytes);

/* Before their names: two constructors of one name are told apart by their modules. False: out of memory. */
bool heap_contents_finish(struct heap_contents *c);

/* What the closures of a row are. Returns whether that says more than the name of their type alone. */
bool heap_contents_name(const struct heap_contents *c, const struct contents_row *row, char *ret, size_t size);

/* Whether the name of a type says nothing without what its closures hold: a list, a map, a thunk. */
bool heap_contents_matter(const struct heap_contents *c, const struct closure_table *t);
void heap_contents_done(struct heap_contents *c);

/* What of a group is no closure, in bytes. */
struct group_rest {
        uint64_t unused_bytes;  /* hold nothing: behind closures that have shrunk, between those of pinned blocks */
        uint64_t unknown_bytes; /* are not understood */
        uint64_t met[CLOSURE_TYPES]; /* of these, how many began with this type; [0]: with none */
};

struct heap_census {
        uint64_t *bytes, *objects; /* by closure_table.id; [0] is unused */
        uint32_t n, capacity;      /* ids that there is room for */
        uint64_t total_bytes, total_objects;
        struct group_rest rest;
        uint64_t young_bytes;                 /* in nurseries, not in the census */
        uint64_t pinned_blocks, pinned_bytes; /* blocks of 4 KiB, and bytes of arrays in them */
        uint64_t pinned_first_bytes;          /* of these, of the first array of each group of blocks */
        uint64_t large_objects;
        uint64_t *threads; /* where the TSOs are */
        uint32_t n_threads, threads_capacity;
        uint64_t compact_bytes;
        struct heap_contents *contents; /* of its owner, which adds up what closures hold; NULL: nobody wants that */
        bool is_first;                  /* the next closure is the first one of a pinned group */
        bool out_of_memory;
};

/* Whether a collection would leave this closure. */
typedef bool is_left_fn(void *ctx, const struct closure_table *t, uint64_t at);

/*
 * Bytes of the closure at `at` in this group, which has this table; 0: that cannot be one of the heap. A large array
 * that has shrunk keeps all that was allocated for it.
 */
uint64_t closure_bytes(const struct heap_snapshot *s, const struct closure_table *t, uint64_t at,
                       const struct heap_group *g);

/*
 * What a pointer to `at` holds: of a closure in a compact region, the region, which lives and dies as one. A collection
 * does not look into it, and nothing in it leads out.
 */
uint64_t closure_of_region(const struct heap_snapshot *s, uint64_t at);

/* Calls `each` for all closures of a group, and adds to *rest what is none. */
void group_each(const struct heap_snapshot *s, const struct heap_group *g,
                void (*each)(void *ctx, const struct closure_table *t, uint64_t at, uint64_t bytes), void *ctx,
                struct group_rest *rest);

/* Counts one closure. Returns whether what it holds is wanted (contents.c). */
bool heap_census_add(struct heap_census *c, const struct closure_table *t, uint64_t at, uint64_t bytes);

/* Counts what is left of a group (NULL: all), what is not understood, and what is in it if it is pinned. */
void heap_census_count_group(struct heap_census *c, const struct heap_snapshot *s, const struct heap_group *g,
                             is_left_fn *is_left, void *ctx);

void heap_census_count(struct heap_census *c, const struct heap_snapshot *s);

/* Of those that are left, and of all in a pinned block in which one is: it stays as a whole. */
void heap_census_count_left(struct heap_census *c, const struct heap_snapshot *s, is_left_fn *is_left, void *ctx);
void heap_census_done(struct heap_census *c);

/*
 * arrays.c: the byte arrays of a snapshot (ARR_WORDS: what ByteString, Text and unboxed arrays are made of): how large
 * they are, and which have the same contents as another one. Contents are compared, and never kept.
 */

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

/* bands.c: what closures are called, and a census by these names. */

/*
 * Of a constructor its full name, of a function or a thunk its symbol, both with their place in the source where that
 * is known, else the type of closure. `by_type`: as a heap profile by closure type (-hT) has it, constructors by name
 * and all others by type.
 */
#define CLOSURE_NAME_BYTES (2 * PROGRAM_NAME_BYTES)
void closure_name(const struct program *p, const struct closure_table *t, bool by_type, char *ret, size_t size);

/* False: out of memory. */
bool heap_bands_of(struct heap_bands *ret, const struct heap_census *c, const struct ghc *g, bool by_type);

/* The band of each closure_table.id of the census that they were made of, from malloc. NULL: out of memory. */
struct heap_band **heap_bands_of_tables(const struct heap_bands *b, const struct heap_census *c, const struct ghc *g,
                                        bool by_type);

/* Tells the contents apart that the census has. `by_type`: as the bands are. False: out of memory. */
bool heap_bands_add_contents(struct heap_bands *b, const struct heap_census *c, const struct ghc *g, bool by_type);

/*
 * Pinned arrays, by type, as the runtime's own census has them: whole blocks up to 9.4, later the first array of each
 * group of blocks. So that a band does not change with who makes the census.
 */
void heap_bands_pinned_as_runtime(struct heap_bands *b, const struct heap_census *c, const struct ghc *g);

void heap_bands_sort(struct heap_bands *b);

/* By name, without packages; then one is found by its name. NULL: there is none. */
void heap_bands_sort_by_name(struct heap_bands *b);
const struct heap_band *heap_bands_find(const struct heap_bands *b, const char *name);
