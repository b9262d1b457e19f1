/* SPDX-License-Identifier: BSD-3-Clause */
/* bands.h - how much of a heap is of each type, and of each type by what its closures hold. */
#ifndef HW_INSPECT_GRAPH_BANDS_H
#define HW_INSPECT_GRAPH_BANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_band {
        char *name;
        uint64_t bytes, objects;
        uint64_t threads;           /* of a band of threads; else 0 */
        struct heap_band *contents; /* by what its closures hold, the largest first; their sum is the band */
        size_t n_contents;          /* 0: they hold nothing that is told apart */
        bool is_container;          /* without that its name says nothing */
        uint64_t elements, same; /* of contents that are arrays: elements that were seen, and those of the named type */
        uint64_t low_bytes, high_bytes, low_objects, high_objects; /* of an estimate: its 95 % intervals */
};

struct heap_bands {
        struct heap_band *items; /* the largest first */
        size_t n;
};

void heap_bands_done(struct heap_bands *b);

/* What a band holds is not told apart any more. */
void heap_band_forget_contents(struct heap_band *b);

#endif
