/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * contents.h - types by two levels: the closures of one type, told apart by the types of what their fields lead to, as
 * Haskell writes them: "[Session]", "Map Text Session", "Maybe Int", "Entry Text Session", "thunk of Session".
 */
#ifndef HW_INSPECT_GHC_CONTENTS_H
#define HW_INSPECT_GHC_CONTENTS_H

#include "inspect/ghc/snapshot.h"
#include "proto/base/idtable.h"

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

#endif
