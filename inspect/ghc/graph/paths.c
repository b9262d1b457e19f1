/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the paths of types are a tree, in which repetitions are folded: a list of a million cells is one node,
 * "(:)+". Nodes of the graph are numbered breadth first, so one pass over them in that order finds the shortest paths.
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

bool type_paths_find(struct type_paths *p, const struct heap_graph *g)
{
        *p = (struct type_paths){ .n = 0 };
        if (!(p->of_node = calloc((size_t)g->n_nodes + 1, sizeof(*p->of_node))))
                return false;
        for (uint32_t i = 0; i < g->n_nodes; i++)
                if (graph_is_root(heap_graph_type_of(g, i)->kind) &&
                    !(p->of_node[i] = type_paths_add_root(p, heap_graph_type_of(g, i)->name)))
                        return false;
        for (uint32_t i = 0; i < g->n_nodes; i++)
                for (uint32_t e = g->first_edge[i]; e < g->first_edge[i + 1]; e++) {
                        const uint32_t to = g->edges[e];
                        if (!p->of_node[to])
                                p->of_node[to] = path_to(p, heap_graph_type_of(g, to), p->of_node[i]);
                }
        return true;
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

/* ------------------------------------------------------------------- without a root */

/* Of the thread roots of this name, all threads and their stacks. */
static void set_threads(const struct heap_graph *g, const char *name, bool *reached, bool value)
{
        for (uint32_t i = 0; name && i < g->n_nodes; i++) {
                const struct graph_type *t = heap_graph_type_of(g, i);
                if (t->kind != GRAPH_THREAD_ROOT || strcmp(t->name, name) != 0)
                        continue;
                for (uint32_t e = g->first_edge[i]; e < g->first_edge[i + 1]; e++) {
                        const uint32_t thread = g->edges[e];
                        reached[thread] = value;
                        for (uint32_t k = g->first_edge[thread]; k < g->first_edge[thread + 1]; k++)
                                if (heap_graph_type_of(g, g->edges[k])->kind == GRAPH_STACK)
                                        reached[g->edges[k]] = value;
                }
        }
}

bool graph_reach_without(const struct heap_graph *g, const char *root_name, bool *reached, uint32_t *root)
{
        uint32_t *queue = malloc(((size_t)g->n_nodes + 1) * sizeof(*queue));
        uint32_t n = 0;

        if (!queue)
                return false;
        memset(reached, 0, g->n_nodes * sizeof(*reached));
        for (uint32_t i = 0; i < g->n_nodes; i++) {
                const struct graph_type *t = heap_graph_type_of(g, i);
                if (graph_is_root(t->kind) && t->kind != GRAPH_DOUBTFUL_ROOT &&
                    !(root_name && !strcmp(t->name, root_name))) {
                        reached[i] = true;
                        queue[n++] = i;
                        if (root)
                                root[i] = i;
                }
        }
        set_threads(g, root_name, reached, true); /* so that the search passes over them */
        for (uint32_t done = 0; done < n; done++)
                for (uint32_t e = g->first_edge[queue[done]]; e < g->first_edge[queue[done] + 1]; e++)
                        if (!reached[g->edges[e]]) {
                                reached[g->edges[e]] = true;
                                queue[n++] = g->edges[e];
                                if (root)
                                        root[g->edges[e]] = root[queue[done]];
                        }
        set_threads(g, root_name, reached, false);
        free(queue);
        return true;
}

uint64_t graph_dead_bytes_without(const struct heap_graph *g, const bool *with, const bool *without)
{
        bool stays = false, stays_without = false;
        uint64_t bytes = 0;

        for (uint32_t i = 0; i < g->n_pins; i++) {
                stays |= with[g->pins[i].node];
                stays_without |= without[g->pins[i].node];
                if (!g->pins[i].dead_words)
                        continue;
                bytes += stays && !stays_without ? UINT64_C(8) * g->pins[i].dead_words : 0;
                stays = stays_without = false;
        }
        return bytes;
}
