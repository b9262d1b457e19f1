/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/limits.h"

/* The same open file at a high number, closed on exec; `fd` is closed. -1 stays -1. */
static int move_high(int fd)
{
        int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, AGENT_FD_FROM);

        if (high < 0) {
                if (fd >= 0)
                        (void)fcntl(fd, F_SETFD, FD_CLOEXEC); /* the limit of descriptors is low: it stays */
                return fd;
        }
        (void)close(fd);
        return high;
}

bool descriptor_adopt(struct descriptor *d, int fd)
{
        struct stat st;

        *d = (struct descriptor){ .fd = move_high(fd) };
        if (d->fd < 0 || fstat(d->fd, &st) < 0)
                return false;
        d->device = st.st_dev;
        d->inode = st.st_ino;
        return true;
}

bool descriptor_ours(struct descriptor *d)
{
        struct stat st;

        if (d->fd >= 0 && (fstat(d->fd, &st) < 0 || st.st_ino != d->inode || st.st_dev != d->device))
                d->fd = -1;
        return d->fd >= 0;
}

void descriptor_close(struct descriptor *d)
{
        if (descriptor_ours(d))
                (void)close(d->fd);
        d->fd = -1;
}

size_t read_proc_file(const char *path, char *text, size_t size)
{
        const int fd = open(path, O_RDONLY | O_CLOEXEC);
        size_t n = 0;
        ssize_t k;

        while (fd >= 0 && n < size - 1 && (k = read(fd, text + n, size - 1 - n)) > 0)
                n += (size_t)k;
        if (fd >= 0)
                (void)close(fd);
        text[n] = '\0';
        return n;
}
