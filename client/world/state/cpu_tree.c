/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/world/state/cpu_tree.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/hash.h"
#include "proto/base/idtable.h"

/* The next line of a text, without its end; NULL: there is none. */
static char *next_line(char **at)
{
        char *line = *at, *end = line ? strchr(line, '\n') : NULL;

        if (!end)
                return NULL;
        *end = '\0';
        *at = end + 1;
        return line;
}

/* A decimal number and the space behind it. */
static bool read_number(char **at, uint64_t most, uint64_t *ret)
{
        uint64_t n = 0;
        char *digits = *at, *p = digits;

        for (; *p >= '0' && *p <= '9'; p++) {
                const uint64_t digit = (uint64_t)(*p - '0');
                if (digit > most || n > (most - digit) / 10)
                        return false;
                n = 10 * n + digit;
        }
        if (p == digits || *p != ' ')
                return false;
        *at = p + 1;
        *ret = n;
        return true;
}

static bool read_node(struct cpu_tree *t, char *line)
{
        struct cpu_node *node = &t->nodes[t->n];
        uint64_t parent;

        if (!read_number(&line, t->n, &parent) || !read_number(&line, UINT64_MAX / 16, &node->self_weight) ||
            !read_number(&line, UINT64_MAX / 16, &node->total_weight) || node->self_weight > node->total_weight ||
            (parent && node->total_weight > t->nodes[parent - 1].total_weight) || t->total_weight > UINT64_MAX / 2)
                return false;
        node->parent = (uint32_t)parent;
        node->name = line;
        if (!parent)
                t->total_weight += node->total_weight;
        t->n++;
        return true;
}

/* What is left of a text may be nothing. */
static bool read_tree(struct cpu_tree *ret, char **at, struct error *error)
{
        char *line;

        while ((line = next_line(at)) != NULL && line[0])
                if (ret->n_sentences < CPU_TREE_SENTENCES)
                        ret->sentences[ret->n_sentences++] = line;
        if (!ret->n_sentences)
                return true;
        if (!(ret->nodes = calloc(CPU_TREE_NODES, sizeof(*ret->nodes))))
                return error_set(error, "out of memory");
        line = next_line(at);
        ret->by_allocation = line && !strcmp(line, "bytes");
        if (ret->by_allocation)
                line = next_line(at);
        for (; line && line[0]; line = next_line(at))
                if (ret->n == CPU_TREE_NODES || !read_node(ret, line))
                        return error_set(error, "the profile is damaged: row %zu is none of a tree", ret->n + 1);
        return true;
}

bool cpu_trees_read(struct cpu_trees *ret, char *text, struct error *error)
{
        char *at = text;

        *ret = (struct cpu_trees){ .running.text = text };
        if (read_tree(&ret->running, &at, error) && read_tree(&ret->waiting, &at, error) &&
            (ret->running.n_sentences > 0 || error_set(error, "the inspection printed no profile")) &&
            (!ret->waiting.by_allocation || error_set(error, "the profile is damaged: what waits allocates nothing")))
                return true;
        cpu_trees_done(ret);
        return false;
}

void cpu_trees_done(struct cpu_trees *t)
{
        cpu_tree_done(&t->waiting);
        cpu_tree_done(&t->running);
}

/* ------------------------------------------------------------------------- threads */

/* As heapwatch-inspect calls them; no function has a space there. */
#define THREAD "thread "

/* The child of a node, both by number from 1; made where there is none. 0: out of memory. */
static uint32_t child_of(struct cpu_tree *t, struct idtable *table, uint32_t parent, const char *name)
{
        const uint64_t hash = hash_text(name, parent);
        uint32_t at = idtable_start(table, hash), id;

        while ((id = idtable_next(table, hash, &at)) &&
               (t->nodes[id - 1].parent != parent || strcmp(t->nodes[id - 1].name, name) != 0))
                ;
        if (id)
                return id;
        id = (uint32_t)t->n + 1;
        if (idtable_add(table, hash, id) < 0)
                return 0;
        t->nodes[t->n++] = (struct cpu_node){ .parent = parent, .name = name };
        return id;
}

bool cpu_tree_merge(struct cpu_tree *ret, const struct cpu_tree *from, struct error *error)
{
        uint32_t *now = calloc(from->n + 1, sizeof(*now)); /* the new number of each node; 0: of a thread */
        struct idtable table = { .slots = NULL };
        bool good;

        *ret = (struct cpu_tree){ .by_allocation = from->by_allocation,
                                  .total_weight = from->total_weight,
                                  .n_sentences = from->n_sentences };
        memcpy(ret->sentences, from->sentences, sizeof(ret->sentences));
        ret->nodes = calloc(from->n + 1, sizeof(*ret->nodes));
        good = now && ret->nodes;
        for (size_t i = 0; good && i < from->n; i++) {
                const struct cpu_node *node = &from->nodes[i];
                if (!node->parent && !strncmp(node->name, THREAD, strlen(THREAD)))
                        continue;
                const uint32_t id = child_of(ret, &table, now[node->parent], node->name);
                if (!(good = id != 0))
                        break;
                now[i + 1] = id;
                ret->nodes[id - 1].self_weight += node->self_weight;
                ret->nodes[id - 1].total_weight += node->total_weight;
        }
        free(now);
        idtable_done(&table);
        if (!good)
                cpu_tree_done(ret);
        return good || error_set(error, "out of memory");
}

/* ----------------------------------------------------------------------- functions */

static int by_name(const void *a, const void *b, void *nodes)
{
        const struct cpu_node *all = nodes;

        return strcmp(all[*(const uint32_t *)a].name, all[*(const uint32_t *)b].name);
}

/* Whether one of its callers is the same function; `of` has the function of each node. */
static bool is_below_itself(const struct cpu_tree *t, const uint32_t *of, size_t node)
{
        for (uint32_t at = t->nodes[node].parent; at; at = t->nodes[at - 1].parent)
                if (of[at - 1] == of[node])
                        return true;
        return false;
}

bool cpu_tree_sum(struct cpu_tree *t, struct error *error)
{
        uint32_t *ids = calloc(t->n + 1, sizeof(*ids)), *of = calloc(t->n + 1, sizeof(*of));

        t->functions = calloc(t->n + 1, sizeof(*t->functions));
        if (!ids || !of || !t->functions) {
                free(ids);
                free(of);
                return error_set(error, "out of memory");
        }
        for (uint32_t i = 0; i < t->n; i++)
                ids[i] = i;
        qsort_r(ids, t->n, sizeof(*ids), by_name, t->nodes);
        for (size_t i = 0; i < t->n; i++) {
                const char *name = t->nodes[ids[i]].name;
                if (i == 0 || strcmp(name, t->functions[t->n_functions - 1].name) != 0)
                        t->functions[t->n_functions++].name = name;
                of[ids[i]] = (uint32_t)t->n_functions - 1;
        }
        for (size_t i = 0; i < t->n; i++) {
                t->functions[of[i]].self_weight += t->nodes[i].self_weight;
                if (!is_below_itself(t, of, i))
                        t->functions[of[i]].total_weight += t->nodes[i].total_weight;
        }
        free(ids);
        free(of);
        return true;
}

void cpu_tree_done(struct cpu_tree *t)
{
        free(t->functions);
        free(t->nodes);
        free(t->text);
        *t = (struct cpu_tree){ .text = NULL };
}
