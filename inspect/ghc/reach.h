/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reach.h - the graph of what the roots of a heap reach.
 *
 * Roots are CAFs (top-level values), threads, stable pointers, weak pointers whose key is alive, registers, and words
 * of C memory that look like pointers to closures. A CAF counts only while something that is alive refers to it in its
 * code, as for the collector: a dead one keeps a pointer to what may be anything by now.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "inspect/ghc/census.h"
#include "inspect/ghc/roots.h"
#include "inspect/ghc/snapshot.h"
#include "inspect/ghc/graph/graph.h"

/* Memory that is needed in all for a byte of heap, in quarters: its copy, and the graph. */
#define REACH_QUARTERS 9u

/*
 * Fills an empty graph, and `all` (NULL: none) with a census of its closures. The copy of the heap is gone then, unless
 * there are compact regions in it. False: out of memory.
 */
bool reach_all(struct heap_graph *g, struct heap_snapshot *s, struct heap_census *all);

/* Then, of the closure at an address: its node. UINT32_MAX: no root reaches it. */
uint32_t reach_node(const struct heap_snapshot *s, uint64_t at);

/*
 * A census of what is reached, as a collection would leave it, the youngest closures included, of a program that was
 * not stopped but read twice (snapshot_reread()). *ret_most: bytes with what is in doubt, because it is reached only
 * from what may be a pointer: any word of a stack in use, what words had that have changed between the two readings,
 * and C memory, unless the stable pointers are known, which are what it has. False: out of memory.
 */
bool reach_census(struct heap_census *c, struct heap_snapshot *s, uint64_t *ret_most);

/*
 * slices.c: byte arrays of which only a part is used: a slice of a ByteString or a Text, however small, keeps all of
 * the array that it was cut from.
 *
 * By the fields of ByteString (bytestring 0.10 on), of Text (text 1 and 2) and of the chunks of their lazy forms. An
 * array that anything else holds, too, such as a field that was unpacked into another constructor, is left out: how
 * much of it that uses is not known.
 */

/* Of a snapshot whose closures are numbered, before these are nodes. NULL: out of memory. */
struct slices *slices_read(struct graph_types *types, const struct heap_snapshot *s);

/* When the graph is whole: sets its slices. False: out of memory. */
bool slices_sum(struct slices *f, struct heap_graph *g);
void slices_done(struct slices *f);

/*
 * reached.c: whether what roots reach is the live data of a program that was not stopped for it.
 *
 * They lie between what is reached for certain and that with all that is in doubt (reach_census()). Where a tenth of
 * the one or more is missing to the other, they are not known. And each major collection shows whether it was right:
 * one that leaves more than was reached and has come since says that there is a root which is not known; from then on
 * nothing is believed.
 */

struct reach_result {
        uint64_t least_bytes, most_bytes; /* reached for certain; with what is in doubt */
        uint64_t held_bytes;              /* by the generations */
        uint64_t nursery_bytes;           /* that nurseries have room for */
        uint32_t major_collections;       /* that there were before it */
};

struct reached {
        bool is_known;              /* what is reached was found since the newest major collection */
        bool is_wrong;              /* a collection has contradicted it */
        struct reach_result newest; /* that was believed */
};

/* True: what is reached for certain are the live data. */
bool reached_add(struct reached *r, const struct reach_result *found);

/*
 * The nth major collection has left `live_bytes`, before which the generations held `held_bytes`. False: what
 * was found before it was wrong.
 */
bool reached_compare(struct reached *r, uint32_t nth, uint64_t live_bytes, uint64_t held_bytes);
