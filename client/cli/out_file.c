/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/cli/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/error.h"

bool out_file_is_input(const char *name, const char *input)
{
        struct stat st, of;

        return name && input && stat(name, &st) == 0 && stat(input, &of) == 0 && S_ISREG(st.st_mode) &&
               st.st_dev == of.st_dev && st.st_ino == of.st_ino;
}

int out_file_open(struct out_file *o, const char *name)
{
        struct stat st;

        *o = (struct out_file){ .to = stdout };
        if (!name || !strcmp(name, "-"))
                return 0;
        o->name = name;
        if (stat(name, &st) == 0 && !S_ISREG(st.st_mode)) { /* a device, a FIFO */
                o->to = fopen(name, "we");
                return o->to ? 0 : -errno;
        }
        if (asprintf(&o->temporary, "%s.XXXXXX", name) < 0) {
                o->temporary = NULL;
                return -ENOMEM;
        }
        int fd = mkstemp(o->temporary);
        mode_t mask = umask(0);
        (void)umask(mask);
        if (fd >= 0 && fchmod(fd, 0666 & ~mask) == 0)
                o->to = fdopen(fd, "w");
        if (fd >= 0 && o->to && o->to != stdout)
                return 0;
        int r = -errno;
        if (fd >= 0) {
                (void)unlink(o->temporary);
                (void)close(fd);
        }
        free(o->temporary);
        o->temporary = NULL;
        o->to = NULL;
        return r;
}

int out_file_close(struct out_file *o, int status)
{
        const int failed = stream_flush(o->to);

        if (status == 0)
                status = failed;
        if (o->to != stdout && fclose(o->to) != 0 && status == 0)
                status = -errno;
        if (o->temporary && status == 0 && rename(o->temporary, o->name) != 0)
                status = -errno;
        if (o->temporary && status != 0)
                (void)unlink(o->temporary);
        free(o->temporary);
        return status;
}

ssize_t out_file_head(const char *name, char *head, size_t size)
{
        int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        struct stat st;

        if (fd < 0)
                return -errno;
        const bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
        const ssize_t n = regular ? read(fd, head, size) : -EINVAL;
        const int why = errno;
        (void)close(fd);
        return n == -1 ? -why : n;
}
