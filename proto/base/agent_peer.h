/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent_peer.h - the agent in a program of another user, or with a file system of its own, as root names its socket.
 *
 * The socket is in a directory of that user, who may put anything in its place. So its path begins with
 * /proc/PID/root, which leads into the program's file system, and whoever connects checks that this process listens
 * there, before it reads or writes a byte.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/base/error.h"

/* The path for root of the socket that the process itself has at `path`. False when it is too long. */
bool agent_peer_path(pid_t process, const char *path, char *ret, size_t size);

/* The process that a path from agent_peer_path() names; 0: any other path. */
pid_t agent_peer_process(const char *path);

/* Whether a connection to `path` reached the process that it names. True where it names none. */
bool agent_peer_listens(const char *path, int fd);

/*
 * The process that was attached to, by the URI of its agent's socket: as root names it, else by the number in the name,
 * which is that of its own namespace. 0: any other URI.
 */
pid_t agent_peer_number(const char *uri);

/* Whether a source's URI is the socket of an agent, which flushes its log and takes censuses by a budget. */
bool agent_peer_is_uri(const char *uri);

/* agent_request.c: one request to an agent, on its socket (docs/AGENT.md). */

/*
 * For the answer, where the user waits and can end that: a program that is not threaded gives it at its next
 * collection, others when their threads have been stopped, which takes seconds where much else is to do.
 */
#define ASK_MS 30000

/*
 * What it answered after "ok" in ret_said (may be NULL). False with an error
 * message: nobody is there, no answer came within `wait_ms`, or the agent's
 * reason to refuse.
 */
bool agent_request(const char *path, const char *request, uint64_t wait_ms, char *ret_said, size_t size,
                   struct error *error);
