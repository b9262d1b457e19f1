/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shutdown.h - the daemon ends within STOP_S of being told to, whatever it watches and however busy machine and disk
 * are.
 *
 * All that it waits for then shares that time, in the order of the parts: each has until its own end, and what the
 * parts before it have left over. What is not done by then is left as it is, and said.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define STOP_S 5

enum stop_part {
        STOP_NOTIFIER,
        STOP_COPIES,      /* of the targets' state, */
        STOP_CHECKPOINTS, /* and writing them */
        STOP_RECORDINGS,
        STOP_SILENCES,
};

/* The time begins. Before that each part has what it would have if it began with the call. */
void shutdown_begin(void);

uint64_t shutdown_left_ns(enum stop_part part);

/* Waits for the end of a thread. False: it goes on. */
bool shutdown_join(pthread_t thread, enum stop_part part);

/* Waits for the end of a child. *ret_status is as of waitpid(2); 0: it is not ours. False: it goes on. */
bool shutdown_reap(pid_t child, int *ret_status, enum stop_part part);

/*
 * crash.c: a daemon that crashes writes which signal it was, at which address, and its stack to standard error, and
 * into the file of its life (proto/base/daemon_life.h). Then the signal does what it would have done.
 */

/* From now on. `life`: its descriptor, or -1. Does nothing under a sanitizer, which reports crashes itself. */
void crash_catch(int life);
