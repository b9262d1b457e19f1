/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * valgrind.h - whether this test runs under valgrind, which keeps freed memory and some descriptors for itself, and
 * whose posix_spawn(3) does not say that there is no such program.
 */
#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* valgrind gets its allocator into a program in this way. */
static inline bool under_valgrind(void)
{
        const char *preloaded = getenv("LD_PRELOAD");

        return preloaded && strstr(preloaded, "vgpreload_");
}
