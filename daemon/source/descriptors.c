/* SPDX-License-Identifier: BSD-3-Clause */
/* DESIGN: the kernel is asked each time: libzmq opens and closes descriptors on a thread of its own. */
#include "daemon/source/descriptors.h"

#include <dirent.h>
#include <stdint.h>
#include <sys/resource.h>

void descriptors_raise(void)
{
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
                return;
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit); /* refused: what there is must do, and targets are refused in time */
}

size_t descriptors_limit(void)
{
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
                return SIZE_MAX;
        return limit.rlim_cur;
}

/* Open descriptors of this process; 0 when /proc does not say. */
static size_t count_open(void)
{
        DIR *dir = opendir("/proc/self/fd");
        const struct dirent *entry;
        size_t n = 0;

        if (!dir)
                return 0;
        while ((entry = readdir(dir)))
                n += entry->d_name[0] != '.';
        (void)closedir(dir);
        return n - 1; /* one was of this look itself */
}

size_t descriptors_left(void)
{
        const size_t limit = descriptors_limit(), open = count_open();

        if (limit == SIZE_MAX || open == 0)
                return SIZE_MAX;
        return limit > open ? limit - open : 0;
}
