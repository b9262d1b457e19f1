/* SPDX-License-Identifier: BSD-3-Clause */
/* why.h - what was found of why a band is kept: why.c finds it, why_text.c and why_json.c print it. */
#pragma once

#include "inspect/ghc/graph/fold.h"
#include "inspect/show/show.h"

/* Of a path or a root. */
struct holding {
        uint32_t path;
        uint64_t bytes, closures;
        uint64_t only_bytes; /* of the band, that nothing else holds; */
        uint64_t with_bytes; /* of everything, that would go with it; */
        uint64_t dead_bytes; /* and what is dead in pinned blocks that would */
        const char *other;   /* the root that holds most of it, too; NULL: none does */
        uint64_t other_bytes;
        uint64_t then_bytes; /* in the older graph */
        bool tried;
};

struct question {
        const struct graph_subject *subject;
        const struct heap_graph *graph;
        struct graph_groups groups;
        struct type_paths types;
        uint32_t band;               /* its group, */
        struct graph_group contents; /* or what was typed is not a type but what closures hold: "[Session]" */
        bool is_of_contents;
        const char *name;                /* of the band */
        uint64_t all_bytes, all_reached; /* of everything */
        const char *most_name;           /* the type that most of its bytes are of; NULL: not known */
        uint64_t most_bytes;
        struct holding *paths, *roots; /* the largest first */
        size_t n_paths, n_roots;
        const struct question *then; /* the same of an older graph; NULL: there is none */
};

static inline const struct graph_group *band_of(const struct question *q)
{
        return q->is_of_contents ? &q->contents : &q->groups.items[q->band];
}

/* In the older graph. */
static inline uint64_t bytes_then(const struct question *q)
{
        return q->then->groups.n ? graph_group_bytes(band_of(q->then)) : 0;
}

#define PATH_NAMES 40

/* The types from the closure's holder to the root. Returns how many. */
size_t why_names(const struct type_paths *t, uint32_t path, const struct type_path *ret[PATH_NAMES]);

/* The last one is the root, and may have anything in its name. */
const char *why_shown_name(const struct type_path *const *names, size_t i, size_t n);

void why_print_brief(const struct question *q); /* in one sentence */
void why_print_text(const struct question *q);
void why_print_json(const struct question *q);

/* A member of an open object. */
void why_json_paths(struct json_out *j, const struct question *q, size_t most);
