/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archiver.h - follows daemons, or reads finished logs, and keeps what it sees in an archive.
 *
 * DESIGN: one loop. Updates are added to the pending data of their run; at an interval, or when much is pending, all
 * of it is written in one transaction. While it cannot be written, data is collected within limits.h, which is logged
 * once; a damaged file is set aside and a new one begun.
 */
#pragma once

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/past/archive/database.h"
#include "client/world/feed/selection.h"

/*
 * What an archive deletes: rows older than their table's limit, and, when the file exceeds its size, the
 * oldest rows of the finest tables. Age counts from the event; for a log that was archived later, from then.
 */

#define KEEP_TABLES 16

struct keep {
        uint64_t seconds[KEEP_TABLES]; /* by table; 0: forever */
        uint64_t max_bytes;            /* 0: no cap */
};

void keep_defaults(struct keep *k);

/* "series_1m=30d", "bands_10m=forever". False with a message. */
bool keep_parse(struct keep *k, const char *text, struct error *error);

/* SQLITE_OK, or an error. `ret_bytes`: bytes in use afterwards. */
int keep_apply(struct database *d, const struct keep *k, uint64_t now_s, uint64_t *ret_bytes);

struct archiver_options {
        const char *path;
        const char *name;               /* of the target for files; NULL: the file's name */
        const struct selection *from;   /* files are read to their end */
        const struct text_list *labels; /* "NAME=VALUE", for each run */
        struct keep keep;
        uint64_t bands, interval_ns; /* between two transactions */
};

/* Runs until the files end, or a signal. Returns an exit status, after a report. */
int archiver_run(const struct archiver_options *options);

/* The machine that a daemon runs on, as the column `host` of an archive has it. */

/* HOST of tcp://HOST:PORT, otherwise the name of this machine. */
static inline void archive_host(char *out, size_t size, const char *endpoint)
{
        if (endpoint && !strncmp(endpoint, "tcp://", 6))
                (void)snprintf(out, size, "%.*s", (int)strcspn(endpoint + 6, ":"), endpoint + 6);
        else if (gethostname(out, size - 1) < 0)
                *out = '\0';
        out[size - 1] = '\0';
}
