/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stop.h - all threads of a process stopped for a moment (ptrace(2), PTRACE_SEIZE): no signal is involved. Whatever
 * happens to us, it continues: the kernel releases it when we end, and a timer when the time is over.
 *
 * One stop at a time in this process. Only one stops a process at a time: by a lock on its /proc/PID/stat.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "inspect/memory/program.h"

enum stopped { STOPPED, STOPPED_REFUSED, STOPPED_NOT };

/*
 * Stops it for at most `most_ns` and puts the registers of its threads into the program. Unless STOPPED, it runs and
 * there is a sentence.
 */
enum stopped stop_begin(pid_t pid, uint64_t most_ns, struct program *program, struct error *error);

/* Stops one thread of it that runs, the same way; without waiting when another command has stopped it (STOPPED_NOT). */
enum stopped stop_thread(pid_t pid, pid_t tid, uint64_t most_ns, struct registers *ret);

/* The time is over: it runs, and what was read meanwhile may not be of one moment. */
bool stop_is_over(void);

/* It runs again. Returns for how long it was stopped, from the first thread to the last. */
uint64_t stop_end(void);

/* tracer.c: the right to trace a program, from its agent, where a kernel with yama gives it to nobody else. */

/*
 * After the kernel has refused (EPERM). True: an agent in the process has allowed us to trace it, so that it is worth
 * another try. Another inspection may get that right later: then we have it no more.
 */
bool tracer_request(pid_t pid);

/* os_threads.c: the operating system's threads of a process, and the CPU time of each (/proc/PID/task). */

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
