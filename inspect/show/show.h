/* SPDX-License-Identifier: BSD-3-Clause */
/* show.h - what each verb of heapwatch-inspect prints. */
#pragma once

#include "inspect/ghc/census.h"
#include "inspect/ghc/snapshot.h"
#include "inspect/ghc/stack_profile.h"
#include "inspect/ghc/threads.h"
#include "inspect/ghc/graph/graph.h"
#include "inspect/show/request.h"
#include "proto/base/json_out.h"

/* graph_groups.c: a graph by type: types of one name are one group, whatever the version of their package. */

enum group_class { GROUP_CLOSURES, GROUP_FRAMES, GROUP_ROOTS };

struct graph_group {
        const char *name; /* borrowed from the graph */
        uint8_t class;    /* enum group_class */
        uint32_t roots;
        uint64_t bytes, closures; /* of what is alive */
        uint64_t unreached_bytes, unreached_closures, pinned_bytes;
        uint64_t retained_bytes; /* by retained_find() */
};

/* NULL: there is none. */
static inline uint64_t graph_group_bytes(const struct graph_group *g)
{
        return g ? g->bytes + g->unreached_bytes : 0;
}

static inline uint64_t graph_group_closures(const struct graph_group *g)
{
        return g ? g->closures + g->unreached_closures : 0;
}

struct graph_groups {
        struct graph_group *items;
        uint32_t n;
        uint32_t *of_type; /* of each type of the graph */
};

/* `by_type`: closures as a heap profile by closure type has them. False: out of memory. graph_groups_done() anyway. */
bool graph_groups_find(struct graph_groups *ret, const struct heap_graph *g, bool by_type);
void graph_groups_done(struct graph_groups *s);

/* threads.c: `heapwatch threads`: threads in groups of equal stacks, the largest first, or one by one. */

/* Prints them; sorts t->items. False: out of memory. */
bool show_threads(const struct inspect_subject *s, struct threads *t);

/* heap.c: `heapwatch heap`: what is in the heap, the largest band first. */

/* Takes the census and prints it. False with a sentence. */
bool show_heap(struct inspect_subject *s, const struct heap_snapshot *snapshot, struct error *error);

/* The same of a sample, with intervals. */
bool show_heap_sample(struct inspect_subject *s, const struct heap_snapshot *snapshot, struct heap_sample *x,
                      struct error *error);

/* Whether at least 95 % of the heap was understood; else a sentence. s->rest says what was not; `s`: may be NULL. */
bool is_understood(struct inspect_subject *s, const struct heap_census *c, struct error *error);

/* arrays.c: `heapwatch heap --arrays`: byte arrays by size, and how many have the same contents. */

/* Counts and prints them. False with a sentence. */
bool show_arrays(struct inspect_subject *s, const struct heap_snapshot *snapshot, struct error *error);

/* why.h: `heapwatch why`: what keeps the closures of a band alive, as paths of types to the roots. */

/* Of the band that the request names, or of the largest. False with a sentence. */
bool show_why(const struct graph_subject *s, struct error *error);

/* Paths of each of these groups: a member of an open object. False: out of memory. */
bool why_json(struct json_out *j, const struct heap_graph *g, const struct graph_groups *groups,
              const struct graph_group *const *of, size_t n);

/* graph.c: `heapwatch heap` of a graph: what each type retains, and what it has gained since an older graph. */

/* `since`: NULL, or the older one. False with a sentence. */
bool show_graph(const struct graph_subject *s, struct error *error);

/* profile.c: `heapwatch profile`: functions by CPU time, allocation or waiting, and the trees of their callers. */

/* False: out of memory. */
bool show_profile(const struct inspect_subject *s, const struct stack_profile *p);

/* contents.c: what the closures of a band hold: in a few words, as rows below the band, and as JSON. */

#define CONTENTS_TEXT_BYTES 512

/* Most of it: "[Session]" of all, "81.0 % [Session]" of what is mixed; "" where the band's name says as much. */
const char *contents_most(const struct heap_band *b, char ret[CONTENTS_TEXT_BYTES]);

/* "Array# Session (98.0 % of its elements)"; safe for a terminal. */
const char *contents_name(const struct heap_band *content, char ret[CONTENTS_TEXT_BYTES]);

/* Members of the band's object; none where it holds nothing that is told apart. */
void contents_json(struct json_out *j, const struct heap_band *b);
