/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * child.h - heapwatch-inspect as a child: it reads another program's memory, and whatever it finds there, its output is
 * text for us, and its end an exit status.
 */
#ifndef HW_CLIENT_INSPECT_CHILD_H
#define HW_CLIENT_INSPECT_CHILD_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"

enum child_end {
        CHILD_GOOD,
        CHILD_REFUSED, /* the kernel does not let it read or stop the process */
        CHILD_FAILED   /* there is a sentence */
};

/*
 * Runs it with these arguments, ended by NULL; argument 0 is its name. Its output goes to standard output, without
 * control characters. It is killed after `most_ns`.
 */
enum child_end child_run(const char *const *arguments, uint64_t most_ns, struct error *error);

#endif
