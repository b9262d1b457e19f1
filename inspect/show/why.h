/* SPDX-License-Identifier: BSD-3-Clause */
/* why.h - `heapwatch why`: what keeps the closures of a band alive, as paths of types to the roots. */
#ifndef HW_INSPECT_SHOW_WHY_H
#define HW_INSPECT_SHOW_WHY_H

#include "inspect/show/graph_groups.h"
#include "inspect/show/request.h"
#include "proto/base/json_out.h"

/* Of the band that the request names, or of the largest. False with a sentence. */
bool show_why(const struct graph_subject *s, struct error *error);

/* Paths of each of these groups: a member of an open object. False: out of memory. */
bool why_json(struct json_out *j, const struct heap_graph *g, const struct graph_groups *groups,
              const struct graph_group *const *of, size_t n);

#endif
