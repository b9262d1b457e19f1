/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reader.h - one run of a finished log, update by update, with the world built from the updates. For commands that
 * write output while they read, with memory that does not depend on the log's length.
 */
#ifndef HW_CLIENT_CONVERT_READER_H
#define HW_CLIENT_CONVERT_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "client/convert/format.h"
#include "client/cli/command.h"

struct run_reader {
        const struct command *command; /* in whose name errors are reported */
        const char *log;
        uint32_t run; /* which, from 1 */
        bool events;  /* single events, too */
        FILE *out;    /* an error on it ends the reading */
        int (*take)(void *state, const struct format_run *run, const Hw__Update *update); /* 0 or -errno */
        void *state;
        /* what was seen */
        uint32_t runs_seen;
        struct world *world;
        struct format_run seen; /* its t is NULL when the log has no such run */
};

/* 0, -errno of `take` or of the output, -EINTR after a signal, or 1 when the log cannot be read, which was reported. */
int run_reader_read(struct run_reader *r);
void run_reader_done(struct run_reader *r);

#endif
