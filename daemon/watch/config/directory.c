/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/watch/config/config.h"

#include <stdio.h>
#include <unistd.h>

#include "daemon/source/uri.h"

bool config_directory(char *to, size_t size, const char *value, struct error *error)
{
        char here[SOURCE_PATH_MAX] = "";

        to[0] = '\0';
        if (value[0] != '/' && !getcwd(here, sizeof(here)))
                return error_set(error, "the current directory is not known; give an absolute path");
        int n = snprintf(to, size, "%s%s%s", here, here[0] ? "/" : "", value);
        if (value[0] && n > 0 && (size_t)n < size)
                return true;
        to[0] = '\0';
        return error_set(error, "expected a directory of at most %zu bytes", size - 1);
}
