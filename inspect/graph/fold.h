/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fold.h - the tree of dominators by type: nodes whose dominators have the same types, in the same order, are one. What
 * repeats (a list, a tree) is there once, so the tree is about as small as the program's types are few.
 */
#ifndef HW_INSPECT_GRAPH_FOLD_H
#define HW_INSPECT_GRAPH_FOLD_H

#include "inspect/graph/graph.h"

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

#endif
