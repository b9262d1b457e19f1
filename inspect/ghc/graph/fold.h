/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fold.h - the tree of dominators by type: nodes whose dominators have the same types, in the same order, are one. What
 * repeats (a list, a tree) is there once, so the tree is about as small as the program's types are few.
 */
#pragma once

#include "inspect/ghc/graph/graph.h"
#include "proto/base/idtable.h"

/*
 * dominators.c: what would go with what: a node dominates another one if all paths from the roots to that lead through
 * it. What a node retains is the bytes of all that it dominates, itself included.
 *
 * What doubtful roots alone hold is below them; what they lead to that other roots hold, too, is as if they did not.
 */

struct retained {
        uint64_t *of_node; /* bytes that go with each node; 0: no root leads to it */
        uint64_t
                *of_group; /* that go with all nodes of a group of types: what is below another one of it counts once */
        /* the tree: at each place from 1 to n - 1 a node that is reached, and the place of its dominator, which is
           lower; 0: several roots hold it, or it is one */
        uint32_t *node, *dominator, n;
};

/* `group` has that of each type, below `n_groups`. False: out of memory. retained_done() in any case. */
bool retained_find(struct retained *r, const struct heap_graph *g, const uint32_t *group, uint32_t n_groups);
void retained_done(struct retained *r);

struct folded_type {
        const char *name;    /* borrowed; NULL: the whole */
        uint32_t up;         /* the place of what holds it, lower than its own */
        bool is_root;        /* not a type but a root */
        uint64_t bytes;      /* that go with all of it: its own, and of what it alone holds */
        uint64_t own_bytes;  /* of its closures */
        uint64_t closures;   /* of its type, here */
        uint64_t rest_bytes; /* that it holds in types which are left out */
        uint32_t rest;       /* how many these are */
};

struct folded {
        struct folded_type *items; /* [0]: the whole; a place comes after that of what holds it */
        uint32_t n;
};

/*
 * `group` has that of each type, `names` that of each group; of all with bytes, the `most` largest. False: out of
 * memory; folded_done() in any case.
 */
bool folded_find(struct folded *ret, const struct heap_graph *g, const struct retained *r, const uint32_t *group,
                 const char *const *names, uint32_t most);
void folded_done(struct folded *f);

/* paths.c: the shortest paths from the roots to the closures of a graph, as paths of types. */

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
 * Of a graph, breadth first: calls `reach` for each root, `from` which is GRAPH_NONE then, and for each edge of what it
 * has said to be new; with the root that this was reached from. Roots whose numbers follow each other begin together,
 * and further ones when nothing new is left. False: out of memory.
 */
#define GRAPH_NONE UINT32_MAX
bool graph_search(const struct heap_graph *g, bool (*reach)(void *ctx, uint32_t node, uint32_t from, uint32_t root),
                  void *ctx);

/* A set of nodes of a graph, empty, from calloc. NULL: out of memory. */
uint64_t *node_set_new(const struct heap_graph *g);

static inline bool node_set_has(const uint64_t *set, uint32_t node)
{
        return set[node / 64] >> (node % 64) & 1;
}

static inline void node_set_put(uint64_t *set, uint32_t node, bool is_in)
{
        set[node / 64] = (set[node / 64] & ~(UINT64_C(1) << (node % 64))) | (uint64_t)is_in << (node % 64);
}

/*
 * Sets `reached` to what is held without the roots of this name (NULL: with all), and without what doubtful roots hold.
 * Threads that are such roots are gone with their stacks, also where something else leads to them. Calls `each` (may be
 * NULL) for what is reached, with the root that is nearest. False: out of memory.
 */
bool graph_reach_without(const struct heap_graph *g, const char *root_name, uint64_t *reached,
                         void (*each)(void *ctx, uint32_t node, uint32_t root), void *ctx);

/* Dead bytes in the pinned blocks in which something is reached `with`, and nothing `without`. */
uint64_t graph_dead_bytes_without(const struct heap_graph *g, const uint64_t *with, const uint64_t *without);
