/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the kernel counts, because libzmq opens and closes descriptors on a thread of its own. A count is a walk over
 * all of them: one for each of a thousand added targets would be a million steps. And it knows nothing of those that
 * are promised: sources open theirs later, or after a while again.
 */
#include "daemon/loop/descriptors.h"

#include <dirent.h>
#include <stdint.h>
#include <sys/resource.h>

#include "proto/base/clock.h"

void descriptors_raise(void)
{
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
                return;
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit); /* on failure the old limit must do: targets are refused in time */
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
        return n - 1; /* one is opendir's own */
}

#define COUNT_HOLDS_NS UINT64_C(1000000000)

size_t descriptors_left(size_t promised)
{
        static size_t open, base; /* the newest count, and the first one */
        static uint64_t counted_ns;
        const size_t limit = descriptors_limit();
        const uint64_t now_ns = clock_mono_ns();

        if (limit == SIZE_MAX)
                return SIZE_MAX;
        if (open == 0 || now_ns - counted_ns > COUNT_HOLDS_NS) {
                open = count_open();
                counted_ns = now_ns;
        }
        if (open == 0)
                return SIZE_MAX;
        if (base == 0)
                base = open;
        const size_t used = open > base + promised ? open : base + promised;
        return limit > used ? limit - used : 0;
}
