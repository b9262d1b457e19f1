/* SPDX-License-Identifier: BSD-3-Clause */
/* bands.h - what closures are called, and a census by these names. */
#ifndef HW_INSPECT_GHC_BANDS_H
#define HW_INSPECT_GHC_BANDS_H

#include "inspect/ghc/census.h"
#include "inspect/graph/bands.h"

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

#endif
