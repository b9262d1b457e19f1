/* SPDX-License-Identifier: BSD-3-Clause */
/* roots.h - what a collection begins with, by name: roots of one name are one node of the graph. */
#pragma once

#include "inspect/ghc/info_tables.h"
#include "inspect/ghc/snapshot.h"
#include "inspect/ghc/graph/graph.h"

/* Which type of a graph closures and frames are. */

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

struct root {
        uint64_t closure;
        uint32_t type; /* of the graph */
        bool is_weak;  /* the closure is a weak pointer, and what that holds is meant */
        bool is_brief; /* a register: a thread that runs is about to leave it */
};

/* A stack that is in use, so that its pointer is not in it; 0: it is not known. */
struct running_stack {
        uint64_t stack, pointer;
};

#define RUNNING_MOST 256u

struct heap_roots {
        const struct heap_snapshot *snapshot; /* borrowed */
        struct graph_types *types;            /* borrowed */
        struct root *items;
        size_t n, capacity;
        struct running_stack running[RUNNING_MOST];
        size_t n_running;
        bool has_stable_pointers; /* the runtime's table of them was found */
};

/* Goes through the frames of a thread, from the top. */
struct thread_frames {
        const struct heap_snapshot *snapshot;
        uint64_t at, end;
};

struct thread_frames heap_thread_frames(const struct heap_snapshot *s, uint64_t tso);

/* False: there is no further one. */
bool thread_frames_next(struct thread_frames *f, const struct closure_table **ret);

/* Threads, registers and stable pointers. */
void heap_roots_add(struct heap_roots *r);

/* A weak pointer whose key does not move, and so is always alive. */
void heap_roots_add_weak(struct heap_roots *r, uint64_t weak);

/* And static indirections into the heap. `is_alive`: the search from the other roots has come to it. */
void heap_roots_add_cafs(struct heap_roots *r, bool (*is_alive)(const void *ctx, uint64_t at), const void *ctx);
