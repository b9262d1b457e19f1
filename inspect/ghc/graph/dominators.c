/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - Lengauer and Tarjan, "A fast algorithm for finding dominators in a flowgraph" (1979), with path compression
 * alone (their simple version): n nodes and m edges take O(m log n). Nodes are known here by their numbers in a search
 * depth first, from 1 on; 0 is the root of all roots. No function recurses: a list may have a hundred million cells.
 *
 * What a group of types retains is the sum of what those of its nodes retain that have none of the group above them in
 * the tree of dominators.
 */
#include "inspect/ghc/graph/fold.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/array.h"

struct tree {
        const struct heap_graph *g;
        uint32_t n;                 /* numbers in use, 0 included */
        uint32_t *number;           /* of each node; 0: not reached. Later a stack, of least_above() */
        uint32_t *node;             /* of each number */
        uint32_t *parent;           /* in the search; of each number, as all that follow */
        uint32_t *semi;             /* the semidominator */
        uint32_t *dominator;        /* the immediate one */
        uint32_t *ancestor, *label; /* of the forest that is being linked; ancestor NONE: a root of it. Before that,
                                       `label` is the next edge to follow in the search */
        uint32_t *bucket, *next;    /* those whose semidominator it is: a list. Later the children in the tree */
        uint32_t *before;           /* of the edges to each number, where they begin in `from` */
        uint32_t *from;
};

#define NONE UINT32_MAX

static bool allocate_tree(struct tree *t)
{
        uint32_t **const each[] = { &t->number,   &t->node,  &t->parent, &t->semi, &t->dominator,
                                    &t->ancestor, &t->label, &t->bucket, &t->next, &t->before };
        bool good = (t->from = malloc(((size_t)t->g->n_edges + 1) * sizeof(*t->from))) != NULL;

        for (size_t i = 0; i < ARRAY_SIZE(each); i++)
                good = (*each[i] = calloc((size_t)t->g->n_nodes + 2, sizeof(**each[i]))) != NULL && good;
        return good;
}

/* --------------------------------------------------------------------- depth first */

/* Returns its number. */
static uint32_t number_node(struct tree *t, uint32_t node, uint32_t parent)
{
        t->number[node] = t->n;
        t->node[t->n] = node;
        t->parent[t->n] = parent;
        t->label[t->n] = t->g->first_edge[node];
        return t->n++;
}

static void search_from(struct tree *t, uint32_t root)
{
        const struct heap_graph *g = t->g;

        for (uint32_t v = number_node(t, root, 0); v;) {
                if (t->label[v] == g->first_edge[t->node[v] + 1]) {
                        v = t->parent[v];
                        continue;
                }
                const uint32_t to = g->edges[t->label[v]++];
                if (!t->number[to])
                        v = number_node(t, to, v);
        }
}

/* Returns the first number of what doubtful roots alone hold. */
static uint32_t number_all(struct tree *t)
{
        uint32_t certain = 0;

        t->n = 1;
        for (unsigned doubtful = 0; doubtful < 2; doubtful++) {
                for (uint32_t i = 0; i < t->g->n_nodes; i++) {
                        const unsigned kind = heap_graph_type_of(t->g, i)->kind;
                        if (graph_is_root(kind) && (kind == GRAPH_DOUBTFUL_ROOT) == doubtful && !t->number[i])
                                search_from(t, i);
                }
                certain = doubtful ? certain : t->n;
        }
        return certain;
}

/* Which edges lead to each number, but for those from what is doubtful to what is certain. */
static void turn_edges(struct tree *t, uint32_t certain)
{
        const struct heap_graph *g = t->g;

        for (unsigned filling = 0; filling < 2; filling++) {
                for (uint32_t from = 1; from < t->n; from++)
                        for (uint32_t e = g->first_edge[t->node[from]]; e < g->first_edge[t->node[from] + 1]; e++) {
                                const uint32_t to = t->number[g->edges[e]];
                                if (from >= certain && to < certain)
                                        continue;
                                if (filling)
                                        t->from[t->before[to]++] = from;
                                else
                                        t->before[to + 1]++;
                        }
                if (!filling)
                        for (uint32_t i = 1; i <= t->n; i++)
                                t->before[i] += t->before[i - 1];
        }
        /* each has moved to where the next one begins */
        memmove(t->before + 1, t->before, t->n * sizeof(*t->before));
        t->before[0] = 0;
}

/* ----------------------------------------------------------------------- dominators */

