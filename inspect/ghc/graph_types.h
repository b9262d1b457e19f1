/* SPDX-License-Identifier: BSD-3-Clause */
/* graph_types.h - which type of a graph closures and frames are. */
#ifndef HW_INSPECT_GHC_GRAPH_TYPES_H
#define HW_INSPECT_GHC_GRAPH_TYPES_H

#include "inspect/ghc/info_tables.h"
#include "inspect/graph/graph.h"

/* What was named, by closure_table.id. */
struct graph_types {
        const struct program *program; /* borrowed */
        struct heap_graph *graph;      /* borrowed */
        uint32_t *closures, *frames;   /* number of the type, plus 1; 0: not named yet */
        uint32_t closures_capacity, frames_capacity;
};

#define GRAPH_TYPE_NONE UINT32_MAX

uint32_t graph_type_of_closure(struct graph_types *t, const struct closure_table *table);

/* Of the program's own frames; GRAPH_TYPE_NONE: the runtime's say nothing. */
uint32_t graph_type_of_frame(struct graph_types *t, const struct closure_table *table);
void graph_types_done(struct graph_types *t);

#endif
