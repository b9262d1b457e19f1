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
        free(g->type);
        free(g->words);
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

        g->out_of_memory |= !ARRAY_RESERVE(g->type, g->type_capacity, n) ||
                            !ARRAY_RESERVE(g->words, g->words_capacity, n) ||
                            !ARRAY_RESERVE(g->first_edge, g->first_capacity, n);
        return !g->out_of_memory;
}

uint32_t heap_graph_add_note(struct heap_graph *g, uint64_t note)
{
        if (g->n_nodes == UINT32_MAX - 1 || !ARRAY_RESERVE(g->type, g->type_capacity, (size_t)g->n_nodes + 1) ||
            !ARRAY_RESERVE(g->words, g->words_capacity, (size_t)g->n_nodes + 1)) {
                g->out_of_memory = true;
                return UINT32_MAX;
        }
        g->type[g->n_nodes] = (uint32_t)note;
        g->words[g->n_nodes] = (uint32_t)(note >> 32);
        return g->n_nodes++;
}

void heap_graph_set(struct heap_graph *g, uint32_t node, uint32_t type, uint64_t bytes)
{
        g->type[node] = type;
        g->words[node] = bytes / 8 < UINT32_MAX ? (uint32_t)(bytes / 8) : UINT32_MAX;
}

uint32_t heap_graph_add(struct heap_graph *g, uint32_t type, uint64_t bytes)
{
        const uint32_t node = heap_graph_add_note(g, 0);

        if (node != UINT32_MAX)
                heap_graph_set(g, node, type, bytes);
        return node;
}

void heap_graph_want(struct heap_graph *g, uint32_t node)
{
        if (!ARRAY_RESERVE_ZEROED(g->wanted, g->wanted_capacity, (size_t)node + 1)) {
                g->out_of_memory = true;
                return;
        }
        g->wanted[node] = true;
        g->n_wanted = node + 1;
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
