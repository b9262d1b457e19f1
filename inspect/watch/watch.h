/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watch.h - a program watched from outside until it ends: what is read of it goes out as an eventlog (log.h), or as
 * censuses to the agent in it. It is never stopped, and nothing is written into its memory.
 */
#ifndef HW_INSPECT_WATCH_WATCH_H
#define HW_INSPECT_WATCH_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "inspect/ghc/layout.h"
#include "inspect/ghc/stack_profile.h"
#include "inspect/process/stop.h"
#include "proto/base/error.h"

/*
 * Writes to `fd` until the process ends or nobody reads any more: true. False with a sentence: it cannot be watched, or
 * not any more. `memory_bytes`: most that a census may need; without the memory there are none, and the log says so.
 */
bool watch_heap(int fd, pid_t pid, struct ghc *g, uint64_t memory_bytes, struct error *error);

/*
 * The same for a program that its agent serves, on whose socket `fd` is: nothing but censuses, each right after a major
 * collection, which the agent writes into the program's own log. False also for an agent that does not do that. It ends
 * when standard input does: that of a pipe, whose other end its starter has.
 */
bool watch_for_agent(int fd, pid_t pid, struct ghc *g, uint64_t memory_bytes, struct error *error);

/* profile.c: takes samples of a running program's stacks: each of its threads that runs is stopped for a moment. */

struct profiling {
        uint64_t for_ns;
        unsigned hz;          /* of each thread that runs */
        bool by_allocation;   /* weighted by what Haskell threads allocate, in place of CPU time */
        bool with_waiting;    /* also what Haskell threads wait for, which does not stop them */
        uint64_t max_stop_ns; /* a longer stop ends by itself, without a sample */
        void (*report)(void *ctx, const struct stack_profile *so_far); /* each second; NULL: only at the end */
        void *ctx;
};

/*
 * Until the time is over, the program ends, or SIGINT or SIGTERM comes. The program runs then. Unless STOPPED, there is
 * a sentence; with it the profile may be empty, when the program waits.
 */
enum stopped profile_process(struct stack_profile *ret, struct ghc *g, pid_t pid, const struct profiling *how,
                             struct error *error);

#endif
