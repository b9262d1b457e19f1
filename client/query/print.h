/* SPDX-License-Identifier: BSD-3-Clause */
/* print.h - the rows of a query as a table for people, or for other programs. */
#ifndef HW_CLIENT_QUERY_PRINT_H
#define HW_CLIENT_QUERY_PRINT_H

#include <sqlite3.h>
#include <stdio.h>

enum query_format { QUERY_TABLE, QUERY_CSV, QUERY_TSV, QUERY_JSON, QUERY_NDJSON, QUERY_MARKDOWN };

#define QUERY_TABLE_ROWS 10000u /* of a table for people, which is kept to be aligned; further ones are counted */

/*
 * Steps the statement to its end and prints its rows. `columns`: of the terminal, 0: no bound. Returns SQLITE_DONE, or
 * the error of the statement.
 */
int query_print(FILE *to, sqlite3_stmt *statement, enum query_format format, unsigned columns);

#endif
