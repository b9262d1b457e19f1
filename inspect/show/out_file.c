/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/show/out_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/text_out.h"

int out_file_suffix(const char *path, const char *const *suffixes)
{
        for (int i = 0; suffixes[i]; i++)
                if (text_has_suffix(path, suffixes[i]))
                        return i;
        return -1;
}

static bool is_writable(const char *path)
{
        const char *end = strrchr(path, '/');
        char *directory = end ? strndup(path, (size_t)(end - path) + 1) : strdup(".");
        const bool good = directory && access(directory, W_OK) == 0;

        free(directory);
        return good;
}

bool out_file_check(const char *path, const char *const *suffixes, struct error *error)
{
        char list[256];
        struct text_out out;
        size_t n = 0;

        if (out_file_suffix(path, suffixes) >= 0)
                return is_writable(path) || error_set(error, "%.500s: cannot be written: %s", path, strerror(errno));
        text_out_init(&out, list, sizeof(list));
        while (suffixes[n])
                n++;
        text_put_alternatives(&out, suffixes, n);
        return error_set(error, "-o %.500s: expected a file that ends with %s", path, list);
}
