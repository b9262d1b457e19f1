/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/cli/front.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/signals.h"
#include "proto/base/sibling.h"
#include "proto/cli/command.h"

static char **arguments; /* as they were given: options that are lists are cut at their commas when they are read */

/* Stands in the front for every library function, and so for this: scripts/front-stubs defines it there as true. */
__attribute__((weak)) bool front_is_this(void)
{
        return false;
}

void front_set_arguments(int argc, char **argv)
{
        char **copy = calloc((size_t)argc + 1, sizeof(*copy));

        for (int i = 0; copy && i < argc; i++)
                if (!(copy[i] = strdup(argv[i])))
                        copy[0] = NULL;
        arguments = copy && copy[0] ? copy : argv;
}

void front_continue(void)
{
        char path[PATH_MAX];

        signals_die(); /* of one that came so far */
        command_restore();
        sibling_program(LIVE_PROGRAM, path, sizeof(path));
        (void)execvp(path, arguments);
        (void)fprintf(stderr, "heapwatch: %s: %s; what is live, and pictures, need it: install it beside heapwatch\n",
                      path, strerror(errno));
        _exit(EXIT_USAGE);
}
