/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * census_reader.h - censuses without a pause for a program that its agent serves: a process of its own,
 * `heapwatch-inspect watch --for-agent`, reads the program's heap from outside after collections that were made anyway,
 * and gives the censuses to the agent, on the same connection. The agent writes them into the program's log, so that
 * they come to all its readers and into recordings, and makes none itself meanwhile (docs/AGENT.md).
 *
 * Where the kernel does not permit it, or the agent is of a release before, the agent goes on making its own.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/source/backoff.h"

struct event_base;

struct census_reader {
        struct event *timer; /* NULL: it is not wanted */
        struct backoff backoff;
        int socket; /* borrowed: the connection to the agent */
        int life;   /* our end of the child's standard input, which ends with us; -1: there is no child */
        int err;    /* its standard error */
        pid_t child, program;
};

/* Whether there is one, from now on; at first there is. */
void census_reader_allow(bool allowed);

/* Begins a moment after this, for a program that lasts. Nothing where the socket's other side is no process of ours. */
void census_reader_begin(struct census_reader *r, struct event_base *base, int socket);

/* Before the socket is closed. Also one that has not begun: all bytes 0. */
void census_reader_end(struct census_reader *r);

/* heapwatch-inspect as a child of the daemon: its memory, its last sentence, and its end. */

#define INSPECTOR_SENTENCE 400

/* Bytes of address space that each may need, from now on; 1 GiB at first. */
void inspector_set_memory(uint64_t bytes);

/* The same, for an argument. */
#define INSPECTOR_MEMORY 24
void inspector_print_memory(char ret[INSPECTOR_MEMORY]);

/* What it said on its standard error, a pipe whose end does not block, as a text for a terminal; "": nothing. */
void inspector_sentence(int err, char ret[INSPECTOR_SENTENCE]);

/* Ends it, if there is one, at once: it stops no program and leaves nothing. *child is 0 then. */
void inspector_end(pid_t *child);
