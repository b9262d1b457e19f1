/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * below.h - a GHC-compiled program below a wrapper (sudo, chroot, cabal, a script) that the agent is not in: which one,
 * and why not. From /proc; nothing of it is touched.
 */
#ifndef HW_CLIENT_RUN_BELOW_H
#define HW_CLIENT_RUN_BELOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/program/obstacle.h"

struct below {
        pid_t pid;        /* 0: none was found */
        char program[64]; /* its file's name, safe for a terminal */
        enum obstacle obstacle;
        uint64_t next_ms; /* when to search again, ever more rarely: each time all their files are read */
        unsigned pause_ms;
};

/*
 * Searches what `wrapper` is and has started, when it is time to; `skips`: the agent passes tools over. What it has
 * found stays until it finds another program; a tool does not take the place of one.
 */
void below_search(struct below *b, pid_t wrapper, bool skips, uint64_t now_ms);

#endif
