/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.h - one watched program from its start to its end: starts it (and the
 * screen), forwards signals, reports to the user.
 */
#ifndef HW_CLIENT_RUN_SESSION_H
#define HW_CLIENT_RUN_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/program/obstacle.h"
#include "client/run/daemon.h"

/*
 * A GHC-compiled program below a wrapper (sudo, chroot, cabal, a script) that the agent is not in: which one,
 * and why not. From /proc; nothing of it is touched.
 */

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

struct program_run;

/* How the program ended, and how long it took. */
struct session_result {
        pid_t program;   /* the process that was started */
        int wait_status; /* as of waitpid */
        double seconds;
        bool ended_hung;              /* by us */
        char target[DAEMON_NAME_MAX]; /* its name in the daemon; "": the daemon never took it */
        char uri[DAEMON_URI_MAX];     /* and its source there */
        bool is_reported;             /* the end, to the daemon; or there is none to report */
        bool claimed;                 /* the agent was seen in the program */
        bool left_unserved;           /* with `follow`: a process that it has forked goes on unwatched */
        bool alone;                   /* of a program below a wrapper only the process was watched */
        struct below below;           /* under a wrapper: what the agent is not in, and why */
};

/*
 * Of a run that is prepared: 0, or -errno when the program could not be started. Returns after the program (and the
 * screen) ended.
 */
int session_run(struct program_run *run, struct session_result *ret_result);

#endif
