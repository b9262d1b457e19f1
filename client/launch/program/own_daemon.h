/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * own_daemon.h - the user's daemon, as `run`, `attach` and `top` start it: detached, and keeping what outlives it in
 * the user's directory for state: checkpoints, recordings, its log, and how it ended (proto/base/daemon_life.h).
 */
#pragma once

#include <stdbool.h>

struct error;

#define OWN_DAEMON_TEXT 1200

struct own_daemon {
        char text
                [OWN_DAEMON_TEXT]; /* one sentence: that it was started, why, and what it keeps where; "": it was not */
        char log[OWN_DAEMON_TEXT]; /* the file of its log */
};

/*
 * Starts the daemon of the endpoint, detached; `directory` is that of its sockets. It keeps checkpoints and recordings
 * when `records` is set, and where they can be kept. Does not wait until it answers. False with `error`: it cannot be
 * started.
 */
bool own_daemon_start(const char *publish, const char *directory, bool records, struct own_daemon *ret,
                      struct error *error);

/* Whether another process has its directory: a daemon that begins just now, or one that nobody can reach any more. */
bool own_daemon_is_alive(const char *publish);

/* Whether it has crashed or was killed, and it is time to start it again: later, when that happens again and again. */
bool own_daemon_is_due(const char *publish);

/*
 * For a command that only reads: starts the user's daemon again if it has crashed or was killed, with or without
 * checkpoints and recordings as before, and waits for at most wait_ms until it listens. False: nothing was started.
 */
bool own_daemon_restart(int wait_ms, struct own_daemon *ret);
