/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - each node has a path of types, that of its dominator and its own type below; paths are numbered as they come
 * (paths.c), so each has a higher number than the one above it, and sums go up in one pass. What is left out is no
 * larger than anything that is kept, so what holds something that is kept is kept.
 */
#include "inspect/ghc/graph/fold.h"

#include <stdlib.h>

#define WHOLE 1u /* the number of its path */

static bool find_paths(struct type_paths *p, const struct heap_graph *g, const struct retained *r,
                       const uint32_t *group, const char *const *names)
{
        if (!(p->of_node = calloc((size_t)g->n_nodes + 1, sizeof(*p->of_node))) || type_paths_add_root(p, "") != WHOLE)
                return false;
        for (uint32_t i = 1; i < r->n; i++) {
                const uint32_t node = r->node[i], above = r->dominator[i];
                p->of_node[node] = type_paths_add(p, above ? p->of_node[r->node[above]] : WHOLE,
                                                  names[group[heap_graph_type_number(g, node)]]);
        }
        return true;
}

/* `ret`: of each path */
static void sum_paths(struct folded_type *ret, const struct type_paths *p, const struct heap_graph *g,
                      const struct retained *r)
{
        for (uint32_t i = WHOLE; i < p->n; i++)
                ret[i] = (struct folded_type){ .name = i > WHOLE ? p->items[i].name : NULL, .up = p->items[i].up };
        for (uint32_t i = 1; i < r->n; i++) {
                struct folded_type *to = &ret[p->of_node[r->node[i]]];
                const unsigned kind = heap_graph_type_of(g, r->node[i])->kind;
                to->own_bytes += heap_graph_bytes(g, r->node[i]);
                to->closures += graph_is_closure(kind);
                to->is_root |= graph_is_root(kind);
        }
        for (uint32_t i = p->n - 1; i >= WHOLE; i--) {
                ret[i].bytes += ret[i].own_bytes;
                ret[ret[i].up].bytes += ret[i].bytes;
        }
}

/* ---------------------------------------------------------------------- the largest */

struct place {
        uint64_t bytes;
        uint32_t path;
};

static int by_bytes(const void *a, const void *b)
{
        const struct place *x = a, *y = b;

        if (x->bytes != y->bytes)
                return x->bytes > y->bytes ? -1 : 1;
        return (x->path > y->path) - (x->path < y->path);
}

/* Moves what is kept to the front, and adds the rest to what holds it. `place`: of each path that is kept. */
static void keep_largest(struct folded *f, const struct folded_type *all, uint32_t n, const bool *kept, uint32_t *place)
{
        for (uint32_t i = WHOLE; i < n; i++) {
                const uint32_t up = i > WHOLE ? place[all[i].up] : 0;
                if (kept[i]) {
                        place[i] = f->n;
                        f->items[f->n] = all[i];
                        f->items[f->n++].up = up;
                } else if (all[i].bytes && kept[all[i].up]) {
                        f->items[up].rest++;
                        f->items[up].rest_bytes += all[i].bytes;
                }
        }
}

static bool choose(struct folded *f, const struct folded_type *all, uint32_t n, uint32_t most)
{
        struct place *order = calloc(n, sizeof(*order));
        uint32_t *place = calloc(n, sizeof(*place));
        bool *kept = calloc(n, sizeof(*kept));
        uint32_t n_kept = n - WHOLE < most ? n - WHOLE : most;
        const bool good = order && place && kept && (f->items = calloc((size_t)n_kept + 1, sizeof(*f->items)));

        for (uint32_t i = WHOLE; good && i < n; i++)
                order[i - WHOLE] = (struct place){ all[i].bytes, i };
        if (good) {
                qsort(order, n - WHOLE, sizeof(*order), by_bytes);
                for (uint32_t i = 0; i < n_kept; i++)
                        kept[order[i].path] = order[i].bytes > 0 || i == 0;
                keep_largest(f, all, n, kept, place);
        }
        free(order);
        free(place);
        free(kept);
        return good;
}

bool folded_find(struct folded *ret, const struct heap_graph *g, const struct retained *r, const uint32_t *group,
                 const char *const *names, uint32_t most)
{
        struct type_paths p = { .is_plain = true };
        struct folded_type *all = NULL;

        *ret = (struct folded){ NULL, 0 };
        const bool good = find_paths(&p, g, r, group, names) && (all = calloc((size_t)p.n + 1, sizeof(*all)));
        if (good)
                sum_paths(all, &p, g, r);
        const bool chosen = good && choose(ret, all, p.n, most);
        free(all);
        type_paths_done(&p);
        return chosen;
}

void folded_done(struct folded *f)
{
        free(f->items);
        *f = (struct folded){ NULL, 0 };
}
