/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/descriptors.h"
#include "proto/base/error.h"

int whole_file_directories(const char *path)
{
        char part[PATH_MAX];
        size_t n = strlen(path);

        if (n >= sizeof(part))
                return -ENAMETOOLONG;
        memcpy(part, path, n + 1);
        for (size_t i = 1; i < n; i++) {
                if (part[i] != '/')
                        continue;
                part[i] = '\0';
                if (mkdir(part, 0700) < 0 && errno != EEXIST)
                        return -errno;
                part[i] = '/';
        }
        return 0;
}

static int write_all(int fd, const char *text, size_t size)
{
        while (size > 0) {
                ssize_t n = write(fd, text, size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                text += n;
                size -= (size_t)n;
        }
        return fsync(fd) == 0 ? 0 : -errno;
}

int whole_file_write(const char *path, const char *text, size_t size)
{
        static const char suffix[] = ".new";
        char beside[PATH_MAX + sizeof(suffix)];
        int err = whole_file_directories(path);

        if (err < 0)
                return err;
        memcpy(beside, path, strlen(path)); /* whole_file_directories: it fits */
        memcpy(beside + strlen(path), suffix, sizeof(suffix));
        (void)unlink(beside); /* of a process that died while it wrote */
        int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return -errno;
        err = write_all(fd, text, size);
        if (close(fd) < 0 && err == 0)
                err = -errno;
        if (err == 0 && rename(beside, path) < 0)
                err = -errno;
        if (err < 0)
                (void)unlink(beside);
        return err;
}

/* As long as it is now: such files are replaced, never written on. */
static int read_all(int fd, size_t size, char **ret_text, size_t *ret_size)
{
        char *text = malloc(size + 1);

        if (!text)
                return -ENOMEM;
        const ssize_t n = read_full(fd, text, size);
        if (n < 0) {
                free(text);
                return (int)n;
        }
        text[n] = '\0';
        *ret_text = text;
        *ret_size = (size_t)n;
        return 0;
}

int whole_file_read(const char *path, size_t max, char **ret_text, size_t *ret_size)
{
        struct stat st;
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
        int err;

        if (fd < 0)
                return errno == ELOOP ? -EPERM : -errno;
        if (fstat(fd, &st) < 0)
                err = -errno;
        else if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
                err = -EPERM;
        else if (st.st_size > (off_t)max)
                err = -EFBIG;
        else
                err = read_all(fd, (size_t)st.st_size, ret_text, ret_size);
        (void)close(fd);
        return err;
}

static bool set_aside(const char *path, const char *why, struct error *error)
{
        char aside[PATH_MAX];
        const int n = snprintf(aside, sizeof(aside), "%s.broken", path);

        if (n < (int)sizeof(aside) && rename(path, aside) == 0)
                return error_set(error, "%.300s is not usable: %.300s; it is now %.300s", path, why, aside);
        return error_set(error, "%.300s is not usable: %.300s; it could not be moved aside: %s", path, why,
                         strerror(errno));
}

bool whole_file_restore(const char *path, size_t max, whole_file_parser *parse, void *ctx, struct error *error)
{
        struct error why;
        char *text = NULL;
        size_t size = 0;
        int err = whole_file_read(path, max, &text, &size);

        if (err == -ENOENT || err == -ENOTDIR)
                return true;
        if (err == -EPERM)
                error_set(&why, "expected a regular file that belongs to this user");
        else if (err == -EFBIG)
                error_set(&why, "it is larger than %zu MiB", max >> 20);
        else if (err < 0)
                return error_set(error, "%.500s cannot be read: %s", path, strerror(-err));
        const bool good = err == 0 && parse(ctx, text, size, &why);
        free(text);
        return good || set_aside(path, why.text, error);
}
