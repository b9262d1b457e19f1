/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * module.h - the tables of tables.h in SQLite, as virtual tables over sources that are read when a query asks.
 *
 * DESIGN: a scan of a table reads its source from the beginning, as far as the query wants rows, and keeps nothing but
 * the rows of one message. A table that is scanned again, as the inner one of a join, is cached from its second scan
 * on, within QUERY_CACHE_BYTES. SQLite reads, and does nothing else: query_open denies all that writes. What it sorts
 * goes into temporary files that are memory (its VFS memdb), in pieces that fit into the processor's cache: with
 * temp_store = MEMORY it would be one list, which takes four times as long and twice the memory.
 */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/world/feed/selection.h"
#include "client/commands/query/tables.h"
#include "proto/base/error.h"

#define QUERY_SOURCES_MAX 10u /* SQLite's limit of schemas */
#define QUERY_MEMORY_BYTES                                                                                             \
        ((int64_t)1152 << 20) /* of SQLite, for one query: 1 GiB in memdb, and what it needs beside */
#define QUERY_CACHE_BYTES ((size_t)512 * 1048576) /* of all tables that are scanned again */

enum query_kind { QUERY_LOG, QUERY_LIVE, QUERY_ARCHIVE, QUERY_GRAPH }; /* a recording is a log */

struct query_source {
        char name[WORLD_NAME_MAX + 1];
        enum query_kind kind;
        const char *what;        /* as typed */
        const char *db;          /* of runs in an archive: its file; NULL: the default */
        struct selection chosen; /* that alone, of a log or a live target */
        bool is_read;            /* it could be, so far */
        bool is_warned;          /* of a table that has nothing of it */
};

struct query {
        sqlite3 *db;
        struct query_source *sources; /* n of them */
        size_t n;
        size_t cached_bytes;
        uint64_t until_ms;   /* monotonic; when the query is stopped */
        uint64_t timeout_ns; /* which is that long after its begin */
        bool late;           /* it was */
        bool unbounded;      /* scans leave out no rows, so that each row has the same rowid in all of them */
};

/* Makes the tables and views. `sources` are borrowed. False with a message; query_close in any case. */
bool query_open(struct query *q, struct error *error);
void query_close(struct query *q);

/* Whether the sources can be read that no statement has come to. False with a sentence. */
bool query_check_sources(struct query *q, struct error *error);

/* SQL of the views, and of their names and what they are for, until a NULL. */
struct query_view {
        const char *name, *help, *sql;
        unsigned sources; /* as many as it needs; of two, the names of the first ones are the arguments of `sql` */
};
extern const struct query_view query_views[];

/* Questions with a query that answers each, of one source or of two (old and new), until a NULL. */
struct query_example {
        const char *question, *sql;
        unsigned sources;
};
extern const struct query_example query_examples[];

/* bucket, rate, slope, slope_low, slope_high, onset, quantile, bytes, duration, sparkline, regexp. */
bool query_add_functions(sqlite3 *db);
extern const struct query_column query_functions[]; /* name with its arguments, and help; until a NULL */
