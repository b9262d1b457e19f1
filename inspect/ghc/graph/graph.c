/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/ghc/graph/graph.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/array.h"
#include "proto/base/hash.h"

#define NAMES_BYTES ((size_t)64 << 20)
#define TYPES_MOST  (UINT32_C(1) << 22)

void heap_graph_init(struct heap_graph *g)
{
        *g = (struct heap_graph){ .n_nodes = 0 };
        strings_init(&g->names, NAMES_BYTES);
}

void heap_graph_done(struct heap_graph *g)
{
        strings_done(&g->names);
        free(g->types);
        idtable_done(&g->type_ids);
        free(g->shapes);
        idtable_done(&g->shape_ids);
        free(g->shape);
        free(g->first_edge);
        free(g->edges);
        free(g->wanted);
        free(g->pins);
        heap_bands_done(&g->bands);
        *g = (struct heap_graph){ .n_nodes = 0 };
}

/* ---------------------------------------------------------------------------- types */

static const char *intern_name(struct heap_graph *g, const char *text)
{
        const char *interned = strings_intern(&g->names, text, strlen(text));

        g->out_of_memory |= !interned;
        return interned ? interned : "?";
}

uint32_t heap_graph_type(struct heap_graph *g, enum graph_kind kind, const char *name, const char *by_type)
{
        const struct graph_type new = { .name = intern_name(g, name),
                                        .by_type = intern_name(g, by_type),
                                        .kind = (uint8_t)kind };
        const uint64_t hash =
                hash_u64((uint64_t)(uintptr_t) new.name, hash_u64((uint64_t)(uintptr_t) new.by_type, kind));
        uint32_t at = idtable_start(&g->type_ids, hash), id;

        while ((id = idtable_next(&g->type_ids, hash, &at))) {
                const struct graph_type *t = &g->types[id - 1];
                if (t->name == new.name && t->by_type == new.by_type && t->kind == kind)
                        return id - 1;
        }
        if (g->n_types >= TYPES_MOST || !ARRAY_RESERVE(g->types, g->types_capacity, g->n_types + 1) ||
            idtable_add(&g->type_ids, hash, g->n_types + 1) != 0) {
                g->out_of_memory = true;
                return 0;
        }
        g->types[g->n_types] = new;
        return g->n_types++;
}

/* ------------------------------------------------------------------ nodes and edges */

bool heap_graph_reserve(struct heap_graph *g, uint64_t nodes)
{
        const size_t n = nodes < UINT32_MAX - 1 ? (size_t)nodes + 1 : UINT32_MAX;

        g->out_of_memory |=
                !ARRAY_RESERVE(g->shape, g->shape_capacity, n) || !ARRAY_RESERVE(g->first_edge, g->first_capacity, n);
        return !g->out_of_memory;
}

/* On failure 0, and `out_of_memory`. */
static uint32_t find_shape(struct heap_graph *g, uint32_t type, uint32_t words)
{
        const uint64_t hash = hash_u64((uint64_t)type << 32 | words, hash_seed(g));
        uint32_t at = idtable_start(&g->shape_ids, hash), id;

        while ((id = idtable_next(&g->shape_ids, hash, &at)))
                if (g->shapes[id - 1].type == type && g->shapes[id - 1].words == words)
                        return id - 1;
        if (!ARRAY_RESERVE(g->shapes, g->shapes_capacity, g->n_shapes + 1) ||
            idtable_add(&g->shape_ids, hash, g->n_shapes + 1) != 0) {
                g->out_of_memory = true;
                return 0;
        }
        g->shapes[g->n_shapes] = (struct graph_shape){ type, words };
        return g->n_shapes++;
}

void heap_graph_set(struct heap_graph *g, uint32_t node, uint32_t type, uint64_t bytes)
{
        const uint32_t words = bytes / 8 < UINT32_MAX ? (uint32_t)(bytes / 8) : UINT32_MAX;
        struct graph_type *t = type < g->n_types ? &g->types[type] : NULL;

        if (!t)
                g->out_of_memory = true; /* it has no type because of that */
        if (!t || g->out_of_memory)
                return;
        if (!t->newest_shape || g->shapes[t->newest_shape - 1].words != words)
                t->newest_shape = find_shape(g, type, words) + 1;
        g->shape[node] = t->newest_shape - 1;
}

uint32_t heap_graph_add(struct heap_graph *g, uint32_t type, uint64_t bytes)
{
        if (g->n_nodes == UINT32_MAX - 1 || !ARRAY_RESERVE(g->shape, g->shape_capacity, (size_t)g->n_nodes + 1)) {
                g->out_of_memory = true;
                return UINT32_MAX;
        }
        g->shape[g->n_nodes] = 0;
        heap_graph_set(g, g->n_nodes, type, bytes);
        return g->n_nodes++;
}

void heap_graph_want(struct heap_graph *g, uint32_t node)
{
        if (!ARRAY_RESERVE_ZEROED(g->wanted, g->wanted_capacity, (size_t)node + 1)) {
                g->out_of_memory = true;
                return;
        }
        g->wanted[node] = true;
        g->n_wanted = node < g->n_wanted ? g->n_wanted : node + 1;
}

void heap_graph_open_next(struct heap_graph *g)
{
        if (!ARRAY_RESERVE(g->first_edge, g->first_capacity, (size_t)g->n_closed + 1))
                g->out_of_memory = true;
        else
                g->first_edge[g->n_closed++] = g->n_edges;
}

void heap_graph_add_edge(struct heap_graph *g, uint32_t to)
{
        if (g->n_edges == UINT32_MAX || !ARRAY_RESERVE(g->edges, g->edges_capacity, (size_t)g->n_edges + 1))
                g->out_of_memory = true;
        else
                g->edges[g->n_edges++] = to;
}

void heap_graph_add_pin(struct heap_graph *g, uint32_t node)
{
        if (g->n_pins == UINT32_MAX || !ARRAY_RESERVE(g->pins, g->pins_capacity, (size_t)g->n_pins + 1))
                g->out_of_memory = true;
        else
                g->pins[g->n_pins++] = (struct graph_pin){ .node = node };
}

void heap_graph_finish(struct heap_graph *g)
{
        while (g->n_closed <= g->n_nodes && !g->out_of_memory)
                heap_graph_open_next(g);
        uint32_t *edges = g->n_edges ? realloc(g->edges, g->n_edges * sizeof(*edges)) : NULL;
        if (edges) {
                g->edges = edges;
                g->edges_capacity = g->n_edges;
        }
}

/* -------------------------------------------------------------------------- bands */

void heap_band_forget_contents(struct heap_band *b)
{
        for (size_t i = 0; i < b->n_contents; i++)
                free(b->contents[i].name);
        free(b->contents);
        b->contents = NULL;
        b->n_contents = 0;
}

void heap_bands_done(struct heap_bands *b)
{
        for (size_t i = 0; i < b->n; i++) {
                heap_band_forget_contents(&b->items[i]);
                free(b->items[i].name);
        }
        free(b->items);
        *b = (struct heap_bands){ NULL, 0 };
}
