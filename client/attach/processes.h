/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * processes.h - the GHC-compiled programs that run on this machine, from /proc
 * and their files; nothing is asked of them.
 */
#ifndef HW_CLIENT_ATTACH_PROCESSES_H
#define HW_CLIENT_ATTACH_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/program/agent_fit.h"
#include "proto/base/error.h"

struct ghc_process {
        pid_t pid;
        char name[64]; /* of its file */
        struct agent_fit fit;
        uint64_t rss_bytes;
        bool agent;       /* it is in there already */
        struct error why; /* it cannot be attached to; "": it can */
};

/* Fills *ret. False when it is not a GHC-compiled program, or may not be looked at. */
bool process_look(pid_t pid, struct ghc_process *ret);

/* Calls `each` for all of them, in the order of their numbers. False when /proc cannot be read. */
bool processes_each(void (*each)(void *ctx, const struct ghc_process *p), void *ctx);

/* The one that is meant: a number, or the name of a file that is only there once. False with a sentence. */
bool process_find(const char *text, struct ghc_process *ret, struct error *error);

/* The heapwatch directory's socket of an agent in this process. */
void process_socket(const char *directory, pid_t pid, char *ret, size_t size);

#endif
