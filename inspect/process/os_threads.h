/* SPDX-License-Identifier: BSD-3-Clause */
/* os_threads.h - the operating system's threads of a process, and the CPU time of each (/proc/PID/task). */
#ifndef HW_INSPECT_PROCESS_OS_THREADS_H
#define HW_INSPECT_PROCESS_OS_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct thread_times {
        uint64_t cpu_ns;
        uint64_t waited_ns; /* runnable, without a processor */
};

struct os_thread {
        pid_t tid;
        int times_fd, stat_fd;
        struct thread_times sampled; /* its times when it was last sampled, or found */
        uint64_t seen_cpu_ns;        /* when it was last read */
        unsigned idle;               /* how often in turn it had not run since */
};

struct os_threads {
        pid_t pid;
        struct os_thread *items;
        size_t n, capacity;
};

/*
 * Adds threads that are new, and removes those that have ended. False with an errno: ESRCH or ENOENT when all have,
 * EOPNOTSUPP when the kernel does not count their times.
 */
bool os_threads_list(struct os_threads *t);
void os_threads_done(struct os_threads *t);

/* As the kernel last booked them: of a thread that runs, up to some milliseconds ago. False: it has ended. */
bool os_thread_times(const struct os_thread *t, struct thread_times *ret);

/* Running, or waiting for a processor; not for anything else. */
bool os_thread_is_running(const struct os_thread *t);

/* A signal (SIGSTOP, Ctrl-Z) has stopped its process. */
bool os_thread_is_suspended(const struct os_thread *t);

/* CPU time of all of them, those that have ended included. 0: not known. */
uint64_t os_process_cpu_ns(pid_t pid);

#endif
