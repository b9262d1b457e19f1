/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * processes.h - the GHC-compiled programs that run on this machine, from /proc
 * and their files; the programs themselves are not touched.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/launch/program/agent_fit.h"
#include "proto/base/error.h"

struct ghc_process {
        pid_t pid;
        uid_t user;     /* effective; (uid_t)-1: not known */
        char name[256]; /* of its file, safe for a terminal */
        struct agent_fit fit;
        uint64_t rss_bytes;
        bool agent;    /* it is already in the process */
        char *symbols; /* by process_reveal(): for the agent, as hidden_symbols.h has them; NULL: none */
        enum obstacle obstacle;
        struct error why; /* its obstacle in words; "": it can be attached to */
};

/* Of a stripped program: finds its runtime's symbols for the agent, and where all are found judges it anew. */
void process_reveal(struct ghc_process *p);

/* Calls `each` for all that may be inspected, in the order of their numbers. False when /proc cannot be read. */
bool processes_each(void (*each)(void *ctx, const struct ghc_process *p), void *ctx);

/* The number of a process, or of that whose file has the name; whatever it is. False with an error message. */
bool process_number(const char *text, pid_t *ret, struct error *error);

/* The process of a number, or of the name of a file that runs only once. False with an error message. */
bool process_find(const char *text, struct ghc_process *ret, struct error *error);

/* Where `attach` puts the socket of the agent in a process of ours: in the heapwatch directory. */
void process_socket(const char *directory, pid_t pid, char *ret, size_t size);

/* The same in a process of another user or file system, as proto/base/agent_peer.h names it. False: it has none. */
bool process_socket_apart(pid_t pid, char *ret, size_t size);
