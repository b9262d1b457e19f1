/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the paths of types are a tree, in which repetitions are folded: a list of a million cells is one node,
 * "(:)+". A search breadth first finds the shortest paths.
 */
#include "inspect/ghc/graph/fold.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/array.h"
#include "proto/base/hash.h"

#define PATHS_MOST (UINT32_C(1) << 21)
#define DEPTH_MOST 32u

/* When there are too many, what is below `up` is counted with it. */
static uint32_t path_of(struct type_paths *p, const char *name, uint32_t up, uint8_t plus)
{
        const uint64_t hash = hash_u64((uint64_t)(uintptr_t)name * 2 + plus, up);
        uint32_t at = idtable_start(&p->ids, hash), id;

        while ((id = idtable_next(&p->ids, hash, &at)) &&
               (p->items[id].name != name || p->items[id].up != up || p->items[id].plus != plus))
                ;
        if (id)
                return id;
        if (!ARRAY_RESERVE(p->items, p->capacity, (size_t)p->n + 2))
                return up;
        if (p->n == 0)
                p->items[p->n++] = (struct type_path){ "", 0, 0, 0 };
        if (p->n >= PATHS_MOST || idtable_add(&p->ids, hash, p->n) != 0)
                return up;
        p->items[p->n] = (struct type_path){ name, up, (uint8_t)(up ? p->items[up].depth + 1 : 0), plus };
        return p->n++;
}

static bool is_root(const struct type_paths *p, uint32_t path)
{
        return p->items[path].up == 0;
}

uint32_t type_paths_add_root(struct type_paths *p, const char *name)
{
        return path_of(p, name, 0, 0);
}

/* One, two or three types that come again and again are there once. */
uint32_t type_paths_add(struct type_paths *p, uint32_t path, const char *name)
{
        uint32_t again = path;

        for (unsigned period = 1; period <= 3 && again && !is_root(p, again); period++) {
                bool repeats = p->items[again].name == name;
                /* the types between must have come before, in the same order */
                for (uint32_t a = path, b = p->items[again].up; repeats && a != again; a = p->items[a].up) {
                        repeats = b && !is_root(p, b) && p->items[a].name == p->items[b].name;
                        b = b ? p->items[b].up : 0;
                }
                if (repeats)
                        return p->is_plain || p->items[again].plus ? again : path_of(p, name, p->items[again].up, 1);
                again = p->items[again].up;
        }
        return p->items[path].depth >= DEPTH_MOST ? path : path_of(p, name, path, 0);
}

static uint32_t path_to(struct type_paths *p, const struct graph_type *t, uint32_t from)
{
        const bool is_step = t->kind == GRAPH_CLOSURE || t->kind == GRAPH_FRAME;

        return is_step && from ? type_paths_add(p, from, t->name) : from;
}

struct finding {
        struct type_paths *paths;
        const struct heap_graph *graph;
};

static bool reach_path(void *ctx, uint32_t node, uint32_t from, uint32_t root)
{
        const struct finding *f = ctx;
        struct type_paths *p = f->paths;

        (void)root;
        if (p->of_node[node])
                return false;
        const struct graph_type *t = heap_graph_type_of(f->graph, node);
        p->of_node[node] = from == GRAPH_NONE ? type_paths_add_root(p, t->name) : path_to(p, t, p->of_node[from]);
        return p->of_node[node] != 0;
}

bool type_paths_find(struct type_paths *p, const struct heap_graph *g)
{
        struct finding f = { p, g };

        *p = (struct type_paths){ .n = 0 };
        return (p->of_node = calloc((size_t)g->n_nodes + 1, sizeof(*p->of_node))) && graph_search(g, reach_path, &f);
}

void type_paths_done(struct type_paths *p)
{
        free(p->items);
        idtable_done(&p->ids);
        free(p->of_node);
        *p = (struct type_paths){ .n = 0 };
}

uint32_t type_paths_root(const struct type_paths *p, uint32_t path)
{
        while (path && p->items[path].up)
                path = p->items[path].up;
        return path;
}

/* ------------------------------------------------------------------------- searches */

struct step {
        uint32_t node, root; /* that it was reached from */
};

/* Nodes that are as far from the roots as each other. */
struct frontier {
        struct step *steps;
        size_t n, capacity;
};

