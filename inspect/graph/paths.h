/* SPDX-License-Identifier: BSD-3-Clause */
/* paths.h - the shortest paths from the roots to the closures of a graph, as paths of types. */
#ifndef HW_INSPECT_GRAPH_PATHS_H
#define HW_INSPECT_GRAPH_PATHS_H

#include "inspect/graph/graph.h"
#include "proto/base/idtable.h"

/* A path of types: of a root, or a type below another path. A plus: several of it, one below the other. */
struct type_path {
        const char *name; /* interned in the graph */
        uint32_t up;      /* 0: none */
        uint8_t depth, plus;
};

struct type_paths {
        struct type_path *items; /* [0] is unused */
        uint32_t n, capacity;
        struct idtable ids; /* of items */
        uint32_t *of_node;  /* 0: no path leads to it */
        bool is_plain;      /* what repeats is the first of its kind, in place of one with a plus beside that */
};

/* False: out of memory. type_paths_done() in any case. */
bool type_paths_find(struct type_paths *p, const struct heap_graph *g);
void type_paths_done(struct type_paths *p);

/* The path of a root. 0: out of memory. */
uint32_t type_paths_add_root(struct type_paths *p, const char *name);

/* A type below a path; that path itself where there are too many, or it is too deep. Names are compared as pointers. */
uint32_t type_paths_add(struct type_paths *p, uint32_t path, const char *name);

/* The path's root. */
uint32_t type_paths_root(const struct type_paths *p, uint32_t path);

/*
 * Sets `reached`, of each node, to what is held without the roots of this name (NULL: with all), and without what
 * doubtful roots hold.
 * Threads that are such roots are gone with their stacks, also where something else leads to them. `root` (may be
 * NULL): of what is reached, the root that is nearest. False: out of memory.
 */
bool graph_reach_without(const struct heap_graph *g, const char *root_name, bool *reached, uint32_t *root);

/* Dead bytes in the pinned blocks in which something is reached `with`, and nothing `without`. */
uint64_t graph_dead_bytes_without(const struct heap_graph *g, const bool *with, const bool *without);

#endif