/* The number with the least semidominator above `v` in the forest. Paths become shorter on the way. */
static uint32_t least_above(struct tree *t, uint32_t v)
{
        uint32_t depth = 0;

        if (t->ancestor[v] == NONE)
                return t->label[v];
        for (uint32_t u = v; t->ancestor[t->ancestor[u]] != NONE; u = t->ancestor[u])
                t->number[depth++] = u;
        while (depth > 0) {
                const uint32_t u = t->number[--depth], above = t->ancestor[u];
                if (t->semi[t->label[above]] < t->semi[t->label[u]])
                        t->label[u] = t->label[above];
                t->ancestor[u] = t->ancestor[above];
        }
        return t->label[v];
}

static void find_dominators(struct tree *t)
{
        for (uint32_t i = 0; i < t->n; i++) {
                t->semi[i] = t->label[i] = i;
                t->ancestor[i] = NONE;
        }
        for (uint32_t w = t->n - 1; w > 0; w--) {
                const uint32_t parent = t->parent[w];
                if (parent == 0)
                        t->semi[w] = 0;
                for (uint32_t e = t->before[w]; e < t->before[w + 1]; e++) {
                        const uint32_t u = least_above(t, t->from[e]);
                        if (t->semi[u] < t->semi[w])
                                t->semi[w] = t->semi[u];
                }
                t->next[w] = t->bucket[t->semi[w]];
                t->bucket[t->semi[w]] = w;
                t->ancestor[w] = parent;
                for (uint32_t v = t->bucket[parent], next; v; v = next) {
                        const uint32_t u = least_above(t, v);
                        next = t->next[v];
                        t->dominator[v] = t->semi[u] < t->semi[v] ? u : parent;
                }
                t->bucket[parent] = 0;
        }
        for (uint32_t w = 1; w < t->n; w++)
                if (t->dominator[w] != t->semi[w])
                        t->dominator[w] = t->dominator[t->dominator[w]];
}

/* ------------------------------------------------------------------------- retained */

static uint32_t group_of(const struct tree *t, const uint32_t *group, uint32_t v)
{
        return group[heap_graph_type_number(t->g, t->node[v])];
}

/* Through the tree, with how many of each group are above. */
static void add_up_groups(const struct tree *t, const uint32_t *group, struct retained *r, uint32_t *above)
{
        uint32_t v = t->bucket[0];

        while (v) {
                if (above[group_of(t, group, v)]++ == 0)
                        r->of_group[group_of(t, group, v)] += r->of_node[t->node[v]];
                if (t->bucket[v]) {
                        v = t->bucket[v];
                        continue;
                }
                above[group_of(t, group, v)]--;
                while (v && !t->next[v]) {
                        v = t->dominator[v];
                        if (v)
                                above[group_of(t, group, v)]--;
                }
                v = v ? t->next[v] : 0;
        }
}

bool retained_find(struct retained *r, const struct heap_graph *g, const uint32_t *group, uint32_t n_groups)
{
        struct tree t = { .g = g };
        uint32_t *above = calloc((size_t)n_groups + 1, sizeof(*above));
        bool good = allocate_tree(&t) && above;

        *r = (struct retained){
                .of_node = calloc((size_t)g->n_nodes + 1, sizeof(*r->of_node)),
                .of_group = calloc((size_t)n_groups + 1, sizeof(*r->of_group)),
        };
        good = good && r->of_node && r->of_group;
        if (good) {
                turn_edges(&t, number_all(&t));
                find_dominators(&t);
                /* a dominator has a smaller number than what it dominates */
                for (uint32_t i = 1; i < t.n; i++)
                        r->of_node[t.node[i]] = heap_graph_bytes(g, t.node[i]);
                memset(t.bucket, 0, t.n * sizeof(*t.bucket));
                for (uint32_t i = t.n - 1; i > 0; i--) {
                        if (t.dominator[i])
                                r->of_node[t.node[t.dominator[i]]] += r->of_node[t.node[i]];
                        t.next[i] = t.bucket[t.dominator[i]];
                        t.bucket[t.dominator[i]] = i;
                }
                add_up_groups(&t, group, r, above);
                r->node = t.node;
                r->dominator = t.dominator;
                r->n = t.n;
                t.node = t.dominator = NULL;
        }
        uint32_t *const each[] = { t.number, t.node,   t.parent, t.semi,   t.dominator, t.ancestor,
                                   t.label,  t.bucket, t.next,   t.before, t.from };

        for (size_t i = 0; i < ARRAY_SIZE(each); i++)
                free(each[i]);
        free(above);
        return good;
}

void retained_done(struct retained *r)
{
        free(r->of_node);
        free(r->of_group);
        free(r->node);
        free(r->dominator);
        *r = (struct retained){ .n = 0 };
}
