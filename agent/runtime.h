/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * runtime.h - what the agent does to a running runtime, and where it may.
 *
 * Threaded: from a thread of ours, with all capabilities stopped. Not
 * threaded: only on the program's own thread, between two steps of it
 * (runtime_point). Before the runtime has started, and after its end has
 * begun, nothing here may be called; the caller sees to that.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "agent/layout.h"
#include "proto/base/error.h"

#define RUNTIME_STRIPPED "the program is stripped: the runtime's variables cannot be found"
#define RUNTIME_SHARED   "the program's runtime is a shared library, whose variables cannot be found"
#define RUNTIME_NO_PROC  "there is no /proc here, which shows the runtime's variables and the program's options"

/* How this runtime is handled, by the symbols that it has. */
struct runtime_kind {
        bool threaded;
        bool profiled; /* linked with -prof */
        bool log;      /* it can write an eventlog */
        bool flush;    /* its buffers can be flushed */
        bool recent;   /* 9.2 and later: it flushes them itself, and can be paused */
        bool buffers;  /* before 9.2: its event buffers are understood as soon as there are any */
};

/* False with one plain sentence when nothing can be done with it. */
bool runtime_classify(const struct rts_symbols *symbols, struct runtime_kind *ret, struct error *error);

extern struct runtime_kind runtime_kind;

bool runtime_up(void); /* its start is over */

/* In the child of forkProcess: whether it is so far there. */
bool runtime_up_after_fork(void);

/* For an agent that is loaded into a process: whether that is a forked one, whose runtime was up before. */
bool runtime_assume_forked(void);

/* In that child, and in that process: before its log begins. */
void runtime_correct_clock_of_child(void);

bool runtime_logs(void); /* it writes events now */

/* Whether it writes them with its own file writer, which is made to write what it holds back. */
bool runtime_logs_to_file(void);

/* To be called first in the child of a fork: forgets a stop requested by a thread that is not there. */
void runtime_fork_child(void);

/* The log's time now; 0: not known. */
uint64_t runtime_elapsed_ns(void);

/* During the runtime's start, while its flags have their default values: finds the flags by these. */
void runtime_read_defaults(void);

/* Writes the event buffers out. On a thread of ours when threaded, else at a point. */
void runtime_flush(void);

/* Calls `act` while nothing else runs in the runtime. The same threads. */
void runtime_stopped(void (*act)(void));

/* Requests a census, which is taken with the next step of the program. */
void runtime_census(void);

/* To be called with everything stopped. False with a sentence: the program is as before. */
bool runtime_start_log(const char *classes, struct error *error);
void runtime_stop_log(void); /* flush first */
bool runtime_start_profile(char letter, struct error *error);
void runtime_stop_profile(void);

/*
 * At the end of the runtime, which destroys the lock of its list of tasks while the OS thread of a bound Haskell thread
 * may still be on its way through it: GHC 9.10 aborts then ("internal error", also without us). The lock is made again
 * and kept, so that such a thread waits there for the end of the process. Does nothing while the lock is a lock.
 */
void runtime_hold_leaving_threads(void);
void runtime_set_classes(const char *classes);

/* interpose.c: our replacements of functions of the C library. */

/*
 * The runtime's PROGRAM.hp is not worth losing the bands: where it cannot be written it goes to /dev/null. With
 * `unwanted` always: the profile is not the user's own.
 */
void interpose_profile_file(bool unwanted);

/*
 * profile_file.c: the file PROGRAM.hp, which the runtime opens for every heap
 * profile. When the profile is ours, nobody needs it.
 *
 * The runtime makes its name from prog_name. While it does, prog_name names a
 * link to /dev/null in the socket's directory, or, where that cannot be opened,
 * a file that is removed at once; then it is restored. The program's own
 * PROGRAM.hp, if there is one, is not touched.
 */

/* False with a plain sentence: nothing is changed. */
bool profile_file_divert(struct error *error);

/* `stream` is the runtime's; from now on what it writes there is dropped. May be called when nothing was diverted. */
void profile_file_restore(FILE **stream);
