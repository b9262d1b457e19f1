/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/show/show.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/ghc/names.h"

struct named_type {
        const char *name;
        uint32_t type;
        uint8_t class;
};

static int by_class_and_name(const void *a, const void *b)
{
        const struct named_type *x = a, *y = b;

        return x->class != y->class ? x->class - y->class
                                    : strcmp(name_without_package(x->name), name_without_package(y->name));
}

bool graph_groups_find(struct graph_groups *ret, const struct heap_graph *g, bool by_type)
{
        const size_t n = (size_t)g->n_types + 1;
        struct named_type *types = calloc(n, sizeof(*types));

        *ret = (struct graph_groups){ calloc(n, sizeof(*ret->items)), 0, calloc(n, sizeof(*ret->of_type)) };
        const bool good = types && ret->items && ret->of_type;
        for (uint32_t i = 0; good && i < g->n_types; i++) {
                const unsigned kind = g->types[i].kind;
                const uint8_t class = graph_is_root(kind)   ? GROUP_ROOTS
                                      : kind == GRAPH_FRAME ? GROUP_FRAMES
                                                            : GROUP_CLOSURES;
                const char *name = by_type && class == GROUP_CLOSURES ? g->types[i].by_type : g->types[i].name;
                types[i] = (struct named_type){ name, i, class };
        }
        if (good && g->n_types)
                qsort(types, g->n_types, sizeof(*types), by_class_and_name);
        for (uint32_t i = 0; good && i < g->n_types; i++) {
                if (i == 0 || by_class_and_name(&types[i - 1], &types[i]) != 0)
                        ret->items[ret->n++] = (struct graph_group){ .name = types[i].name, .class = types[i].class };
                ret->of_type[types[i].type] = ret->n - 1;
        }
        for (uint32_t i = 0; good && i < g->n_types; i++) {
                struct graph_group *to = &ret->items[ret->of_type[i]];
                to->roots += g->types[i].roots;
                to->unreached_bytes += g->types[i].unreached_bytes;
                to->unreached_closures += g->types[i].unreached_closures;
                to->pinned_bytes += g->types[i].pinned_bytes;
        }
        for (uint32_t i = 0; good && i < g->n_nodes; i++) {
                struct graph_group *to = &ret->items[ret->of_type[heap_graph_type_number(g, i)]];
                to->bytes += heap_graph_bytes(g, i);
                to->closures++;
        }
        free(types);
        return good;
}

void graph_groups_done(struct graph_groups *s)
{
        free(s->items);
        free(s->of_type);
        *s = (struct graph_groups){ NULL, 0, NULL };
}
