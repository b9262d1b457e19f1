/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * symbol_cache.h - what heapwatch-inspect has found in stripped programs, kept for the next start of the same: private
 * files of the user in heapwatch/symbols below $XDG_CACHE_HOME, else ~/.cache. Where nothing can be kept, nothing is,
 * and no one is told.
 */
#ifndef HW_CLIENT_PROGRAM_SYMBOL_CACHE_H
#define HW_CLIENT_PROGRAM_SYMBOL_CACHE_H

#include <stddef.h>
#include <stdint.h>

#define SYMBOL_CACHE_MOST 64u /* programs; of more the oldest is dropped */

/*
 * Of all that the answer depends on: these names, the file at `path`, heapwatch-inspect, and each file of signatures,
 * by device, inode, size and times. 0: not all of it is known, so nothing is to be kept.
 */
uint64_t symbol_cache_key(const char *path, const char *const *names, size_t n);

/* malloc'd. NULL: nothing is kept for this key, or it is damaged. */
char *symbol_cache_read(uint64_t key);
void symbol_cache_write(uint64_t key, const char *text);

#endif
