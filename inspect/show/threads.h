/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.h - `heapwatch threads`: threads in groups of equal stacks, the largest first, or one by one. */
#ifndef HW_INSPECT_SHOW_THREADS_H
#define HW_INSPECT_SHOW_THREADS_H

#include "inspect/ghc/threads.h"
#include "inspect/show/request.h"

/* Prints them; sorts t->items. False: out of memory. */
bool show_threads(const struct inspect_subject *s, struct threads *t);

#endif
