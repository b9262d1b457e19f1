/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flags.h - composes GHCRTS for a program to be watched.
 *
 * Adds only flags that the program accepts, and keeps the user's: the RTS reads
 * -with-rtsopts, then GHCRTS, then +RTS on the command line, the last one
 * winning, and ours come first in GHCRTS. No input or output of its own:
 * `accepts` finds out whether a flag is accepted.
 */
#ifndef HW_CLIENT_RUN_FLAGS_H
#define HW_CLIENT_RUN_FLAGS_H

#include <stdbool.h>
#include <stddef.h>

#include "client/program/rtsinfo.h"

struct flags_request {
        const struct rtsinfo *info;
        const char *log_path;     /* where the eventlog must go */
        const char *ghcrts;       /* the user's GHCRTS; "" when unset */
        const char *extra;        /* the user's --rts; "" */
        char *const *arguments;   /* of the program, argument 0 left out; ends with NULL */
        const char *heap_profile; /* letter(s) after -h; "none"; NULL: T unless the user chose one */
        bool (*accepts)(void *ctx, const char *flags, char *reason, size_t reason_size);
        void *ctx;
};

enum flags_result {
        FLAGS_OK,
        FLAGS_NO_EVENTLOG, /* this RTS cannot write an eventlog */
        FLAGS_ELSEWHERE,   /* -ol of the user's sends the log elsewhere, or --null-eventlog-writer nowhere */
        FLAGS_BAD_PATH,    /* log_path has a space, which cannot be quoted in GHCRTS */
        FLAGS_REFUSED,     /* -l -ol or the requested heap profile: `reason` has the RTS's words */
        FLAGS_NO_MEMORY
};

struct flags {
        char *ghcrts;     /* the whole value; freed by flags_done */
        bool bands;       /* a heap profile will be in the log, ours or the user's */
        bool bands_ours;  /* the profile is not the program's own: nobody needs its PROGRAM.hp */
        bool flush;       /* the user has set a flush interval */
        char reason[256]; /* why bands are missing or the result is REFUSED; "" */
};

enum flags_result flags_compose(const struct flags_request *request, struct flags *ret_flags);
void flags_done(struct flags *flags);

#endif
