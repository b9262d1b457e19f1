/* SPDX-License-Identifier: BSD-3-Clause */
/* own_command.h - runs a command of heapwatch as a child with bounds on its time and output. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"

struct own_command {
        const char *const *words; /* ended by NULL; the first is the program, which is beside this one */
        uint64_t most_ns;
        size_t bytes_max, lines_max; /* of its output; lines 0: no limit */
        int worst_status;            /* the greatest exit status of an answer: 1 for commands with findings, else 0 */
        const atomic_bool *stop;     /* whether it shall be stopped, for another thread to set; NULL: nobody does */
};

struct own_output {
        char *text; /* n bytes, no NUL behind them, for free(); NULL after out of memory */
        size_t n, lines;
        char said[ERROR_TEXT_MAX]; /* on standard error: its beginning, for a terminal */
        bool is_cut;               /* there was more; of several lines, the last is whole */
};

/*
 * Runs it to its end, until its time is over, it shall be stopped, this program shall end (signals_stop()), or more
 * comes than is kept: then all that it started is killed, too. True if it ended well or was cut; else with a sentence.
 * Blocks: not for an event loop. ret->text is to be freed in any case.
 */
bool own_command_run(const struct own_command *c, struct own_output *ret, struct error *error);
