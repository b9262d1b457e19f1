/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/cli/front.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/sibling.h"
#include "proto/cli/command.h"

static char **arguments;

/* Stands in the front for every library function, and so for this: scripts/front-stubs defines it there as true. */
__attribute__((weak)) bool front_is_this(void)
{
        return false;
}

void front_set_arguments(char **argv)
{
        arguments = argv;
}

void front_continue(void)
{
        char path[PATH_MAX];

        command_restore_pipe();
        sibling_program(LIVE_PROGRAM, path, sizeof(path));
        (void)execvp(path, arguments);
        (void)fprintf(stderr, "heapwatch: %s: %s; what is live, and pictures, need it: install it beside heapwatch\n",
                      path, strerror(errno));
        _exit(EXIT_USAGE);
}
