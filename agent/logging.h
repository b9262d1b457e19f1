/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * logging.h - what is logged: the eventlog and the heap profile in it, begun and
 * ended. Where the runtime has no eventlog the log is made from its own figures
 * (synthetic.h).
 *
 * All but the questions are to be called with everything stopped (runtime.h).
 * Those that return a bool give the reason, one plain sentence, when it is false.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "agent/settings.h"
#include "proto/base/error.h"

struct logging_setup {
        const char *version; /* of GHC; "": not known */
        const char *classes; /* of events, as after -l */
        bool forked;         /* the process is a child of forkProcess, whose log has begun with it */

        /* The program's own runtime options; all of them are known once the runtime's start is over. Any thread. */
        void (*parse_options)(struct own_options *ret);
};

/* The texts are copied. Before anything else. */
void logging_setup(const struct logging_setup *setup);

bool logging_runs(void);
char logging_profile(void); /* 'T' by closure type, 'i' by info table; 0: none */
const char *logging_classes(void);

/* Why no heap profile can be added to the program's own options, which are looked at now; NULL when it can. */
const char *logging_refuses_profile(void);

/*
 * To be called before logging_start, with nothing stopped: reads the beginning of the log that the program writes
 * itself, if it does.
 */
void logging_prepare(void);

bool logging_start(struct error *error);
bool logging_stop(struct error *error); /* the heap profile, too; flush first */
bool logging_set_classes(const char *classes, struct error *error);
bool logging_start_profile(char letter, struct error *error);
void logging_stop_profile(void);

/* Writes out what the program has logged. On a thread of ours when the runtime is threaded, else at a point. */
void logging_flush(void);

/*
 * own_log.c: the eventlog that a program already writes to a file when it is
 * attached to. The agent joins it: from then on both get it.
 *
 * A reader first needs the header and the definitions (preamble.h), which the
 * runtime has written long ago: they are read from that file.
 */

/* Reads the beginning of the file that the program has open for its log. Nothing needs to be stopped. */
bool own_log_read(struct error *error);

/* Begins a log with what was read; what the runtime writes from now on may follow. */
void own_log_begin(void);
