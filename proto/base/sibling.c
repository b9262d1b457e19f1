/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/sibling.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/text_out.h"

static bool find_beside(const char *name, int mode, char *ret_path, size_t size)
{
        char self[PATH_MAX];
        const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
        char *slash;

        if (n <= 0)
                return false;
        self[n] = '\0';
        slash = strrchr(self, '/');
        if (!slash)
                return false;
        *slash = '\0';
        const int printed = snprintf(ret_path, size, "%s/%s", self, name);
        return printed > 0 && (size_t)printed < size && access(ret_path, mode) == 0;
}

void sibling_program(const char *name, char *ret_path, size_t size)
{
        if (!find_beside(name, X_OK, ret_path, size))
                (void)snprintf(ret_path, size, "%s", name);
}

bool sibling_file(const char *name, char *ret_path, size_t size)
{
        return find_beside(name, R_OK, ret_path, size);
}

bool sibling_signatures(char *ret_path, size_t size)
{
        const char *named = getenv("HEAPWATCH_SIGNATURES");

        return named ? strlen(text_join(ret_path, size, named, NULL)) == strlen(named)
                     : sibling_file("../share/heapwatch/signatures", ret_path, size);
}
