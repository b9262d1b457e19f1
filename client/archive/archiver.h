/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archiver.h - follows daemons, or reads finished logs, and keeps what it sees in an archive.
 *
 * DESIGN: one loop. Updates go into what is pending of their run; at an interval, or when much is pending, all of it
 * is written in one transaction. While the disk takes nothing it goes on gathering, within limits.h, and says so once;
 * a file that is found damaged is set aside and a new one goes on.
 */
#ifndef HW_CLIENT_ARCHIVE_ARCHIVER_H
#define HW_CLIENT_ARCHIVE_ARCHIVER_H

#include "client/archive/keep.h"
#include "proto/cli/options.h"

struct archiver_options {
        const char *path;
        const char *name; /* of the target that files are of; NULL: as they are called */
        const struct text_list *endpoints, *targets, *files; /* files: read to their end */
        const struct text_list *labels;                      /* "NAME=VALUE" of each run */
        const struct text_list *daemon_args;                 /* of files */
        struct keep keep;
        uint64_t bands, interval_ns; /* between two transactions */
};

/* Until the files end, or a signal. Returns an exit status, after a report. */
int archiver_run(const struct archiver_options *options);

#endif
