/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.h - `heapwatch heap`: what is in the heap, the largest band first. */
#ifndef HW_INSPECT_SHOW_HEAP_H
#define HW_INSPECT_SHOW_HEAP_H

#include "inspect/ghc/bands.h"
#include "inspect/show/request.h"

/* Takes the census and prints it. False with a sentence. */
bool show_heap(const struct inspect_subject *s, const struct heap_snapshot *snapshot, struct error *error);

/* The same of a sample, with intervals. */
bool show_heap_sample(const struct inspect_subject *s, const struct heap_snapshot *snapshot, struct heap_sample *x,
                      struct error *error);

/* Whether nearly all of the heap was understood; else a sentence. */
bool is_understood(const struct heap_census *c, struct error *error);

#endif
