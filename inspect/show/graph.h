/* SPDX-License-Identifier: BSD-3-Clause */
/* graph.h - `heapwatch heap` of a graph: what each type retains, and what it has gained since an older graph. */
#ifndef HW_INSPECT_SHOW_GRAPH_H
#define HW_INSPECT_SHOW_GRAPH_H

#include "inspect/show/request.h"

/* `since`: NULL, or the older one. False with a sentence. */
bool show_graph(const struct graph_subject *s, struct error *error);

#endif
