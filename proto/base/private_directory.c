/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/private_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
