/* SPDX-License-Identifier: BSD-3-Clause */
/* plain.h - the console's views as text and as JSON, for pipes, logs and tests. */
#ifndef HW_CLIENT_CONSOLE_PLAIN_H
#define HW_CLIENT_CONSOLE_PLAIN_H

#include <stdio.h>

#include "client/console/console.h"

struct plain_options {
        const char *view;           /* name; NULL: the overview, or the list of targets when it is brief */
        const char *const *targets; /* names; none: all */
        size_t n_targets;
        bool brief; /* with several targets and no view given, the list is enough */
        bool json;
        int width;
        bool ascii;
};

/* Prints one report. Returns 0 or -errno. */
int plain_report(FILE *to, struct console *c, const struct plain_options *o, uint64_t now_wall_ns);

#endif
