/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - close_range(2) is in Linux from 5.9 on, with the flag from 5.11 on;
 * for older kernels there is the list in /proc, which is read without malloc(3):
 * this may be a child of a process with threads. Without /proc, too, what we
 * have opened ourselves is closed at an exec all the same.
 */
#include "proto/base/descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#ifndef SYS_close_range /* glibc before 2.34 */
#define SYS_close_range 436
#endif
#define AT_EXEC 4u /* CLOSE_RANGE_CLOEXEC */

#define LEAST 64u

static void close_listed(int first, unsigned flags)
{
        _Alignas(struct dirent64) char entries[4096];
        int list = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        long n;

        while (list >= 0 && (n = syscall(SYS_getdents64, list, entries, sizeof(entries))) > 0) {
                for (long at = 0; at < n;) {
                        const struct dirent64 *entry = (const void *)(entries + at);
                        const int fd = (int)strtol(entry->d_name, NULL, 10); /* of "." and ".." 0 */
                        if (fd >= first && fd != list) {
                                if (flags == AT_EXEC)
                                        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
                                else
                                        (void)close(fd);
                        }
                        at += entry->d_reclen;
                }
        }
        close_fd(&list);
}

static void close_from(int first, unsigned flags)
{
        if (syscall(SYS_close_range, (unsigned)first, ~0u, flags) != 0)
                close_listed(first, flags);
}

ssize_t read_full(int fd, void *to, size_t size)
{
        size_t done = 0;
        ssize_t n = 1;

        while (done < size && n != 0) {
                n = read(fd, (char *)to + done, size - done);
                if (n < 0 && errno != EINTR)
                        return -errno;
                done += n > 0 ? (size_t)n : 0;
        }
        return (ssize_t)done;
}

size_t descriptors_limit(void)
{
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
                return SIZE_MAX;
        return limit.rlim_cur;
}

bool descriptors_suffice(struct error *error)
{
        const size_t limit = descriptors_limit();

        return limit >= LEAST || error_set(error,
                                           "it may open only %zu descriptors, and needs %u at least; raise its limit "
                                           "(ulimit -n, LimitNOFILE=)",
                                           limit, LEAST);
}

void descriptors_raise(void)
{
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
                return;
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
}

void descriptors_close(int first)
{
        close_from(first, 0);
}

void descriptors_close_at_exec(int first)
{
        close_from(first, AT_EXEC);
}
