/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * as_log.h - an archived run as an eventlog, so that it is judged like any other log, by the daemon's own verdict.
 *
 * Of each minute it has what the verdict rests on: the floor of live data, heap and blocks, and their greatest and last
 * values. Of bands it has one census an hour, with their means. RSS is not in an eventlog.
 */
#ifndef HW_CLIENT_ARCHIVE_AS_LOG_H
#define HW_CLIENT_ARCHIVE_AS_LOG_H

#include "client/archive/read.h"

/* A directory with a log of each run, oldest first. */
struct archived_logs {
        char directory[64];
        char **paths; /* n of them */
        size_t n;
        bool by_hour; /* of some of it nothing finer is kept */
};

/* False with a sentence. archived_logs_done() either way, which removes them. All bytes 0: none. */
bool archived_logs_write(struct archived_logs *l, struct database *d, const struct archived_runs *runs,
                         struct error *error);
void archived_logs_done(struct archived_logs *l);

#endif
