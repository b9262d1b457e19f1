/* SPDX-License-Identifier: BSD-3-Clause */
/* replaceable.c - recognised by its first bytes: a report's data, alone or in the head of a page. */
#include "client/report/replaceable.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_BYTES 4096

bool report_may_replace(const char *path)
{
        static const char json[] = "{\"state\":{\"server\":{\"version\":",
                          page[] = "<script type=\"application/json\" id=\"data\">";
        char head[HEAD_BYTES + 1] = "";
        struct stat st;
        ssize_t n = 0;
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

        if (fd < 0)
                return errno == ENOENT;
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
                n = read(fd, head, HEAD_BYTES);
        (void)close(fd);
        head[n > 0 ? n : 0] = '\0';
        return !strncmp(head, json, sizeof(json) - 1) || strstr(head, page);
}
