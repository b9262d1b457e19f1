/* SPDX-License-Identifier: BSD-3-Clause */
/* patch.h - the program's memory: what may be done there, and writing to constants of its runtime. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* One mapping has all of it, for reading and writing. */
bool memory_is_writable(const void *at, size_t size);

/* The memory may be read-only; afterwards it is as protected as before. False: it cannot be written, nothing was. */
bool patch_memory(void *at, const void *bytes, size_t size);
