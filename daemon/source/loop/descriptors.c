/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the kernel counts, because libzmq opens and closes descriptors on a thread of its own. A count is a walk over
 * all of them: one for each of a thousand added targets would be a million steps. And it knows nothing of those that
 * are promised: sources open theirs later, or after a while again.
 *
 * For a connection it is not counted: the kernel gives the lowest free number, and one close to the limit says that
 * nearly all below are taken, without another system call. For a table that is full, a spare descriptor is kept to
 * accept a connection with, and close it.
 */
#include "daemon/source/loop/descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/log.h"
#include "proto/base/clock.h"
#include "proto/base/descriptors.h"

#define PASSED_MAX 4096u /* more than a manager's store holds, with some sockets */

static atomic_ulong n_refused;
static int spare = -1;

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

/* ------------------------------------------------------------------- passed */

unsigned descriptors_passed(void)
{
        const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
        const bool ours = pid && strtoull(pid, NULL, 10) == (unsigned long long)getpid();
        const unsigned long n = ours && count ? strtoul(count, NULL, 10) : 0;

        return n < PASSED_MAX ? (unsigned)n : PASSED_MAX;
}

bool descriptors_is_listener(int fd)
{
        int yes = 0;
        socklen_t size = sizeof(yes);

        return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &size) == 0 && yes;
}

/* -------------------------------------------------------------- connections */

unsigned long descriptors_refused(void)
{
        return atomic_load(&n_refused);
}

/* Before the first connection. */
__attribute__((constructor)) static void keep_spare(void)
{
        spare = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3); /* any file will do */
}

/*
 * Accepts and closes the oldest waiting connection, with the spare descriptor. Nobody may be waiting: the kernel looks
 * for a descriptor first; then the spare one is opened again. A connection that left no place for that keeps it until
 * the next call, shut down.
 */
static void turn_away(int listener)
{
        close_fd(&spare);
        spare = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (spare >= 0 && null < 0) {
                (void)shutdown(spare, SHUT_RDWR);
        } else {
                close_fd(&spare);
                spare = null;
        }
}

int descriptors_accept(int listener, size_t more)
{
        const size_t limit = descriptors_limit();
        const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0 && errno == EMFILE)
                turn_away(listener);
        else if (fd < 0 || (size_t)fd + DESCRIPTORS_KEPT + more < limit)
                return fd;
        else
                (void)close(fd);
        unsigned long n = atomic_fetch_add(&n_refused, 1) + 1;
        log_warning(
                "connections_refused=%lu descriptors=%zu too few are left for another connection; raise the limit "
                "(ulimit -Hn, LimitNOFILE=) or find out who connects so often",
                n, descriptors_limit());
        return -1;
}
