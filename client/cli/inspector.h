/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inspector.h - heapwatch-inspect as a child: it reads another program's memory, and whatever it finds there, its
 * output is text for us, and its end an exit status.
 */
#ifndef HW_CLIENT_CLI_INSPECTOR_H
#define HW_CLIENT_CLI_INSPECTOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "proto/base/error.h"

enum inspector_end {
        INSPECTOR_GOOD,
        INSPECTOR_REFUSED, /* the kernel does not let it read or stop the process: with a sentence */
        INSPECTOR_FAILED,  /* with a sentence, too */
};

enum inspector_stop { INSPECTOR_STOP_NOT, INSPECTOR_STOP_FINISH, INSPECTOR_STOP_NOW };

struct inspection {
        const char *const *arguments; /* ended by NULL; argument 0 is its name */
        uint64_t most_ns;             /* then it is killed; also when a signal ends us */
        bool may_finish;              /* on a signal it gets SIGINT first, and a moment to print what it has */
        FILE *to;                     /* its output, without control characters */
        const atomic_int *stop;       /* enum inspector_stop, from another thread; NULL: signals alone */
};

/* Runs it to its end. */
enum inspector_end inspector_run(const struct inspection *i, struct error *error);

#endif
