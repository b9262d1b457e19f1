/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * follow.h - the GHC-compiled programs that a watched one starts, with `run --follow`: the agent in each has its own
 * socket beside the first one's, "SOCKET-PID". Each becomes a target, named after its file.
 */
#ifndef HW_CLIENT_RUN_FOLLOW_H
#define HW_CLIENT_RUN_FOLLOW_H

#include <stdbool.h>
#include <sys/types.h>

#include "client/run/daemon.h"

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

#endif
