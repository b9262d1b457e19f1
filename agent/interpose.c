/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * interpose.c - select(2), in which a runtime that is not threaded waits while
 * none of its threads can run: the last point before it sleeps, and a point
 * again each time a flush is due. A sleep is cut into pieces, which the caller
 * does not notice. Other callers' select is passed on, and so are larger sets.
 *
 * And fopen(3), by which the runtime opens PROGRAM.hp for a heap profile that it
 * makes itself; when that fails, it makes no profile.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/time.h>

#include "agent/runtime.h"

#include "agent/agent.h"
#include "agent/pace.h"
#include "agent/thread.h"

typedef int select_function(int, fd_set *, fd_set *, fd_set *, struct timeval *);

static select_function *real_select(void)
{
        static select_function *f;

        if (!f)
                f = (select_function *)(uintptr_t)dlsym(RTLD_NEXT, "select");
        return f;
}

/* Of the process; a program may be forbidden to ask for numbers of processes and threads. */
static pthread_t first_thread;

__attribute__((constructor)) static void note_first_thread(void)
{
        first_thread = pthread_self();
}

static struct timeval as_timeval(int64_t ns)
{
        return (struct timeval){ .tv_sec = ns / 1000000000, .tv_usec = ns % 1000000000 / 1000 };
}

/* When the sleep ends; a very long one does not. */
static int64_t end_of(const struct timeval *timeout)
{
        if (!timeout || timeout->tv_sec > 1000000000)
                return INT64_MAX;
        return thread_now_ns() + (int64_t)timeout->tv_sec * 1000000000 + (int64_t)timeout->tv_usec * 1000;
}

static void leave_rest(struct timeval *timeout, int64_t end)
{
        int64_t rest = end - thread_now_ns();

        if (timeout && end != INT64_MAX)
                *timeout = as_timeval(rest > 0 ? rest : 0);
}

AGENT_EXPORT int select(int n, fd_set *reads, fd_set *writes, fd_set *errors, struct timeval *timeout)
{
        int64_t end = end_of(timeout), until;

        if (n > FD_SETSIZE || !pthread_equal(pthread_self(), first_thread) || pace_until_due() == INT64_MAX)
                return real_select()(n, reads, writes, errors, timeout);
        for (;;) {
                int before = errno;
                pace_point();
                errno = before;
                until = pace_until_due();
                if (until == 0)
                        until = 1000000; /* it could not be done here */
                if (until == INT64_MAX || thread_now_ns() + until >= end)
                        break;
                struct timeval piece = as_timeval(until);
                fd_set r, w, e;
                if (reads)
                        r = *reads;
                if (writes)
                        w = *writes;
                if (errors)
                        e = *errors;
                int k = real_select()(n, reads ? &r : NULL, writes ? &w : NULL, errors ? &e : NULL, &piece);
                if (k == 0)
                        continue;
                if (reads)
                        *reads = r;
                if (writes)
                        *writes = w;
                if (errors)
                        *errors = e;
                leave_rest(timeout, end);
                return k;
        }
        leave_rest(timeout, end);
        return real_select()(n, reads, writes, errors, timeout);
}

/* --------------------------------------------------------------- PROGRAM.hp */

static enum { AS_OPENED, IF_WRITABLE, NOWHERE } profile_file;

void interpose_profile_file(bool unwanted)
{
        profile_file = unwanted ? NOWHERE : IF_WRITABLE;
}

/* The runtime takes the program's name with or without its directory, by release. */
static bool is_profile_file(const char *path, const char *mode)
{
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
        size_t n = strlen(program_invocation_short_name);

        return mode[0] == 'w' && !strncmp(name, program_invocation_short_name, n) && !strcmp(name + n, ".hp");
}

typedef FILE *fopen_function(const char *, const char *);

static FILE *open_stream(const char *function, const char *path, const char *mode)
{
        fopen_function *real = (fopen_function *)(uintptr_t)dlsym(RTLD_NEXT, function);
        bool is_profile = profile_file != AS_OPENED && is_profile_file(path, mode);
        FILE *f = is_profile && profile_file == NOWHERE ? NULL : real(path, mode);

        return f || !is_profile ? f : real("/dev/null", mode);
}

AGENT_EXPORT FILE *fopen(const char *path, const char *mode)
{
        return open_stream("fopen", path, mode);
}

AGENT_EXPORT FILE *fopen64(const char *path, const char *mode)
{
        return open_stream("fopen64", path, mode);
}
