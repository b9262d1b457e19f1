/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * server.h - the socket: gives the log to whoever connects.
 *
 * Each reader gets a whole, valid log: the first one everything since the start,
 * later ones the header and all definitions, then what comes. A reader that is
 * too slow misses whole blocks; the stream says how many (reader.h). Requests
 * (control.h) come on the same connection. Who may connect: listener.h.
 *
 * Everything but server_open and server_notify is done by one thread of its own,
 * which never touches the runtime. It never waits for a reader.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/budget.h"
#include "agent/settings.h"
#include "proto/base/error.h"

/*
 * Decides on the socket's path, as listener_choose_path. The thread opens it later, so that a process that is forked
 * only to fork another one and end is not served. What is logged until then is kept for the first reader.
 */
bool server_prepare(const struct agent_settings *s, struct error *error);

/* The same, and opens it at once. */
bool server_open(const struct agent_settings *s, struct error *error);

/* Gives up the path and the claim. */
void server_abandon(void);

/* Starts the thread. 0 or an errno. */
int server_start(void);

/*
 * No more will come: delivers what is left, for at most the settings' linger
 * and await, and ends. From the thread that ends the log.
 */
void server_finish(void);

/* A notice or an answer, into the stream of every reader. From any thread. Cut at AGENT_MESSAGE_BYTES. */
void server_notify(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Around fork(2): in the child all that is ours is closed. */
void server_fork_prepare(void);
void server_fork_parent(void);
void server_fork_child(void);

/* What the thread knows, for other threads. */
struct server_facts {
        struct census_facts census;
        uint64_t censuses_taken;
        uint64_t censuses_given; /* read from outside, and written into the log (given.c) */
        uint64_t readers;        /* now */
        uint64_t left_out_bytes; /* for slow readers */
        uint64_t definitions_left_out, not_understood;
};

struct server_facts server_facts(void);

const char *server_path(void);
