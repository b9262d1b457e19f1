/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file.h - a graph as bytes, compressed by zstd: docs/FORMATS.md, "Heap graphs". What is decoded may come from
 * anywhere: each number in it is checked.
 */
#ifndef HW_INSPECT_GRAPH_FILE_H
#define HW_INSPECT_GRAPH_FILE_H

#include "inspect/graph/graph.h"
#include "proto/base/error.h"

#define GRAPH_FILE_SUFFIX ".heapgraph"

/* Whether bytes begin as those of a graph do: at least GRAPH_FILE_MAGIC_BYTES of them. */
#define GRAPH_FILE_MAGIC_BYTES 16u
bool graph_file_is_one(const uint8_t *bytes);

/* From malloc; NULL: out of memory. */
uint8_t *graph_file_encode(const struct heap_graph *g, size_t *ret_size);

/* False with a sentence. heap_graph_done() in any case. `most_bytes`: that the graph may need in memory. */
bool graph_file_decode(struct heap_graph *g, const uint8_t *bytes, size_t size, uint64_t most_bytes,
                       struct error *error);

#endif
