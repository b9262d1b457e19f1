/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/base/descriptors.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

int unix_connect(const char *path)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd, r;

        if (strlen(path) >= sizeof(address.sun_path))
                return -ENAMETOOLONG;
        memcpy(address.sun_path, path, strlen(path) + 1);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0)
                return -errno;
        if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
                return fd;
        r = -errno;
        (void)close(fd);
        return r;
}

/* Connects and hangs up. 0 or -errno. */
static int try_to_connect(const char *path)
{
        int fd = unix_connect(path);

        if (fd >= 0)
                (void)close(fd);
        return fd < 0 ? fd : 0;
}

bool unix_nobody_listens(const char *path)
{
        int r = try_to_connect(path);

        return r == -ECONNREFUSED || r == -ENOENT;
}

bool unix_is_left_over(const char *path)
{
        struct stat st;

        return lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) && try_to_connect(path) == -ECONNREFUSED;
}
