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
#include "proto/base/array.h"

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

static void try_resource_limit(void)
{
        static const struct rlimit none = { 0, 0 };

        (void)setrlimit(RLIMIT_CORE, &none); /* also: the end of this child leaves no core file */
}

static void try_wait(void)
{
        (void)waitpid(-1, NULL, WNOHANG | __WALL);
}

static void try_poll(void)
{
        (void)poll(NULL, 0, 0);
}

static void try_numbers(void)
{
        (void)syscall(SYS_getpid);
        (void)getppid();
        (void)geteuid();
}

static void try_thread_number(void)
{
        (void)syscall(SYS_gettid);
}

static void try_socket(void)
{
        (void)socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static void try_listening(void)
{
        struct sockaddr a = { .sa_family = AF_UNIX };

        (void)bind(-1, &a, sizeof(a));
        (void)listen(-1, 1);
        (void)connect(-1, &a, sizeof(a));
}

static void try_accept(void)
{
        (void)accept4(-1, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

static void try_transfer(void)
{
        char byte = 0;
        socklen_t size = sizeof(byte);

        (void)getsockopt(-1, SOL_SOCKET, SO_PEERCRED, &byte, &size);
        (void)recv(-1, &byte, 1, MSG_DONTWAIT);
        (void)send(-1, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void try_fcntl(void)
{
        struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

        (void)fcntl(-1, F_DUPFD_CLOEXEC, 0);
        (void)fcntl(-1, F_SETLK, &lock);
}

static void try_flock(void)
{
        (void)flock(-1, LOCK_SH);
}

static void try_stat(void)
{
        struct stat st;

        (void)stat("", &st);
        (void)lstat("", &st);
        (void)fstat(-1, &st);
        (void)access("", F_OK);
}

static void try_unlink(void)
{
        (void)unlink("");
        (void)unlinkat(-1, "", 0);
}

static void try_chmod(void)
{
        (void)chmod("", 0);
}

static void try_links(void)
{
        char byte;

        if (mkdir("", 0) < 0 && symlink("/dev/null", "") < 0 && readlink("", &byte, 1) < 0)
                return; /* as they should */
}

static void try_list(void)
{
        (void)syscall(SYS_getdents64, -1, NULL, 0);
}

static void try_read_at(void)
{
        char byte;

        if (pread(-1, &byte, 1, 0) < 0)
                return; /* as it should */
}

static void try_sleep(void)
{
        static const struct timespec moment = { 0, 1 };

        (void)nanosleep(&moment, NULL);
}

/* As control.c does; a child that ends is traced by nobody. */
static void try_tracer(void)
{
        (void)prctl(PR_SET_PTRACER, 0, 0, 0, 0);
}

static const struct {
        void (*attempt)(void);
        const char *name; /* as a filter names it */
} attempts[] = {
        { try_resource_limit, "prlimit64" },
        { try_poll, "poll" },
        { try_wait, "wait4" },
        { try_numbers, "getpid, getppid or geteuid" },
        { try_thread_number, "gettid" },
        { try_socket, "socket" },
        { try_listening, "bind, listen or connect" },
        { try_accept, "accept4" },
        { try_transfer, "getsockopt, recvfrom or sendto" },
        { try_fcntl, "fcntl" },
        { try_flock, "flock" },
        { try_stat, "newfstatat or access" },
        { try_unlink, "unlink or unlinkat" },
        { try_chmod, "chmod" },
        { try_links, "mkdir, symlink or readlink" },
        { try_list, "getdents64" },
        { try_read_at, "pread64" },
        { try_sleep, "clock_nanosleep" },
        { try_tracer, "prctl" },
};

#define ATTEMPTS ARRAY_SIZE(attempts)
#define POLL_AT  1u /* in that list */
#define WAIT_AT  2u

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
                        attempts[*done].attempt();
                for (;;)
                        (void)syscall(SYS_exit_group, 0);
        }
        last.attempts = pid > 0 ? *done : 0;
        if (last.attempts > WAIT_AT)
                (void)waitpid((pid_t)pid, NULL, __WALL);
        (void)munmap((void *)(uintptr_t)done, sizeof(*done));
        if (last.attempts == ATTEMPTS)
                return true;
        return error_set(error,
                         pid < 0 ? "its system call filter (seccomp) cannot be examined%s"
                                 : "its system call filter (seccomp) would end it at %s, which the agent needs",
                         pid < 0 ? "" : attempts[last.attempts].name);
}

bool syscall_filter_is_new(void)
{
        return count_filters() > last.filters;
}

bool syscall_filter_allows_poll(void)
{
        return last.attempts > POLL_AT;
}
