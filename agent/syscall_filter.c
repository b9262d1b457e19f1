/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - a filter cannot be read without CAP_SYS_ADMIN, and whether it ends a process or returns an error is seen
 * only by making the call. So a child makes all calls that the agent may make, with arguments that change nothing; the
 * number of the one that ended it is left in shared memory. The child is made by clone3(2), as the threads are without
 * which no GHC-compiled program runs, and not by fork(3), and without a signal at its end. Where the kernel knows of no
 * filter, which is what /proc says with calls that every program makes, nothing is tried.
 */
#include "agent/syscall_filter.h"
#include "agent/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STATUS_BYTES 8192 /* of /proc/thread-self/status: the lines needed are before that */

/* ------------------------------------------------------- what the kernel says */

static long number_after(const char *text, const char *key)
{
        const char *at = strstr(text, key);

        return at ? strtol(at + strlen(key), NULL, 10) : 0;
}

/* How many filters the calling thread has; 1 where the kernel (before 5.9) only says that there are some. */
static long count_filters(void)
{
        char text[STATUS_BYTES];

        (void)read_proc_file("/proc/thread-self/status", text, sizeof(text));
        const long filters = number_after(text, "\nSeccomp_filters:");
        return filters > 0 ? filters : number_after(text, "\nSeccomp:") == 2;
}

/* ---------------------------------------------------------------- the attempt */

enum attempt {
        ATTEMPT_RESOURCE_LIMIT,
        ATTEMPT_POLL,
        ATTEMPT_WAIT,
        ATTEMPT_NUMBERS,
        ATTEMPT_THREAD_NUMBER,
        ATTEMPT_SOCKET,
        ATTEMPT_LISTENING,
        ATTEMPT_ACCEPT,
        ATTEMPT_TRANSFER,
        ATTEMPT_FCNTL,
        ATTEMPT_FLOCK,
        ATTEMPT_STAT,
        ATTEMPT_UNLINK,
        ATTEMPT_CHMOD,
        ATTEMPT_LINKS,
        ATTEMPT_LIST,
        ATTEMPT_READ_AT,
        ATTEMPT_SLEEP,
        ATTEMPT_TRACER,
        ATTEMPTS
};

/* As a filter names what they call. */
static const char *const names[ATTEMPTS] = {
        [ATTEMPT_RESOURCE_LIMIT] = "prlimit64",
        [ATTEMPT_POLL] = "poll",
        [ATTEMPT_WAIT] = "wait4",
        [ATTEMPT_NUMBERS] = "getpid, getppid or geteuid",
        [ATTEMPT_THREAD_NUMBER] = "gettid",
        [ATTEMPT_SOCKET] = "socket",
        [ATTEMPT_LISTENING] = "bind, listen or connect",
        [ATTEMPT_ACCEPT] = "accept4",
        [ATTEMPT_TRANSFER] = "getsockopt, recvfrom or sendto",
        [ATTEMPT_FCNTL] = "fcntl",
        [ATTEMPT_FLOCK] = "flock",
        [ATTEMPT_STAT] = "newfstatat or access",
        [ATTEMPT_UNLINK] = "unlink or unlinkat",
        [ATTEMPT_CHMOD] = "chmod",
        [ATTEMPT_LINKS] = "mkdir, symlink or readlink",
        [ATTEMPT_LIST] = "getdents64",
        [ATTEMPT_READ_AT] = "pread64",
        [ATTEMPT_SLEEP] = "clock_nanosleep",
        [ATTEMPT_TRACER] = "prctl",
};

