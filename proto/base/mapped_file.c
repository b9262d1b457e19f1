/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - the kernel writes a path in /proc/PID/maps from the reader's root, where the file is below it: of a
 * container it is the program's own path then, of a chroot ours. Where we are in a chroot and the program has mounts of
 * its own, it does not meet our root on the way up and writes the path from the top of those mounts, with what
 * /proc/PID/root leads to in front. All three are tried.
 */
#include "proto/base/mapped_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK)

static int open_below(const char *root, const char *path)
{
        char whole[PATH_MAX + 32];

        return (size_t)snprintf(whole, sizeof(whole), "%s%s", root, path) < sizeof(whole) ? open(whole, FLAGS) : -1;
}

int mapped_file_open(pid_t pid, const char *path)
{
        char root[32], top[PATH_MAX];

        (void)snprintf(root, sizeof(root), "/proc/%ld/root", (long)pid);
        int fd = open_below(root, path);
        const ssize_t n = fd < 0 ? readlink(root, top, sizeof(top)) : -1;
        if (n > 1 && n < (ssize_t)sizeof(top) && !strncmp(path, top, (size_t)n) && path[n] == '/')
                fd = open_below(root, path + n);
        return fd >= 0 ? fd : open(path, FLAGS);
}
