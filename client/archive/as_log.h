/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * as_log.h - an archived run as an eventlog, so that the daemon judges it like any other log.
 *
 * For each minute it has what the verdict is based on: the minimum of live data, heap and blocks, and their maximum and
 * last values. For bands it has one census per hour, with their means. RSS is not in an eventlog.
 */
#ifndef HW_CLIENT_ARCHIVE_AS_LOG_H
#define HW_CLIENT_ARCHIVE_AS_LOG_H

#include "client/archive/read.h"

/* A directory with a log of each run, oldest first. */
struct archived_logs {
        char directory[64];
        char **paths; /* n of them */
        size_t n;
        bool by_hour; /* part of it is only kept by the hour */
};

/* False with a message. archived_logs_done() either way, which removes them. All bytes 0: none. */
bool archived_logs_write(struct archived_logs *l, struct database *d, const struct archived_runs *runs,
                         struct error *error);
void archived_logs_done(struct archived_logs *l);

#endif
