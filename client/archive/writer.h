/* SPDX-License-Identifier: BSD-3-Clause */
/* writer.h - writes what was observed of runs: everything in one transaction, or nothing. */
#ifndef HW_CLIENT_ARCHIVE_WRITER_H
#define HW_CLIENT_ARCHIVE_WRITER_H

#include "client/archive/database.h"
#include "client/archive/observe.h"
#include "proto/cli/options.h"

struct writer {
        struct database *database;
        const struct text_list *labels; /* "NAME=VALUE", for every run that is written */
        uint64_t bands;                 /* how many of the largest are kept for ten minutes */
};

/* Looks up what the archive has of the run: its id, and up to when. No change if nothing, or if it cannot be read. */
void writer_find(const struct writer *w, struct observed *o);

/* Writes all runs of a list and marks them as written. SQLITE_OK, or the reason why nothing was. */
int writer_write(const struct writer *w, struct observed *runs);

#endif
