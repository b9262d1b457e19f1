/* SPDX-License-Identifier: BSD-3-Clause */
/* graph_groups.h - a graph by type: types of one name are one group, whatever the version of their package. */
#ifndef HW_INSPECT_SHOW_GRAPH_GROUPS_H
#define HW_INSPECT_SHOW_GRAPH_GROUPS_H

#include "inspect/graph/graph.h"

enum group_class { GROUP_CLOSURES, GROUP_FRAMES, GROUP_ROOTS };

struct graph_group {
        const char *name; /* borrowed from the graph */
        uint8_t class;    /* enum group_class */
        uint32_t roots;
        uint64_t bytes, closures; /* of what is alive */
        uint64_t unreached_bytes, unreached_closures, pinned_bytes;
        uint64_t retained_bytes; /* by retained_find() */
};

/* NULL: there is none. */
static inline uint64_t graph_group_bytes(const struct graph_group *g)
{
        return g ? g->bytes + g->unreached_bytes : 0;
}

static inline uint64_t graph_group_closures(const struct graph_group *g)
{
        return g ? g->closures + g->unreached_closures : 0;
}

struct graph_groups {
        struct graph_group *items;
        uint32_t n;
        uint32_t *of_type; /* of each type of the graph */
};

/* `by_type`: closures as a heap profile by closure type has them. False: out of memory. graph_groups_done() anyway. */
bool graph_groups_find(struct graph_groups *ret, const struct heap_graph *g, bool by_type);
void graph_groups_done(struct graph_groups *s);

#endif
