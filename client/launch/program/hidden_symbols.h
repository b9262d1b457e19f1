/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hidden_symbols.h - for the agent, where the runtime's functions and variables are in a stripped program: found by
 * heapwatch-inspect, by signatures of the libraries that it was linked from.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "client/launch/program/agent_fit.h"

/*
 * Of a program whose obstacle is OBSTACLE_STRIPPED: "symbols=...", a setting of the agent; malloc'd. Then it has no
 * obstacle any more. NULL: they are not all found. Needs up to some seconds for a file of 100 MB.
 */
char *hidden_symbols_find(const char *path, struct agent_fit *fit);

/*
 * symbol_cache.c: what heapwatch-inspect has found in stripped programs, kept for the next start of the same: private
 * files of the user in heapwatch/symbols below $XDG_CACHE_HOME, else ~/.cache. Where nothing can be kept, nothing is,
 * and no one is told.
 */

#define SYMBOL_CACHE_MOST 64u /* programs; of more the oldest is dropped */

/*
 * Of all that the answer depends on: these names, the file at `path`, heapwatch-inspect, and each file of signatures,
 * by device, inode, size and times. 0: not all of it is known, so nothing is to be kept.
 */
uint64_t symbol_cache_key(const char *path, const char *const *names, size_t n);

/* malloc'd. NULL: nothing is kept for this key, or it is damaged. */
char *symbol_cache_read(uint64_t key);
void symbol_cache_write(uint64_t key, const char *text);
