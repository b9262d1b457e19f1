/* SPDX-License-Identifier: BSD-3-Clause */
/* replaceable.c - recognised by its first bytes: a report's data, alone or in the head of a page. */
#include "client/report/replaceable.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "client/cli/out_file.h"

#define HEAD_BYTES 4096

bool report_may_replace(const char *path)
{
        static const char json[] = "{\"state\":{\"server\":{\"version\":",
                          page[] = "<script type=\"application/json\" id=\"data\">";
        char head[HEAD_BYTES + 1] = "";
        const ssize_t n = out_file_head(path, head, HEAD_BYTES);

        if (n < 0)
                return n == -ENOENT;
        return !strncmp(head, json, sizeof(json) - 1) || strstr(head, page);
}