static bool frontier_add(struct frontier *f, uint32_t node, uint32_t root)
{
        if (!ARRAY_RESERVE(f->steps, f->capacity, f->n + 1))
                return false;
        f->steps[f->n++] = (struct step){ node, root };
        return true;
}

bool graph_search(const struct heap_graph *g, bool (*reach)(void *ctx, uint32_t node, uint32_t from, uint32_t root),
                  void *ctx)
{
        struct frontier now = { .n = 0 }, next = { .n = 0 };
        bool good = true;

        for (uint32_t i = 0; i <= g->n_nodes && good; i++) {
                if (i < g->n_nodes && graph_is_root(heap_graph_type_of(g, i)->kind)) {
                        good = !reach(ctx, i, GRAPH_NONE, i) || frontier_add(&now, i, i);
                        continue;
                }
                while (now.n > 0 && good) { /* behind the last of some roots: one step further from them */
                        for (size_t k = 0; k < now.n && good; k++) {
                                const struct step s = now.steps[k];
                                for (uint32_t e = g->first_edge[s.node]; e < g->first_edge[s.node + 1] && good; e++)
                                        good = !reach(ctx, g->edges[e], s.node, s.root) ||
                                               frontier_add(&next, g->edges[e], s.root);
                        }
                        const struct frontier done = now;
                        now = next;
                        next = (struct frontier){ done.steps, 0, done.capacity };
                }
        }
        free(now.steps);
        free(next.steps);
        return good;
}

uint64_t *node_set_new(const struct heap_graph *g)
{
        return calloc((size_t)g->n_nodes / 64 + 1, sizeof(uint64_t));
}

/* ------------------------------------------------------------------- without a root */

struct reaching {
        const struct heap_graph *graph;
        const char *without;
        uint64_t *reached;
        void (*each)(void *ctx, uint32_t node, uint32_t root);
        void *ctx;
};

static bool reach_node_once(void *ctx, uint32_t node, uint32_t from, uint32_t root)
{
        const struct reaching *r = ctx;

        if (node_set_has(r->reached, node))
                return false;
        if (from == GRAPH_NONE) {
                const struct graph_type *t = heap_graph_type_of(r->graph, node);
                if (t->kind == GRAPH_DOUBTFUL_ROOT || (r->without && !strcmp(t->name, r->without)))
                        return false;
        }
        node_set_put(r->reached, node, true);
        if (r->each)
                r->each(r->ctx, node, root);
        return true;
}

/* Of the thread roots of this name, all threads and their stacks. */
static void set_threads(const struct heap_graph *g, const char *name, uint64_t *reached, bool value)
{
        for (uint32_t i = 0; name && i < g->n_nodes; i++) {
                const struct graph_type *t = heap_graph_type_of(g, i);
                if (t->kind != GRAPH_THREAD_ROOT || strcmp(t->name, name) != 0)
                        continue;
                for (uint32_t e = g->first_edge[i]; e < g->first_edge[i + 1]; e++) {
                        const uint32_t thread = g->edges[e];
                        node_set_put(reached, thread, value);
                        for (uint32_t k = g->first_edge[thread]; k < g->first_edge[thread + 1]; k++)
                                if (heap_graph_type_of(g, g->edges[k])->kind == GRAPH_STACK)
                                        node_set_put(reached, g->edges[k], value);
                }
        }
}

bool graph_reach_without(const struct heap_graph *g, const char *root_name, uint64_t *reached,
                         void (*each)(void *ctx, uint32_t node, uint32_t root), void *ctx)
{
        struct reaching r = { g, root_name, reached, each, ctx };

        memset(reached, 0, ((size_t)g->n_nodes / 64 + 1) * sizeof(*reached));
        set_threads(g, root_name, reached, true); /* so that the search passes over them */
        const bool good = graph_search(g, reach_node_once, &r);
        set_threads(g, root_name, reached, false);
        return good;
}

uint64_t graph_dead_bytes_without(const struct heap_graph *g, const uint64_t *with, const uint64_t *without)
{
        bool stays = false, stays_without = false;
        uint64_t bytes = 0;

        for (uint32_t i = 0; i < g->n_pins; i++) {
                stays |= node_set_has(with, g->pins[i].node);
                stays_without |= node_set_has(without, g->pins[i].node);
                if (!g->pins[i].dead_words)
                        continue;
                bytes += stays && !stays_without ? UINT64_C(8) * g->pins[i].dead_words : 0;
                stays = stays_without = false;
        }
        return bytes;
}
