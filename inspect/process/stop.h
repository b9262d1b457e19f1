/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stop.h - all threads of a process stopped for a moment (ptrace(2), PTRACE_SEIZE): no signal is involved. Whatever
 * happens to us, it continues: the kernel releases it when we end, and a timer when the time is over.
 *
 * One stop at a time in this process. Only one stops a process at a time: by a lock on its /proc/PID/stat.
 */
#ifndef HW_INSPECT_PROCESS_STOP_H
#define HW_INSPECT_PROCESS_STOP_H

#include <stdbool.h>
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

#endif
