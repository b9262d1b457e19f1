/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inspector.h - heapwatch-inspect as a child: it reads another program's memory, and whatever it finds there, its
 * output is text for us, and its end an exit status.
 */
#ifndef HW_CLIENT_CLI_INSPECTOR_H
#define HW_CLIENT_CLI_INSPECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"

enum inspector_end {
        INSPECTOR_GOOD,
        INSPECTOR_REFUSED, /* the kernel does not let it read or stop the process */
        INSPECTOR_FAILED   /* there is a sentence */
};

/*
 * Runs it with these arguments, ended by NULL; argument 0 is its name. Its output goes to standard output, without
 * control characters. It is killed after `most_ns`, or when a signal ends us; `may_finish`: on that it gets SIGINT
 * first, and a moment to print what it has.
 */
enum inspector_end inspector_run(const char *const *arguments, uint64_t most_ns, bool may_finish, struct error *error);

#endif
