/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/run/outside.h"

#include <stdio.h>

#include "client/cli/inspector.h"
#include "client/program/permission.h"

#define MOST_NS UINT64_C(5000000000)

bool outside_try(pid_t pid, struct error *error)
{
        char number[24];
        const char *arguments[] = { "heapwatch-inspect", "watch", "--once", "--pid", number, NULL };

        (void)snprintf(number, sizeof(number), "%ld", (long)pid);
        switch (inspector_run(arguments, MOST_NS, error)) {
        case INSPECTOR_GOOD:
                return true;
        case INSPECTOR_REFUSED:
                permission_refused(pid, error);
                return false;
        default:
                if (!error->text[0])
                        (void)error_set(error, "its heap was not found within some seconds");
                return false;
        }
}
