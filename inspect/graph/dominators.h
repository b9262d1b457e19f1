/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dominators.h - what would go with what: a node dominates another one if all paths from the roots to that lead through
 * it. What a node retains is the bytes of all that it dominates, itself included.
 *
 * What doubtful roots alone hold is below them; what they lead to that other roots hold, too, is as if they did not.
 */
#ifndef HW_INSPECT_GRAPH_DOMINATORS_H
#define HW_INSPECT_GRAPH_DOMINATORS_H

#include "inspect/graph/graph.h"

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

#endif
