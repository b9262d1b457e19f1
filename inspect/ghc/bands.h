/* SPDX-License-Identifier: BSD-3-Clause */
/* bands.h - what closures are called, and a census by these names. */
#ifndef HW_INSPECT_GHC_BANDS_H
#define HW_INSPECT_GHC_BANDS_H

#include "inspect/ghc/census.h"

struct heap_band {
        char *name;
        uint64_t bytes, objects;
};

struct heap_bands {
        struct heap_band *items; /* the largest first */
        size_t n;
};

/*
 * Of a constructor its full name, of a function or a thunk its symbol, else the type of closure. `by_type`: as a heap
 * profile by closure type (-hT) has it, constructors by name and all others by type.
 */
void closure_name(const struct program *p, const struct closure_table *t, bool by_type, char *ret, size_t size);

/* False: out of memory. */
bool heap_bands_of(struct heap_bands *ret, const struct heap_census *c, const struct ghc *g, bool by_type);
/*
 * Pinned arrays, by type, as the runtime's own census has them: whole blocks up to 9.4, later the first array of each
 * group of blocks. So that a band does not change with who makes the census.
 */
void heap_bands_pinned_as_runtime(struct heap_bands *b, const struct heap_census *c, const struct ghc *g);

void heap_bands_sort(struct heap_bands *b);
void heap_bands_done(struct heap_bands *b);

#endif
