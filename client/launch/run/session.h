/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.h - one watched program from its start to its end: starts it (and the
 * screen), forwards signals, reports to the user.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/launch/program/agent_fit.h"
#include "client/launch/run/daemon.h"
#include "proto/base/error.h"

/*
 * A GHC-compiled program below a wrapper (sudo, chroot, cabal, a script) that the agent is not in: which one,
 * and why not. From /proc; nothing of it is touched.
 */

struct below {
        pid_t pid;        /* 0: none was found */
        char program[64]; /* its file's name, safe for a terminal */
        enum obstacle obstacle;
        bool is_tool;     /* which builds or starts others */
        uint64_t next_ms; /* when to search again, ever more rarely: each time all their files are read */
        unsigned pause_ms;
        pid_t planned; /* given what the agent needs before it started, stripped or not; 0: a wrapper, which is not */
};

/*
 * Searches what process `top` has started, when it is time to, for a program without the agent; `skips`: the agent
 * passes tools over. What it has found stays until it finds another program; a tool does not take the place of one.
 */
void below_search(struct below *b, pid_t top, bool skips, uint64_t now_ms);

struct program_run;

/* How the program ended, and how long it took. */
struct session_result {
        pid_t program;   /* the process that was started */
        int wait_status; /* as of waitpid */
        bool out_of_cpu; /* killed at its limit of processor time */
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

/*
 * adder.c: gives the target to the daemon while the program is running, and starts
 * a daemon that has died again: in a short-lived child, because requests wait.
 */

struct adder {
        pid_t pid;         /* of the child; 0: none */
        int answer;        /* pipe from it */
        uint64_t tried_ms; /* when it was started */
};

struct adder_task {
        const struct daemon_link *link;
        const char *name, *uri;
        const char *former_uri; /* of the target that is ours so far, which this one takes the place of; "": none */
        bool exact;             /* as daemon_add */
        bool reopen; /* a target of this uri that has no run yet is removed before, so that its source is opened now */
        pid_t outside;     /* the process of that uri, to be watched from outside if that can be; 0: not tried */
        bool is_new;       /* it has just been started: its heap is waited for */
        pid_t unreachable; /* its agent's socket is gone: from outside, unless the daemon has it; 0: it is there */
        struct daemon_wish wish;
        const sigset_t *mask; /* for the child */
};

struct adder_answer {
        enum daemon_outcome outcome;
        char name[DAEMON_NAME_MAX]; /* with DAEMON_OK, */
        char uri[DAEMON_URI_MAX];   /* and its source, */
        bool from_outside;          /* which reads its memory */
        char not_outside[256];      /* why it is not, where that was tried; "" */
        uint64_t daemon_started_ns; /* and the daemon that has it: daemon_started_ns */
        struct error reason;        /* otherwise */
};

/* Does nothing while a child is at it, and for a second after it began. */
void adder_start(struct adder *a, const struct adder_task *task, uint64_t now_ms);

/* The child was reaped: what the daemon said. */
void adder_ended(struct adder *a, struct adder_answer *ret);

/*
 * hung.c: recognises a deadlocked program: each of its threads waits for
 * another of its threads, without a timeout.
 *
 * GHC's own flush interval leaves programs in this state at exit (GHC issue
 * 26573). Read from /proc; `root` is "" except in tests.
 */

#define HUNG_AFTER_MS    5000 /* it is reported after this long without any progress */
#define HUNG_THREADS_MAX 4096 /* a program with more is never called hung */

struct hung {
        pid_t pid;
        long long since_ms;   /* when the state was first seen; -1: not in it */
        uint64_t fingerprint; /* of all threads and their CPU time at that moment */
};

void hung_init(struct hung *h, pid_t pid);

/*
 * Checks once, at monotonic time now_ms. Returns for how many ms it has been
 * deadlocked, 0 when it is not or when that cannot be known.
 */
long long hung_check(struct hung *h, const char *root, long long now_ms);

/*
 * follow.c: the GHC-compiled programs that a watched one starts, with `run --follow`: the agent in each has its own
 * socket beside the first one's, "SOCKET-PID". Each becomes a target, named after its file.
 */

#define FOLLOW_AT_ONCE 256 /* sockets at a time; further ones wait until some are gone */
#define FOLLOW_MS      100 /* from one check to the next */

struct follow {
        pid_t seen[FOLLOW_AT_ONCE]; /* those that exist and are known */
        unsigned count;
};

/* The process of a socket beside `socket` that was not there at the last check; 0: none. */
pid_t follow_next(struct follow *f, const char *socket);

/* Adds it to the daemon, and tries again while that is silent: it may take some seconds. False: it is not watched. */
bool follow_add(const struct daemon_link *link, const char *socket, pid_t pid, const struct daemon_wish *wish);

/*
 * Of the processes that the program with the claim on `socket` has forked, and that have executed no other program:
 * whether one is not among those that follow_next() has found. While it can run, its agent may soon have a socket.
 */
enum follow_unserved { UNSERVED_NONE, UNSERVED_SLEEPS, UNSERVED_RUNS };

enum follow_unserved follow_unserved(const struct follow *f, const char *socket);

/* At the end: removes the sockets of programs that were killed. */
void follow_clean(const char *socket);
