/* SPDX-License-Identifier: BSD-3-Clause */
#include "inspect/process/stop.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/array.h"
#include "proto/base/clock.h"
#include "proto/base/process_stat.h"

#define TEXT_BYTES 512

static int open_of_thread(pid_t pid, pid_t tid, const char *file)
{
        char path[96];

        (void)snprintf(path, sizeof(path), "/proc/%ld/task/%ld/%s", (long)pid, (long)tid, file);
        return open(path, O_RDONLY | O_CLOEXEC);
}

/* "23456789 1234 56": CPU time, time without a processor, how often it got one. */
bool os_thread_times(const struct os_thread *t, struct thread_times *ret)
{
        char text[TEXT_BYTES], *end;
        const ssize_t n = pread(t->times_fd, text, sizeof(text) - 1, 0);

        text[n > 0 ? n : 0] = '\0';
        ret->cpu_ns = strtoull(text, &end, 10);
        ret->waited_ns = strtoull(end, NULL, 10);
        return n > 0;
}

static bool has_state(const struct os_thread *t, char letter)
{
        char text[TEXT_BYTES];
        const ssize_t n = pread(t->stat_fd, text, sizeof(text) - 1, 0);

        text[n > 0 ? n : 0] = '\0';
        const char *state = process_stat_find(text, STAT_STATE);
        return state && *state == letter;
}

bool os_thread_is_running(const struct os_thread *t)
{
        return has_state(t, 'R');
}

bool os_thread_is_suspended(const struct os_thread *t)
{
        return has_state(t, 'T');
}

static void close_thread(const struct os_thread *t)
{
        if (t->times_fd >= 0)
                (void)close(t->times_fd);
        if (t->stat_fd >= 0)
                (void)close(t->stat_fd);
}

/* A list has threads in the same order each time: the one after `*last` is seen first. */
static bool is_known(const struct os_threads *t, pid_t tid, size_t *last)
{
        for (size_t i = 0; i < t->n; i++) {
                const size_t at = (*last + 1 + i) % t->n;
                if (t->items[at].tid == tid) {
                        *last = at;
                        return true;
                }
        }
        return false;
}

/* A thread that ends meanwhile is none; one that has no schedstat is on a kernel without it. */
static bool add_thread(struct os_threads *t, pid_t tid)
{
        struct os_thread new = { .tid = tid,
                                 .times_fd = open_of_thread(t->pid, tid, "schedstat"),
                                 .stat_fd = open_of_thread(t->pid, tid, "stat") };
        const bool opened = new.times_fd >= 0 && new.stat_fd >= 0;
        const bool ended = new.stat_fd < 0 && (errno == ENOENT || errno == ESRCH);

        if (opened && os_thread_times(&new, &new.sampled) && ARRAY_RESERVE(t->items, t->capacity, t->n + 1)) {
                new.seen_cpu_ns = new.sampled.cpu_ns;
                t->items[t->n++] = new;
                return true;
        }
        close_thread(&new);
        if (new.times_fd < 0 && new.stat_fd >= 0)
                errno = EOPNOTSUPP;
        return opened || ended;
}

bool os_threads_list(struct os_threads *t)
{
        char path[64];
        const struct dirent *e;
        struct thread_times unused;
        size_t last = SIZE_MAX, n = 0;
        bool good = true;

        for (size_t i = 0; i < t->n; i++)
                if (os_thread_times(&t->items[i], &unused))
                        t->items[n++] = t->items[i];
                else
                        close_thread(&t->items[i]);
        t->n = n;
        (void)snprintf(path, sizeof(path), "/proc/%ld/task", (long)t->pid);
        DIR *d = opendir(path);
        if (!d)
                return false;
        while (good && (e = readdir(d))) {
                const pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
                good = tid <= 0 || is_known(t, tid, &last) || add_thread(t, tid);
        }
        const int error = errno;
        (void)closedir(d);
        if (good && t->n == 0) {
                errno = ESRCH;
                return false;
        }
        errno = error;
        return good;
}

void os_threads_done(struct os_threads *t)
{
        for (size_t i = 0; i < t->n; i++)
                close_thread(&t->items[i]);
        free(t->items);
        *t = (struct os_threads){ .pid = t->pid };
}

uint64_t os_process_cpu_ns(pid_t pid)
{
        clockid_t clock;

        return clock_getcpuclockid(pid, &clock) == 0 ? clock_read_ns(clock) : 0;
}
