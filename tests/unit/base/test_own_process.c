/* SPDX-License-Identifier: BSD-3-Clause */
/* What newer C libraries and kernels have, and we for older ones: names of signals, closing all descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "proto/base/descriptors.h"
#include "proto/base/run_life.h"

static bool old_kernel; /* one without close_range(2) */

long __real_syscall(long number, long a, long b, long c);
long __wrap_syscall(long number, long a, long b, long c);

long __wrap_syscall(long number, long a, long b, long c)
{
        if (!old_kernel || number != 436)
                return __real_syscall(number, a, b, c);
        errno = ENOSYS;
        return -1;
}

static bool is_open(int fd)
{
        return fcntl(fd, F_GETFD) >= 0;
}

static bool closes_at_exec(int fd)
{
        return (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0;
}

/* In a child, with descriptors 10 to 12 and 200: 0, or the number of what does not hold. */
static int try_all(void)
{
        for (int fd = 10; fd <= 13; fd++)
                if (dup2(STDOUT_FILENO, fd < 13 ? fd : 200) < 0)
                        return 1;
        descriptors_close_at_exec(11);
        if (closes_at_exec(10) || !closes_at_exec(11) || !closes_at_exec(12) || !closes_at_exec(200))
                return 2;
        if (!is_open(11) || !is_open(200))
                return 3;
        descriptors_close(12);
        if (!is_open(STDOUT_FILENO) || !is_open(10) || !is_open(11) || is_open(12) || is_open(200))
                return 4;
        descriptors_close(3);
        return is_open(STDERR_FILENO) && !is_open(3) && !is_open(10) && !is_open(11) ? 0 : 5;
}

TEST(descriptors)
{
        int status;

        for (int old = 0; old < 2; old++) {
                pid_t child = fork();
                old_kernel = old;
                if (child == 0)
                        _exit(try_all());
                assert_int_equal(waitpid(child, &status, 0), child);
                assert_int_equal(status, 0);
        }
        old_kernel = false;
}

TEST(signals)
{
        assert_string_equal(signal_name(SIGKILL), "KILL");
        for (int s = -1; s <= SIGRTMAX + 1; s++) {
#if __GLIBC_PREREQ(2, 32)
                const char *name = sigabbrev_np(s);
                assert_true(name ? !strcmp(signal_name(s), name) : !signal_name(s));
#endif
        }
}
