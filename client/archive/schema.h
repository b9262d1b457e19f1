/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * schema.h - the tables of an archive, as docs/ARCHIVE.md describes them for people who read it with sqlite3.
 *
 * DESIGN: a row of an interval has sums, not means, so that what comes later, or after a restart, can be added; means
 * are columns that SQLite computes. Each table of short intervals has one of long ones beside it, which is written at
 * the same time: rolling up only means deleting the short ones.
 */
#ifndef HW_CLIENT_ARCHIVE_SCHEMA_H
#define HW_CLIENT_ARCHIVE_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

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

#endif