/* All fail, or change nothing. Returns a sum of what they returned, of which nothing is wanted. */
static long make_calls(size_t attempt)
{
        static const struct rlimit none = { 0, 0 };
        static const struct timespec moment = { 0, 1 };
        struct sockaddr address = { .sa_family = AF_UNIX };
        struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
        struct stat st;
        char byte = 0;
        socklen_t size = sizeof(byte);

        switch ((enum attempt)attempt) {
        case ATTEMPT_RESOURCE_LIMIT: /* also: the end of this child leaves no core file */
                return setrlimit(RLIMIT_CORE, &none);
        case ATTEMPT_POLL:
                return poll(NULL, 0, 0);
        case ATTEMPT_WAIT:
                return waitpid(-1, NULL, WNOHANG | __WALL);
        case ATTEMPT_NUMBERS:
                return syscall(SYS_getpid) + getppid() + (long)geteuid();
        case ATTEMPT_THREAD_NUMBER:
                return syscall(SYS_gettid);
        case ATTEMPT_SOCKET:
                return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        case ATTEMPT_LISTENING:
                return bind(-1, &address, sizeof(address)) + listen(-1, 1) + connect(-1, &address, sizeof(address));
        case ATTEMPT_ACCEPT:
                return accept4(-1, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        case ATTEMPT_TRANSFER:
                return getsockopt(-1, SOL_SOCKET, SO_PEERCRED, &byte, &size) + recv(-1, &byte, 1, MSG_DONTWAIT) +
                       send(-1, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
        case ATTEMPT_FCNTL:
                return fcntl(-1, F_DUPFD_CLOEXEC, 0) + fcntl(-1, F_SETLK, &lock);
        case ATTEMPT_FLOCK:
                return flock(-1, LOCK_SH);
        case ATTEMPT_STAT:
                return stat("", &st) + lstat("", &st) + fstat(-1, &st) + access("", F_OK);
        case ATTEMPT_UNLINK:
                return unlink("") + unlinkat(-1, "", 0);
        case ATTEMPT_CHMOD:
                return chmod("", 0);
        case ATTEMPT_LINKS:
                return mkdir("", 0) + symlink("/dev/null", "") + readlink("", &byte, 1);
        case ATTEMPT_LIST:
                return syscall(SYS_getdents64, -1, NULL, 0);
        case ATTEMPT_READ_AT:
                return pread(-1, &byte, 1, 0);
        case ATTEMPT_SLEEP:
                return nanosleep(&moment, NULL);
        case ATTEMPT_TRACER: /* as control.c does; a child that ends is traced by nobody */
                return prctl(PR_SET_PTRACER, 0, 0, 0, 0);
        case ATTEMPTS:
                break;
        }
        return 0;
}

/* Its parent stands still until it ends. The process that it is cannot be waited for by wait(2) without __WALL. */
static long start_child(void)
{
        struct clone_args arguments = { .flags = CLONE_VFORK };
        long pid = syscall(SYS_clone3, &arguments, sizeof(arguments));

        if (pid < 0 && errno == ENOSYS)
                pid = syscall(SYS_clone, (unsigned long)CLONE_VFORK, NULL, NULL, NULL, NULL);
        return pid;
}

static struct {
        long filters;    /* at the last attempt */
        size_t attempts; /* that went well then */
} last = { 0, ATTEMPTS };

bool syscall_filter_allows(struct error *error)
{
        last.filters = count_filters();
        last.attempts = ATTEMPTS;
        if (last.filters == 0)
                return true;
        volatile size_t *done = mmap(NULL, sizeof(*done), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (done == MAP_FAILED)
                return error_set(error, "its system call filter cannot be examined: out of memory");
        long pid = start_child();
        if (pid == 0) {
                for (; *done < ATTEMPTS; (*done)++)
                        (void)make_calls(*done);
                for (;;)
                        (void)syscall(SYS_exit_group, 0);
        }
        last.attempts = pid > 0 ? *done : 0;
        if (last.attempts > ATTEMPT_WAIT)
                (void)waitpid((pid_t)pid, NULL, __WALL);
        (void)munmap((void *)(uintptr_t)done, sizeof(*done));
        if (last.attempts == ATTEMPTS)
                return true;
        return error_set(error,
                         pid < 0 ? "its system call filter (seccomp) cannot be examined%s"
                                 : "its system call filter (seccomp) would end it at %s, which the agent needs",
                         pid < 0 ? "" : names[last.attempts]);
}

bool syscall_filter_is_new(void)
{
        return count_filters() > last.filters;
}

bool syscall_filter_allows_poll(void)
{
        return last.attempts > ATTEMPT_POLL;
}
