/* SPDX-License-Identifier: BSD-3-Clause */
/* answer.h - one query: prepared, its mistakes reported, its rows printed, drawn or stored. */
#pragma once

#include <ctype.h>
#include <sqlite3.h>
#include <stdio.h>

#include "client/cli/command.h"
#include "client/commands/query/module.h"
#include "proto/base/error.h"

/* The rows of a query as a table for people, or for other programs. */

enum query_format { QUERY_TABLE, QUERY_CSV, QUERY_TSV, QUERY_JSON, QUERY_NDJSON, QUERY_MARKDOWN };

#define QUERY_TABLE_ROWS 10000u /* of a table for people, which is kept to be aligned; further ones are counted */

/*
 * Steps the statement to its end and prints its rows. `columns`: of the terminal, 0: no bound; `units`: of JSON, first
 * an object with the unit of each column. Returns SQLITE_DONE, or the error of the statement.
 */
int query_print(FILE *to, sqlite3_stmt *statement, enum query_format format, bool units, unsigned columns);
int query_print_sheet(FILE *to, sqlite3_stmt *statement, unsigned columns); /* QUERY_TABLE, of sheet.c */

/* Names of a result's columns, each another one: the second `max` is max_2. For query_names_free(). NULL: no memory. */
char **query_names(sqlite3_stmt *statement);
void query_names_free(char **names);

/*
 * The text of a value, until the next step; of a blob what SQL has for it, X'00FF', in *ret_blob, for sqlite3_free(),
 * NULL of others. NULL: no memory.
 */
const char *query_text(sqlite3_stmt *row, int i, char **ret_blob);

/* The rows of a query as a picture: in the terminal, or as SVG. */

enum query_chart { QUERY_NO_CHART, QUERY_LINE, QUERY_BAR, QUERY_AREA };

/*
 * Steps the statement to its end and draws its rows. Its first column is a time in seconds; its others are numbers,
 * each a line, or a text that names the line of the number after it. With bars the first column may be a text.
 * `columns`: of the terminal, 0: no bound; `title`: of SVG. Returns SQLITE_DONE, the error of the statement, or
 * SQLITE_MISMATCH with a message in `error`: the rows cannot be drawn.
 */
int query_chart_draw(FILE *to, sqlite3_stmt *statement, enum query_chart chart, unsigned columns, struct error *error);
int query_chart_write_svg(FILE *to, sqlite3_stmt *statement, enum query_chart chart, const char *title,
                          struct error *error);

/* The unit of a result's column: "B", "s", "B/s"; "": none, or not known. */
const char *query_unit_of(sqlite3_stmt *statement, int column);

struct query_output {
        enum query_format format;
        enum query_chart chart;
        const char *file; /* NULL: standard output */
        bool units;
};

/* names.c: the tables, and the views that so many sources have. Returns how many. */
#define QUERY_TABLES_MAX 32u
size_t query_list_tables(size_t sources, const char *ret[QUERY_TABLES_MAX]);

/* Whether a name is one of them, whatever its case. */
bool query_is_name(const char *name, const char *const *names, size_t n);

/*
 * What can stand in a query, sorted, each once, until a NULL: all names, or with a qualifier ("old", "b")
 * those that follow it and its dot, with it. `sql` is the query as far as it is there. To free(), each; NULL: none.
 */
char **query_complete(const struct query *q, const char *sql, const char *qualifier);

/* What to do about a message of SQLite, "; did you mean 'name'?", or "". */
void query_suggest(char *out, size_t size, const struct query *q, const char *sql, const char *why);

static inline bool query_is_word_character(char c)
{
        return isalnum((unsigned char)c) || c == '_';
}

/* Whether a word is at that place of a query; and where it is, from `from` on. NULL: nowhere. */
bool query_is_word_at(const char *sql, const char *at, const char *word);
const char *query_find_word(const char *sql, const char *from, const char *word);

/* Whether a file of that name is a database, in which tables are stored. */
bool query_is_database(const char *file);

/* Whether there is no file of that name, an empty one, or a database that a query wrote. */
bool query_may_replace(const char *file);

/*
 * The exit status; what is wrong is reported in the command's name. With `ret_rest` the text may have more behind its
 * first query, which is there then (NULL: nothing), or no query: -1.
 */
int query_answer(const struct command *c, struct query *q, const char *sql, const char **ret_rest,
                 const struct query_output *output);

/* Stores the result of a query (NULL: none), and tables or views under their names, in a database. The exit status. */
int query_store(const struct command *c, struct query *q, const char *sql, const char *const *tables, size_t n,
                const char *file);
