/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thin.h - fewer cases of tests that try very many: HEAPWATCH_THIN=N tries
 * every Nth, and the output says so. Unset, all are tried: by hand, and in the
 * long form of scripts/ci-more. `make check` tries every third, scripts/valgrind,
 * under which a program is about thirty times slower, fewer.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* The distance from one case to the next: `step`, or N times that. `what` names the cases, in the plural. */
static inline size_t thin(size_t step, const char *what)
{
        const char *text = getenv("HEAPWATCH_THIN");
        size_t n = text ? strtoul(text, NULL, 10) : 1;

        if (n <= 1)
                return step;
        print_message("thinned: one in %zu of %s\n", n, what);
        return step * n;
}
