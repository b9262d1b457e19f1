/* SPDX-License-Identifier: BSD-3-Clause */
/* arrays.h - `heapwatch heap --arrays`: byte arrays by size, and how many have the same contents. */
#ifndef HW_INSPECT_SHOW_ARRAYS_H
#define HW_INSPECT_SHOW_ARRAYS_H

#include "inspect/ghc/snapshot.h"
#include "inspect/show/request.h"

/* Counts and prints them. False with a sentence. */
bool show_arrays(struct inspect_subject *s, const struct heap_snapshot *snapshot, struct error *error);

#endif
