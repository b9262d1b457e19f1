/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * graph.h - who holds what: the closures that are alive, a node each, with their types and sizes, and the pointers from
 * one to the other. No contents, and no addresses.
 *
 * Roots have the lowest numbers, but for those that only hold what none of these does, which come after what others
 * hold. What is not closures but holds some is a node, too, of no bytes: a root (all of one name are one node), and a
 * frame of a stack.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/base/idtable.h"
#include "proto/base/strings.h"

/* bands.c: how much of a heap is of each type, and of each type by what its closures hold. */

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

enum graph_kind {
        GRAPH_CLOSURE,
        GRAPH_PASSAGE, /* a closure that is no step of a path: an indirection */
        GRAPH_THREAD,
        GRAPH_STACK,
        GRAPH_FRAME,
        GRAPH_ROOT,
        GRAPH_THREAD_ROOT,   /* each node that it leads to is a thread */
        GRAPH_DOUBTFUL_ROOT, /* which holds what only seems to be a pointer: never a reason that something stays */
        GRAPH_KINDS
};

struct graph_type {
        const char *name;    /* interned; of a constructor with its package */
        const char *by_type; /* as a heap profile by closure type has it; interned */
        uint8_t kind;        /* enum graph_kind */
        uint32_t roots;      /* that have this name */
        uint64_t unreached_bytes, unreached_closures;
        uint64_t pinned_bytes; /* of what is unreached, in pinned blocks in which something is reached */
        uint32_t newest_shape; /* of its nodes, that came last; plus 1 */
};

/* What a node has, which many nodes have: closures of one type are of one size, but for arrays and stacks. */
struct graph_shape {
        uint32_t type, words; /* of 8 bytes; at most UINT32_MAX */
};

/*
 * What is reached in a pinned block, which stays with all that is dead in it as long as one of these does. Those of one
 * block follow each other.
 */
struct graph_pin {
        uint32_t node;
        uint32_t dead_words; /* of 8 bytes, in the block; 0: the next one is of the same block */
};

/* Of what program, and how it was read. */
struct graph_origin {
        char program[256], layout[64], from[16]; /* "stopped", "running", "core" */
        uint32_t pid;                            /* 0: not known */
        uint64_t taken_unix_s, stopped_ns;
        bool profiled, symbols, complete;
};

/* Slices that use less than half of the arrays that they keep; and these, which nothing else holds. */
enum { SLICES_OF_BYTES, SLICES_OF_TEXT, SLICES_KINDS };
struct graph_slices {
        uint64_t slices, arrays;
        uint64_t array_bytes, used_bytes; /* of contents */
};

struct heap_graph {
        struct graph_origin origin;
        struct strings names;
        struct graph_type *types;
        uint32_t n_types, types_capacity;
        struct idtable type_ids; /* numbers of types, plus 1 */
        struct graph_shape *shapes;
        uint32_t n_shapes, shapes_capacity;
        struct idtable shape_ids; /* numbers of shapes, plus 1 */
        uint32_t *shape;          /* of each node */
        uint32_t n_nodes, shape_capacity;
        uint32_t *first_edge; /* of each node whose edges are known: they reach up to those of the next one */
        uint32_t n_closed, first_capacity;
        uint32_t *edges; /* numbers of nodes */
        uint32_t n_edges, edges_capacity;
        bool *wanted; /* of each node up to the last one that is: whoever made the graph wants to know of it */
        uint32_t n_wanted, wanted_capacity;
        uint64_t wanted_unreached_bytes, wanted_unreached_closures; /* of closures that are no nodes */
        uint64_t live_cafs, dead_cafs;
        struct heap_bands bands; /* of its closures, by name without packages; none: not known */
        struct graph_pin *pins;  /* of the blocks in which something is dead */
        uint32_t n_pins, pins_capacity;
        struct graph_slices slices[SLICES_KINDS];
        bool arrays_known; /* pins and slices, which older files do not have */
        bool out_of_memory;
};

void heap_graph_init(struct heap_graph *g);
void heap_graph_done(struct heap_graph *g);

/* Room for so many nodes, and no more. False, and `out_of_memory`: there is none. */
bool heap_graph_reserve(struct heap_graph *g, uint64_t nodes);

/* The number of the type, which is added if it is new. On failure 0, and `out_of_memory`. */
uint32_t heap_graph_type(struct heap_graph *g, enum graph_kind kind, const char *name, const char *by_type);

/* The number of a new node. On failure UINT32_MAX, and `out_of_memory`. */
uint32_t heap_graph_add(struct heap_graph *g, uint32_t type, uint64_t bytes);

/* Gives a node another type and size. */
void heap_graph_set(struct heap_graph *g, uint32_t node, uint32_t type, uint64_t bytes);

/* A node, which may not be there yet. */
void heap_graph_want(struct heap_graph *g, uint32_t node);

/* The edges that are added from now on are those of the next node, in the order of their numbers. */
void heap_graph_open_next(struct heap_graph *g);
void heap_graph_add_edge(struct heap_graph *g, uint32_t to);

/* One more; with no dead words so far. */
void heap_graph_add_pin(struct heap_graph *g, uint32_t node);

/* When the edges of all nodes are known: closes the last one, and keeps no more memory than needed. */
void heap_graph_finish(struct heap_graph *g);

static inline uint64_t heap_graph_bytes(const struct heap_graph *g, uint32_t node)
{
        return UINT64_C(8) * g->shapes[g->shape[node]].words;
}

static inline uint32_t heap_graph_type_number(const struct heap_graph *g, uint32_t node)
{
        return g->shapes[g->shape[node]].type;
}

static inline bool heap_graph_is_wanted(const struct heap_graph *g, uint32_t node)
{
        return node < g->n_wanted && g->wanted[node];
}

static inline const struct graph_type *heap_graph_type_of(const struct heap_graph *g, uint32_t node)
{
        return &g->types[heap_graph_type_number(g, node)];
}

static inline bool graph_is_root(unsigned kind)
{
        return kind >= GRAPH_ROOT;
}

/* A closure, which has bytes. */
static inline bool graph_is_closure(unsigned kind)
{
        return kind < GRAPH_FRAME;
}

/*
 * file.c: a graph as bytes, compressed by zstd: docs/FORMATS.md, "Heap graphs". What is decoded may come from
 * anywhere: each number in it is checked.
 */

#define GRAPH_FILE_SUFFIX ".heapgraph"

/* Whether bytes begin as those of a graph do: at least GRAPH_FILE_MAGIC_BYTES of them. */
#define GRAPH_FILE_MAGIC_BYTES 16u
bool graph_file_is_one(const uint8_t *bytes);

/* From malloc; NULL: out of memory. */
uint8_t *graph_file_encode(const struct heap_graph *g, size_t *ret_size);

/* False with a sentence. heap_graph_done() in any case. `most_bytes`: that the graph may need in memory. */
bool graph_file_decode(struct heap_graph *g, const uint8_t *bytes, size_t size, uint64_t most_bytes,
                       struct error *error);
