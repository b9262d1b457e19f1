/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.h - `heapwatch heap`: what is in the heap, the largest band first. */
#ifndef HW_INSPECT_SHOW_HEAP_H
#define HW_INSPECT_SHOW_HEAP_H

#include "inspect/ghc/bands.h"
#include "inspect/show/request.h"

/* Takes the census and prints it. False with a sentence. */
bool show_heap(struct inspect_subject *s, const struct heap_snapshot *snapshot, struct error *error);

/* The same of a sample, with intervals. */
bool show_heap_sample(struct inspect_subject *s, const struct heap_snapshot *snapshot, struct heap_sample *x,
                      struct error *error);

/* Whether at least 95 % of the heap was understood; else a sentence. s->rest says what was not; `s`: may be NULL. */
bool is_understood(struct inspect_subject *s, const struct heap_census *c, struct error *error);

#endif
