/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run_life.h - the life of a `heapwatch run` in a file of its private directory, RUNTIME/run-XXXXXX/life: the runner
 * holds its lock, and writes which program it has started and how that ended.
 *
 * So a daemon knows of a target that waits whether anything can still come, also when runner and program were killed
 * at once, and learns of an end that could not be reported to it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define RUN_LIFE_DIRECTORY "run-XXXXXX" /* in the daemon's directory; for mkdtemp() */

enum run_life_end {
        RUN_LIFE_NONE,    /* the directory is gone */
        RUN_LIFE_UNKNOWN, /* the file is not there */
        RUN_LIFE_RUNS,    /* the runner, the program, or what that has forked */
        RUN_LIFE_ENDED,   /* the program, as the runner saw */
        RUN_LIFE_KILLED,  /* neither of them is there, and no end was written */
};

struct run_life {
        enum run_life_end end;
        uint32_t pid;            /* of the program, or of what has started it; 0: not known */
        uint32_t status, signal; /* of RUN_LIFE_ENDED; signal 0: it ended with the status */
};

/* Begins the life of this process's run. A descriptor to be kept open until its end, or -errno. */
int run_life_begin(const char *directory);

/* The program was started; it ended. `fd` may be -1. */
void run_life_started(int fd, pid_t program);
void run_life_ended(int fd, int wait_status);

/* Must not be called by the runner itself. What the file says is checked like any other input. */
void run_life_read(const char *directory, struct run_life *ret);

/* The directory of a run whose agent's socket has this path. False: it is another socket. */
bool run_life_directory(const char *socket, char *ret, size_t size);

/* Whether this is the socket of a process that `run --follow` has found, SOCKET-PID, and that process is there. */
bool run_life_has_living_socket(const char *socket);

/*
 * Removes a run's directory and what is in it, but not the output of its program, unless that is empty, nor sockets of
 * processes that go on: their daemon may not have connected to them yet.
 */
void run_life_remove(const char *directory);

/* Removes directories in `parent` whose run was killed, or ended a day ago unknown to a daemon; no new ones. */
void run_life_sweep(const char *parent);

/* "SEGV" for SIGSEGV; NULL for a real-time signal, and for what is none. Static. */
const char *signal_name(int signal);
