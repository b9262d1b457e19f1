/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN - /proc/PID/task/T/syscall names the system call in which a thread
 * sleeps, and its arguments. A thread that waits in futex(2) without a timeout
 * wakes only when another thread of the process wakes it (or by a signal). When
 * all threads wait so, none is left to do that. A healthy idle program is
 * different: its I/O manager sits in epoll_wait or poll, its timer in timerfd
 * read or nanosleep, its main thread in select.
 *
 * Futexes in memory shared with other processes would be an exception; the RTS
 * has none. The threads' CPU times and numbers are folded into a fingerprint,
 * so that threads that wake between two checks restart the clock. Where the
 * file cannot be read (hidden by the kernel), the program does not count as
 * hung.
 */
#include "client/launch/run/session.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "proto/base/kernel_file.h"
#include "proto/base/process_stat.h"

#define PATH_BYTES                256
#define FUTEX_COMMAND             127u /* without the PRIVATE and CLOCK bits */
#define FUTEX_WAIT_COMMAND        0u
#define FUTEX_WAIT_BITSET_COMMAND 9u

void hung_init(struct hung *h, pid_t pid)
{
        *h = (struct hung){ .pid = pid, .since_ms = -1 };
}

/* "202 0xADDRESS 0xOPERATION 0xVALUE 0xTIMEOUT ..." */
static bool waits_for_ever(const char *text)
{
        unsigned long long number, operation, timeout;

        if (sscanf(text, "%llu %*s %llx %*s %llx", &number, &operation, &timeout) != 3 || number != SYS_futex)
                return false;
        unsigned command = (unsigned)operation & FUTEX_COMMAND;
        return (command == FUTEX_WAIT_COMMAND || command == FUTEX_WAIT_BITSET_COMMAND) && timeout == 0;
}

static uint64_t fold(uint64_t sum, uint64_t value)
{
        return (sum ^ value) * 0x9e3779b97f4a7c15u + (sum >> 29);
}

/* Whether thread `tid` waits forever; adds it to the fingerprint. */
static bool thread_stuck(const char *tasks, const char *tid, uint64_t *sum)
{
        char text[1024];
        unsigned long long user, system;

        if (kernel_file_read(text, sizeof(text), "%s/%s/syscall", tasks, tid) <= 0 || !waits_for_ever(text) ||
            kernel_file_read(text, sizeof(text), "%s/%s/stat", tasks, tid) <= 0)
                return false;
        const char *ticks = process_stat_find(text, STAT_USER_TICKS); /* of the user, then of the system */
        if (!ticks || sscanf(ticks, "%llu %llu", &user, &system) != 2)
                return false;
        *sum = fold(fold(*sum, strtoull(tid, NULL, 10)), user + system);
        return true;
}

/* Whether every thread of the process waits forever. */
static bool process_stuck(const char *root, pid_t pid, uint64_t *ret_sum)
{
        char tasks[PATH_BYTES];
        const struct dirent *e;
        unsigned n = 0;
        bool stuck = true;

        if ((size_t)snprintf(tasks, sizeof(tasks), "%s/proc/%d/task", root, (int)pid) >= sizeof(tasks))
                return false;
        DIR *d = opendir(tasks);
        if (d == NULL)
                return false;
        *ret_sum = 0;
        while (stuck && (e = readdir(d)) != NULL)
                if (e->d_name[0] != '.')
                        stuck = ++n <= HUNG_THREADS_MAX && thread_stuck(tasks, e->d_name, ret_sum);
        (void)closedir(d);
        return stuck && n > 0;
}

long long hung_check(struct hung *h, const char *root, long long now_ms)
{
        uint64_t sum = 0;

        if (!process_stuck(root, h->pid, &sum)) {
                h->since_ms = -1;
                return 0;
        }
        if (h->since_ms < 0 || sum != h->fingerprint) {
                h->since_ms = now_ms;
                h->fingerprint = sum;
        }
        return now_ms - h->since_ms;
}
