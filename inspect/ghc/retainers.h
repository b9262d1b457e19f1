/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * retainers.h - why closures are kept: the shortest paths to them from what the collector begins with, as paths of
 * types.
 *
 * Roots are CAFs (top-level values), threads, stable pointers, weak pointers whose key is alive, registers, and words
 * of C memory that look like pointers to closures. A CAF counts only while something that is alive refers to it in its
 * code, as for the collector: a dead one keeps a pointer to what may be anything by now.
 */
#ifndef HW_INSPECT_GHC_RETAINERS_H
#define HW_INSPECT_GHC_RETAINERS_H

#include "inspect/ghc/snapshot.h"
#include "proto/base/strings.h"

enum root_kind { ROOT_CAF, ROOT_STABLE, ROOT_THREAD, ROOT_REGISTER, ROOT_WEAK, ROOT_C };

/* A path of types: of a root, or a type below another path. A plus: several of it, one below the other. */
struct type_path {
        const char *name; /* interned */
        uint32_t up;      /* 0: none */
        uint8_t depth, plus;
};

struct root {
        const char *name; /* interned: equal names are one root */
        uint64_t closure;
        uint32_t path;
        uint8_t kind; /* enum root_kind */
};

/* A stack that is in use, so that its pointer is not in it. */
struct running_stack {
        uint64_t stack, pointer;
};

#define RUNNING_MOST 256u

struct reached {
        uint64_t at;
        uint32_t path;
};

struct retainers {
        const struct heap_snapshot *snapshot; /* borrowed */
        struct strings names;
        const char **closure_names, **frame_names; /* by closure_table.id; NULL: not named yet */
        uint32_t n_names, names_capacity;
        struct type_path *paths; /* [0] is unused */
        uint32_t n_paths, paths_capacity;
        uint32_t *path_places;
        uint32_t n_path_places;
        struct root *roots;
        size_t n_roots, roots_capacity;
        struct reached *reached; /* the closures of the heap that were reached, in that order */
        size_t n_reached, reached_capacity;
        uint64_t *statics; /* closures that do not move and were reached: a hash table */
        size_t n_statics, static_places;
        struct running_stack running[RUNNING_MOST];
        size_t n_running;
        uint64_t live_cafs, dead_cafs;
        uint64_t live_weak_pointers; /* whose key is alive; they are one root */
        bool out_of_memory;
};

/* Finds the roots, and then all that they hold. False: out of memory. retainers_done() in any case. */
bool retainers_find(struct retainers *r, const struct heap_snapshot *s);

/* All that is held without the roots of this name, and without what C memory seems to hold. False: out of memory. */
bool retainers_find_without(struct retainers *r, const char *root_name);
void retainers_done(struct retainers *r);

/* Whether the closure at an address was reached by the last search. */
bool retainers_is_reached(const struct retainers *r, uint64_t at);

/* The path's root. */
uint32_t retainers_root_of(const struct retainers *r, uint32_t path);

#endif
