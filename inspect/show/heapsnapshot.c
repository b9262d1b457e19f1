/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the format is one of arrays of numbers: seven of a node, three of an edge, with names as indexes into an
 * array of texts. The first node is the root of all. Closures are its "object", for only these are listed by name. What
 * only seems to be a root holds nothing that a certain one does: such edges are weak, which a viewer's dominators leave
 * out as ours do (graph/dominators.c).
 *
 * Viewers read a node's size modulo 4 GiB. What is larger continues in further nodes of its type, behind all others,
 * which it alone holds, so that sums and retained sizes are right.
 */
#include "inspect/show/out_file.h"

#include <stdlib.h>

#include "inspect/ghc/names.h"
#include "inspect/ghc/graph/fold.h"
#include "proto/base/array.h"
#include "proto/base/json_out.h"

#define NODE_FIELDS    7u
#define NODE_BYTES_MAX ((uint64_t)UINT32_MAX - 7)

enum node_type { NODE_OBJECT = 3, NODE_SYNTHETIC = 9 };
enum edge_type { EDGE_ELEMENT = 1, EDGE_WEAK = 6 };

static const char meta[] =
        "{\"node_fields\":[\"type\",\"name\",\"id\",\"self_size\",\"edge_count\",\"trace_node_id\",\"detachedness\"],"
        "\"node_types\":[[\"hidden\",\"array\",\"string\",\"object\",\"code\",\"closure\",\"regexp\",\"number\","
        "\"native\","
        "\"synthetic\",\"concatenated string\",\"sliced "
        "string\",\"symbol\",\"bigint\"],\"string\",\"number\",\"number\","
        "\"number\",\"number\",\"number\"],"
        "\"edge_fields\":[\"type\",\"name_or_index\",\"to_node\"],"
        "\"edge_types\":[[\"context\",\"element\",\"property\",\"internal\",\"hidden\",\"shortcut\",\"weak\"],"
        "\"string_or_number\",\"node\"],"
        "\"trace_function_info_fields\":[],\"trace_node_fields\":[],\"sample_fields\":[],\"location_fields\":[]}";

static void put_numbers(struct json_out *j, const uint64_t *numbers, size_t n)
{
        for (size_t i = 0; i < n; i++)
                json_u64(j, numbers[i]);
}

/* How many further nodes a graph's node continues in. */
static uint64_t further_nodes(const struct heap_graph *g, uint32_t node)
{
        const uint64_t bytes = heap_graph_bytes(g, node);

        return bytes ? (bytes - 1) / NODE_BYTES_MAX : 0;
}

/* A node of the file, after the root; texts are the types' names, after the root's. */
static void put_node(struct json_out *j, const struct heap_graph *g, uint32_t of, uint64_t at, uint64_t bytes,
                     uint64_t edges)
{
        const uint64_t node[NODE_FIELDS] = {
                NODE_OBJECT, UINT64_C(1) + heap_graph_type_number(g, of), 2 * at + 3, bytes, edges, 0, 0
        };

        put_numbers(j, node, NODE_FIELDS);
}

static void put_nodes(struct json_out *j, const struct heap_graph *g, uint32_t roots)
{
        const uint64_t root[NODE_FIELDS] = { NODE_SYNTHETIC, 0, 1, 0, roots, 0, 0 };
        uint64_t at = g->n_nodes;

        put_numbers(j, root, NODE_FIELDS);
        for (uint32_t i = 0; i < g->n_nodes; i++) {
                const uint64_t n = further_nodes(g, i);

                put_node(j, g, i, i, n ? NODE_BYTES_MAX : heap_graph_bytes(g, i),
                         g->first_edge[i + 1] - g->first_edge[i] + n);
        }
        for (uint32_t i = 0; i < g->n_nodes; i++)
                for (uint64_t n = further_nodes(g, i), bytes = heap_graph_bytes(g, i); n > 0; n--) {
                        bytes -= NODE_BYTES_MAX;
                        put_node(j, g, i, at++, n > 1 ? NODE_BYTES_MAX : bytes, 0);
                }
}

static void put_edge(struct json_out *j, enum edge_type type, uint64_t index, uint64_t node)
{
        const uint64_t edge[] = { type, index, NODE_FIELDS * (UINT64_C(1) + node) };

        put_numbers(j, edge, 3);
}

/* `certain`: the nodes that a certain root holds; NULL: not known, so no edge is weak. */
static void put_edges(struct json_out *j, const struct heap_graph *g, const uint64_t *certain)
{
        uint64_t index = 0, at = g->n_nodes;

        for (uint32_t i = 0; i < g->n_nodes; i++)
                if (graph_is_root(heap_graph_type_of(g, i)->kind))
                        put_edge(j, EDGE_ELEMENT, index++, i);
        for (uint32_t i = 0; i < g->n_nodes; i++) {
                index = 0;
                for (uint32_t e = g->first_edge[i]; e < g->first_edge[i + 1]; e++)
                        put_edge(j,
                                 certain && !node_set_has(certain, i) && node_set_has(certain, g->edges[e])
                                         ? EDGE_WEAK
                                         : EDGE_ELEMENT,
                                 index++, g->edges[e]);
                for (uint64_t n = further_nodes(g, i); n > 0; n--)
                        put_edge(j, EDGE_ELEMENT, index++, at++);
        }
}

void graph_write_heapsnapshot(FILE *to, const struct heap_graph *g)
{
        static const char *const empty[] = { "trace_function_infos", "trace_tree", "samples", "locations" };
        struct json_out j = { .to = to };
        uint64_t *certain = node_set_new(g);
        uint32_t roots = 0;
        uint64_t further = 0;

        if (certain && !graph_reach_without(g, NULL, certain, NULL, NULL)) {
                free(certain);
                certain = NULL;
        }
        for (uint32_t i = 0; i < g->n_nodes; i++) {
                roots += graph_is_root(heap_graph_type_of(g, i)->kind);
                further += further_nodes(g, i);
        }
        json_open(&j, '{');
        json_member_open(&j, "snapshot", '{');
        json_key(&j, "meta");
        json_raw(&j, meta);
        json_member_u64(&j, "node_count", UINT64_C(1) + g->n_nodes + further);
        json_member_u64(&j, "edge_count", roots + g->n_edges + further);
        json_member_u64(&j, "trace_function_count", 0);
        json_close(&j, '}');
        json_member_open(&j, "nodes", '[');
        put_nodes(&j, g, roots);
        json_close(&j, ']');
        json_member_open(&j, "edges", '[');
        put_edges(&j, g, certain);
        free(certain);
        json_close(&j, ']');
        for (size_t i = 0; i < ARRAY_SIZE(empty); i++) {
                json_member_open(&j, empty[i], '[');
                json_close(&j, ']');
        }
        json_member_open(&j, "strings", '[');
        json_text(&j, g->origin.program);
        for (uint32_t i = 0; i < g->n_types; i++)
                json_text(&j, name_without_package(g->types[i].name));
        json_close(&j, ']');
        json_close(&j, '}');
        json_newline(&j);
}
