/* SPDX-License-Identifier: BSD-3-Clause */
/* patch.h - writes to constants of the program's runtime. */
#ifndef HW_AGENT_PATCH_H
#define HW_AGENT_PATCH_H

#include <stdbool.h>
#include <stddef.h>

/* The memory may be read-only; afterwards it is as protected as before. False: it cannot be written, nothing was. */
bool patch_memory(void *at, const void *bytes, size_t size);

#endif
