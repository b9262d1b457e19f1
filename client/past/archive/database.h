/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * database.h - the file of an archive: opened, checked, written by one process at a time, read by any number.
 *
 * A damaged file is renamed, with its journal, and a new one is begun; the reason and both names are logged (say.h).
 * A file that is not an archive of ours is refused and left unchanged.
 */
#pragma once

#include <limits.h>
#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/* How much `heapwatch archive` holds in memory while it cannot write, and the longest interpolation. */

#define ARCHIVE_PENDING   400000u              /* rows of one target that wait; later ones are counted as lost */
#define ARCHIVE_MESSAGES  10000u               /* notes, verdicts, alerts of one target that wait */
#define ARCHIVE_HELD      (UINT64_C(64) << 20) /* bytes of a finished log's messages until its start is known */
#define ARCHIVE_BRIDGE_NS (UINT64_C(604800) * 1000000000) /* samples farther apart are not connected by a line */
#define ARCHIVE_RUNS      10000u                          /* in one selection */
#define ARCHIVE_BANDS     20000u                          /* of one run, by name; further ones are counted as lost */

/* The statements, each prepared once. */
enum statement {
        ADD_RUN,
        FIND_RUN,
        SET_RUN,
        SET_LABEL,
        ADD_MINUTE,
        ADD_HOUR,
        ADD_PAUSES_10M,
        ADD_PAUSES_1D,
        BANDS_OF_RUN,
        ADD_BAND_NAME,
        ADD_BAND_10M,
        ADD_BAND_1H,
        THIN_BANDS,
        ADD_NOTE,
        SET_ALERT,
        ADD_VERDICT,
        STATEMENTS
};

struct database {
        char path[PATH_MAX];
        sqlite3 *db;
        sqlite3_stmt *statements[STATEMENTS];
        int lock;   /* -1: for reading only */
        int result; /* of the transaction that is being written: SQLITE_OK, or what its first failure returned */
};

/* $HEAPWATCH_ARCHIVE, or heapwatch/archive.db in the user's state directory. False: there is none. */
bool database_default_path(char *out, size_t size);

/* For writing: made if it is missing. False with a message. */
bool database_open(struct database *d, const char *path, struct error *error);

/* For reading, also while it is written. False with a message. */
bool database_open_to_read(struct database *d, const char *path, struct error *error);

/* For labelling runs, also while it is written. False with a message. */
bool database_open_to_label(struct database *d, const char *path, struct error *error);
bool database_label(struct database *d, int64_t run, const char *name_value, struct error *error);

/* What it runs; NULL as below, or it is not NAME=VALUE. */
sqlite3_stmt *database_label_statement(struct database *d, int64_t run, const char *name_value);
void database_close(struct database *d);

/* Whether a result of SQLite means that the file is damaged. */
bool database_is_damage(int result);

/* Sets the damaged file aside and begins a new one. False with a message. */
bool database_renew(struct database *d, const char *why, struct error *error);

/* The statement, with nothing bound; NULL: it cannot be prepared, or the transaction has failed. */
sqlite3_stmt *database_statement(struct database *d, enum statement which);

/* Runs a statement that returns no rows; SQLITE_OK or an error. */
int database_run(sqlite3_stmt *s);
int database_exec(struct database *d, const char *sql);

/*
 * The columns of a row that a statement has just returned. What is not known is NULL in the file: NaN, 0 or a
 * NULL pointer here, as each function says.
 */

/* Of this row, until the next step; NULL: unknown. */
static inline const char *row_text(sqlite3_stmt *s, int column)
{
        return (const char *)sqlite3_column_text(s, column);
}

/* NaN: unknown. */
static inline double row_real(sqlite3_stmt *s, int column)
{
        return sqlite3_column_type(s, column) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(s, column);
}

/* 0: unknown, or below. */
static inline uint64_t row_number(sqlite3_stmt *s, int column)
{
        int64_t value = sqlite3_column_int64(s, column);

        return value > 0 ? (uint64_t)value : 0;
}

/*
 * schema.c: the tables of an archive, as docs/ARCHIVE.md describes them for people who read it with sqlite3.
 *
 * DESIGN: a row of an interval has sums, not means, so that what comes later, or after a restart, can be added; means
 * are columns that SQLite computes. Each table of short intervals has one of long ones beside it, which is written at
 * the same time: rolling up only means deleting the short ones.
 */

#define SCHEMA_VERSION     1          /* PRAGMA user_version */
#define SCHEMA_APPLICATION 0x68776172 /* PRAGMA application_id: "hwar" */

/* Numbers in the column `series` are those of the wire's enum Series; and one of ours. */
#define SERIES_COLLECTIONS 100 /* of all generations: n is how many, no values */

#define MINUTE_S UINT64_C(60)
#define TEN_S    UINT64_C(600)
#define HOUR_S   UINT64_C(3600)
#define DAY_S    UINT64_C(86400)

extern const char *const schema_sql[]; /* ended by NULL */

/* A table whose rows are deleted when they are old. */
struct schema_table {
        const char *name;
        const char *time; /* of a row, in s: SQL */
        uint64_t keep_s;  /* by default */
        unsigned order;   /* in which the size cap deletes from them, lowest first; 0: never */
};

extern const struct schema_table schema_tables[];
extern const size_t n_schema_tables;
