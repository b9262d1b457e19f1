/* SPDX-License-Identifier: BSD-3-Clause */
/* profile.h - takes samples of a running program's stacks: each of its threads that runs is stopped for a moment. */
#ifndef HW_INSPECT_WATCH_PROFILE_H
#define HW_INSPECT_WATCH_PROFILE_H

#include <sys/types.h>

#include "inspect/ghc/stack_profile.h"
#include "inspect/process/stop.h"

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
