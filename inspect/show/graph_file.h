/* SPDX-License-Identifier: BSD-3-Clause */
/* graph_file.h - graphs in files: NAME.heapgraph, and NAME.heapsnapshot for viewers of other runtimes' heaps. */
#ifndef HW_INSPECT_SHOW_GRAPH_FILE_H
#define HW_INSPECT_SHOW_GRAPH_FILE_H

#include <stdio.h>

#include "inspect/graph/graph.h"
#include "proto/base/error.h"

/* Before anything is inspected: whether it can be written later. False with a sentence. */
bool graph_file_check(const char *path, struct error *error);
bool graph_file_write(const char *path, const struct heap_graph *g, struct error *error);

/* Whether a file begins as those do that graph_file_decode() reads. */
bool graph_file_is(const char *path);

/* As V8's heap snapshots, which the developer tools of Chromium open. */
void graph_write_heapsnapshot(FILE *to, const struct heap_graph *g);

#endif
