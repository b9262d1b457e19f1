/* SPDX-License-Identifier: BSD-3-Clause */
/* writer.h - what was observed of runs, into the file: all of it in one transaction, or nothing. */
#ifndef HW_CLIENT_ARCHIVE_WRITER_H
#define HW_CLIENT_ARCHIVE_WRITER_H

#include "client/archive/database.h"
#include "client/archive/observe.h"
#include "proto/cli/options.h"

struct writer {
        struct database *database;
        const struct text_list *labels; /* "NAME=VALUE", of every run that is written */
        uint64_t bands;                 /* that stay of ten minutes, the largest */
};

/* What the archive has of the run: its id and how far. Nothing changes when it has nothing, or cannot be read. */
void writer_find(const struct writer *w, struct observed *o);

/* Writes all runs of a list and marks them as written. SQLITE_OK, or the reason why nothing was. */
int writer_write(const struct writer *w, struct observed *runs);

#endif
