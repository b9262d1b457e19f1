/* SPDX-License-Identifier: BSD-3-Clause */
/* plain.h - the console's pictures as text, for pipes, logs and tests. */
#ifndef HW_CLIENT_PLAIN_H
#define HW_CLIENT_PLAIN_H

#include <stdio.h>

#include "client/console/scene.h"

/*
 * Prints a report to `to`: the targets named (n of them), each in full; with
 * none named, all of them in full, or as a list when `brief` and there are
 * several. Returns 0 or -errno.
 */
int plain_report(FILE *to, const struct scene *s, const char *const *names, size_t n, bool brief, int width,
                 bool ascii);

#endif
