/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_bands.h - in a census by closure type, threads that wait for the same thing at the same place as a band of
 * their own, with their stacks: so that threads which nobody ends are a band that grows.
 */
#ifndef HW_INSPECT_GHC_THREAD_BANDS_H
#define HW_INSPECT_GHC_THREAD_BANDS_H

#include "inspect/ghc/bands.h"

#define THREAD_BANDS_NAME  "threads "
#define THREAD_BANDS_LEAST 16u /* threads of a band; fewer stay in TSO and STACK */

/*
 * `bands` are of the census, by type; their sum stays what it was. `ret_threads`: all that have not ended. False: out
 * of memory, and they are as before.
 */
bool heap_bands_split_threads(struct heap_bands *bands, const struct heap_census *c, const struct heap_snapshot *s,
                              uint64_t *ret_threads);

/* The same bands alone; those of the census are not changed. `ret` is empty. */
bool heap_bands_of_threads(struct heap_bands *ret, const struct heap_census *c, const struct heap_snapshot *s,
                           uint64_t *ret_threads);

#endif
