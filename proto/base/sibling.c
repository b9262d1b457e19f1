/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/sibling.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void sibling_program(const char *name, char *ret_path, size_t size)
{
        char self[PATH_MAX];
        ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
        char *slash;

        if (n > 0) {
                self[n] = '\0';
                slash = strrchr(self, '/');
                if (slash) {
                        *slash = '\0';
                        int printed = snprintf(ret_path, size, "%s/%s", self, name);
                        if (printed > 0 && (size_t)printed < size && access(ret_path, X_OK) == 0)
                                return;
                }
        }
        (void)snprintf(ret_path, size, "%s", name);
}
