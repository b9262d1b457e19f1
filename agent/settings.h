/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings.h - the agent's settings: the variable HEAPWATCH_AGENT, or the text
 * that `heapwatch attach` passes. Pure.
 *
 *      HEAPWATCH_AGENT='socket=/run/app/heap.sock;heap=T;interval=1;flush=1'
 *
 * The keys are in docs/AGENT.md. Nothing set: everything has its default.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/limits.h"
#include "proto/base/error.h"
#include "proto/base/rts_options.h"

#define AGENT_VARIABLE "HEAPWATCH_AGENT"

#define AGENT_NO_READER ((uid_t)-1)

struct agent_settings {
        bool off;                    /* do nothing */
        char socket[AGENT_PATH_MAX]; /* "": agent-PID.sock in the user's private directory */
        uid_t reader;                /* who is served besides the user and root; AGENT_NO_READER: nobody */
        bool once;                   /* only the first program that finds this socket's claim free */
        bool follow;                 /* further ones at "SOCKET-PID"; the environment stays, for what they start */
        char skip[128];              /* names, separated by colons: such programs are skipped */
        char classes[16];            /* of events, as after -l */
        char heap;                   /* 'T' by closure type, 'i' by info table, 0 none */
        int64_t interval_ns;         /* between censuses, in real time */
        int64_t flush_ns;            /* between flushes */
        double budget;               /* share of time in censuses, on average; 0: no limit */
        int64_t max_pause_ns;        /* no census is made that would pause the program longer; 0: no limit */
        size_t queue_bytes;
        int64_t linger_ns;                 /* at the end, for a reader that still takes bytes */
        int64_t await_ns;                  /* at the end, for the first reader to come */
        char options[256];                 /* of the runtime, read before the program's own; "": none */
        char symbols[AGENT_SYMBOLS_BYTES]; /* of a stripped program, as symbols_find_given() reads them; "": none */
};

void settings_default(struct agent_settings *s);

/* Takes "key=value;key=value". False with one plain sentence in `error`; *s may be changed then. */
bool settings_parse(struct agent_settings *s, const char *text, struct error *error);

/* Whether a program of this name is skipped: it is a wrapper, which hands the agent on. */
bool settings_skip(const struct agent_settings *s, const char *program);

/*
 * options.c: the program's own runtime options: -with-rtsopts, GHCRTS, and the
 * arguments between +RTS and -RTS. The program keeps them; what the runtime
 * refuses together with them is not done. Pure.
 */

/* What the program's own options say. */
struct own_options {
        bool log;          /* -l */
        bool no_log;       /* --null-eventlog-writer: there is one, and it is written nowhere */
        bool heap_profile; /* -h... */
        bool cost_profile; /* -p, -P: it names its files as the heap profile does */
        struct rts_collector collector;
};

void options_of_words(struct own_options *o, const char *words); /* -with-rtsopts, GHCRTS; NULL: none */

/* Arguments as /proc/PID/cmdline has them: each ends with NUL; those between +RTS and -RTS count. */
void options_of_arguments(struct own_options *o, const char *arguments, size_t size);

/* Why no heap profile can be added to these: one plain sentence; NULL when it can. */
const char *options_refuse_profile(const struct own_options *o);
