/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/private_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/descriptors.h"
#include "proto/base/error.h"

const char *private_directory_objection(const struct stat *st)
{
        if (!S_ISDIR(st->st_mode))
                return "is not a directory";
        if (st->st_uid != geteuid())
                return "belongs to another user";
        return st->st_mode & 077 ? "can be entered by others; " PRIVATE_DIRECTORY_REMEDY : NULL;
}

int private_directory_open(const char *path, bool links, struct error *error)
{
        const char *objection;
        struct stat st;

        if (mkdir(path, 0700) != 0 && errno != EEXIST)
                return error_code(error, -errno, "%s: cannot make this directory: %s", path, strerror(errno));
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (links ? 0 : O_NOFOLLOW));
        if (fd < 0)
                return error_code(error, errno == ELOOP || errno == ENOTDIR ? -EACCES : -errno,
                                  "%s: must be a directory of your own, not a link or a file: %s", path,
                                  strerror(errno));
        objection = fstat(fd, &st) != 0 ? "cannot be examined" : private_directory_objection(&st);
        if (!objection)
                return fd;
        (void)close(fd);
        return error_code(error, -EACCES, "%s: %s", path, objection);
}

/* ---------------------------------------------------------------- a file */

/* What is wrong with the file; NULL: nothing. */
static const char *file_objection(const struct stat *st)
{
        if (!S_ISREG(st->st_mode))
                return "expected a regular file";
        if (st->st_uid != geteuid() && st->st_uid != 0)
                return "it belongs to another user";
        /* Root gives it to the service's group: a secret of Kubernetes, a credential of systemd. */
        const bool lent = st->st_uid == 0 && geteuid() != 0;
        if (st->st_mode & (lent ? 037 : 077))
                return "others may read or change it; chmod 600 it";
        return NULL;
}

bool private_file_read(const char *path, char *text, size_t size, struct error *error)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        const char *wrong = NULL;
        struct stat st;
        ssize_t n = -1;

        if (fd >= 0 && fstat(fd, &st) == 0 && !(wrong = file_objection(&st)))
                n = read(fd, text, size - 1);
        if (n < 0)
                error_set(error, "%s: %s", path, wrong ? wrong : strerror(errno));
        close_fd(&fd);
        if (n < 0)
                return false;
        text[n] = '\0';
        return true;
}
