/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.h - one watched program from its start to its end: starts it (and the
 * screen), relays its log, forwards signals, reports to the user.
 */
#ifndef HW_CLIENT_RUN_SESSION_H
#define HW_CLIENT_RUN_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "client/run/below.h"
#include "client/run/daemon.h"
#include "client/run/inside.h"
#include "client/run/relay.h"

struct session_options {
        const char *path;   /* of the program */
        char *const *argv;  /* its arguments, argv[0] included */
        const char *ghcrts; /* its RTS flags; NULL with `inside` and `process_only` */
        bool outside;       /* with `process_only`: it is a GHC-compiled program, which outside is tried for */
        bool process_only;  /* its process, or its memory from outside: the target is added when it has a number */
        const struct inside *inside;  /* how it is watched from inside; NULL: by the relay */
        const struct inside *preload; /* with ghcrts: how only the program's runtime gets them; NULL: by GHCRTS */
        bool follow;                  /* with `inside`: what the program starts is watched, too */
        const char *socket;           /* with `inside`: the agent's */
        const char *target;           /* its name in the daemon */
        bool late;                    /* the daemon has not taken the target yet: it is added meanwhile */
        bool silent;                  /* with `late`: because the daemon has not answered, which was said */
        bool exact;                   /* with `late`: under no other name */
        bool unnamed;                 /* with `late`: under the name of the program that is found below a wrapper */
        const char *uri;
        uint64_t daemon_started_ns; /* unless `late`: the daemon that has the target (daemon_started_ns) */
        struct daemon_wish wish;
        const struct daemon_link *link;
        struct relay *relay; /* NULL with `inside` */
        bool screen;         /* show heapwatch top; the program's output goes to output_fd */
        bool plain;          /* as text, not as a full screen */
        bool close_screen;   /* when the program ends, not when the user says so */
        int output_fd;       /* with screen; otherwise -1 */
        const char *output_path;
        long long end_hung_ms; /* -1: never */
        struct notices *notices;
};

/* How the program ended, and how long it took. */
struct session_result {
        pid_t program;   /* the process that was started */
        int wait_status; /* as of waitpid */
        double seconds;
        bool ended_hung;              /* by us */
        char target[DAEMON_NAME_MAX]; /* its name in the daemon; "": the daemon never took it */
        char uri[DAEMON_URI_MAX];     /* and its source there */
        bool left_unserved;           /* with `follow`: a process that it has forked goes on unwatched */
        bool alone;                   /* of a program below a wrapper only the process was watched */
        struct below below;           /* under a wrapper: what the agent is not in, and why */
};

/* 0, or -errno when the program could not be started. Returns after the program (and the screen) ended. */
int session_run(const struct session_options *options, struct session_result *ret_result);

#endif
