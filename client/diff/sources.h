/* SPDX-License-Identifier: BSD-3-Clause */
/* sources.h - from two lists of logs, or of runs in an archive, to a comparison: for the command and for reports. */
#ifndef HW_CLIENT_DIFF_SOURCES_H
#define HW_CLIENT_DIFF_SOURCES_H

#include "client/diff/compare.h"

struct command;
struct json_out;

struct diff_source {
        const char *const *logs; /* files, recordings, TARGET@WHEN of an archive */
        size_t n;
        const struct part *part; /* of each; NULL: all of it */
};

struct diff_sources {
        struct diff_source a, b;
        const char *db; /* the archive; NULL: the default one */
};

/* A comparison and its sides, released together. All bytes 0: empty. */
struct compared {
        struct side a, b;
        struct comparison comparison; /* borrows from the sides, so this struct must not be moved */
};

/* False after a report in the name of `command`. compared_done() either way. */
bool compare_sources(struct compared *ret, const struct command *command, const struct diff_sources *sources);
void compared_done(struct compared *c);

/* The object that `diff --format json` prints. False: out of memory. */
bool compare_json(struct json_out *j, const struct side *baseline, const struct side *new_side);

/* The same of two finished logs. False after a report. */
bool compare_logs_json(struct json_out *j, const struct command *command, const char *baseline, const char *new_log);

#endif
