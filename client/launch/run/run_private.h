/* SPDX-License-Identifier: BSD-3-Clause */
/* run_private.h - a run of one program, for the files of this folder that make it and end it. */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/cli/options.h"
#include "client/launch/run/daemon.h"
#include "client/launch/run/inside.h"
#include "proto/base/error.h"
#include "proto/base/limits.h"

/*
 * What `heapwatch run` writes to standard error, without ever waiting.
 *
 * The reader of standard error may have stopped (a terminal after Ctrl-S, a full pipe). The program must start all the
 * same, and its end must be seen. So notices wait in NOTICES_BYTES and are written as there is room; what does not fit
 * is left out and counted.
 */

#define NOTICES_BYTES 8192u

struct notices {
        int fd;         /* our own, for O_NONBLOCK; or standard error itself */
        bool is_socket; /* written with MSG_DONTWAIT */
        bool own;
        size_t used;
        unsigned long left_out;
        char bytes[NOTICES_BYTES];
};

void notices_open(struct notices *n);

/* "heapwatch run: ..." and a newline, in whole or not at all; writes what can be written now. */
void notices_print(struct notices *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For poll(2): waits for room while something waits to be written. After it, notices_write(). */
struct pollfd notices_pollfd(const struct notices *n);
void notices_write(struct notices *n);

/* Waits at most wait_ms for what is left to be taken. */
void notices_close(struct notices *n, int wait_ms);

struct session_result;
struct world_target;

struct run_options {
        const char *name, *heap_profile, *extra;
        bool no_top, plain, close, no_agent, follow;
        uint64_t end_hung_ns; /* UINT64_MAX: never */
        struct text_list labels;
        struct census_options censuses;
        struct daemon_wish wish;
        char **program;
};

/* What is acquired on the way, to be released in reverse. */
struct program_run {
        struct run_options o;
        char path[4096];      /* of the program */
        struct inside inside; /* if from_inside */
        bool from_inside;
        bool is_haskell;                          /* it has GHC's runtime: known where it is not watched from inside */
        char process_reason[PROCESS_REASON_SIZE]; /* why it is not watched from inside */
        struct daemon_link link;
        char directory[320]; /* private; has the agent's socket and output */
        int life;            /* of this run, in it: proto/base/run_life.h; -1: none */
        char agent[340], output[340];
        int output_fd;
        char target[DAEMON_NAME_MAX], uri[DAEMON_URI_MAX];
        uint64_t daemon_started_ns; /* of the daemon that has it: daemon_started_ns */
        struct notices notices;     /* all that is said before the program starts and after: nothing holds it */
        bool watched;
        bool unnamed;    /* a wrapper: the target gets the name of the program below it */
        bool silent;     /* the daemon has not answered yet */
        bool late;       /* the daemon has not answered: watching begins when it does */
        bool mistaken;   /* it must not start */
        bool ran;        /* watched, to its end */
        bool unreported; /* the daemon has not taken the end: it finds it in the directory */
};

/*
 * Whether nothing more about the end of the run will come from the daemon. `program_lives`: what is watched is another
 * process than the one that ended, and goes on. Pure.
 */
bool run_end_is_settled(const Hw__Target *target, bool program_lives);

/*
 * Asks the daemon until it has seen the end of the log, which is on its way, or the beginning of one that goes on: soon
 * again, then less often. The time is limited only because another program may keep the daemon busy. Whether *ret_world
 * has the target.
 */
bool run_await_end(const struct program_run *r, const struct session_result *result, struct world **ret_world);

/* What was seen of it: "; most live 36.4 MiB; ...; largest band at the end: [Int] (GHC.Types.:), 17.8 MiB". Pure. */
void run_facts_text(char *out, size_t size, const struct world_target *t);

/* The verdict on live data: its sentence, when growth began, and what the program said around that time. Pure. */
void run_verdict_text(char *out, size_t size, const Hw__Trend *t);

/* How the program ended, what was seen of it, and where that can be looked at. */
void run_sum_up(struct program_run *r, const struct session_result *result);

/* Names the file with the program's output, or removes it when it is empty. */
void run_print_output(struct program_run *r);
