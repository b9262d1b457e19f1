/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reach.h - the graph of what the roots of a heap reach.
 *
 * Roots are CAFs (top-level values), threads, stable pointers, weak pointers whose key is alive, registers, and words
 * of C memory that look like pointers to closures. A CAF counts only while something that is alive refers to it in its
 * code, as for the collector: a dead one keeps a pointer to what may be anything by now.
 */
#ifndef HW_INSPECT_GHC_REACH_H
#define HW_INSPECT_GHC_REACH_H

#include "inspect/ghc/census.h"
#include "inspect/graph/graph.h"

/* Memory that is needed in all for a byte of heap, in quarters: its copy, the graph, and what finds nodes. */
#define REACH_QUARTERS 11u

/*
 * Fills an empty graph, and `all` (NULL: none) with a census of its closures. With `ret_places` these are, for each
 * node, the address of its closure, from malloc; what is no closure has an odd one. False: out of memory.
 */
bool reach_all(struct heap_graph *g, const struct heap_snapshot *s, struct heap_census *all, uint64_t **ret_places);

/*
 * A census of what is reached, as a collection would leave it, the youngest closures included, of a program that was
 * not stopped but read twice (snapshot_reread()). *ret_most: bytes with what is in doubt, because it is reached only
 * from what may be a pointer: any word of a stack in use, what words had that have changed between the two readings,
 * and C memory, unless the stable pointers are known, which are what it has. False: out of memory.
 */
bool reach_census(struct heap_census *c, const struct heap_snapshot *s, uint64_t *ret_most);

#endif
