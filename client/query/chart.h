/* SPDX-License-Identifier: BSD-3-Clause */
/* chart.h - the rows of a query as a picture: in the terminal, or as SVG. */
#ifndef HW_CLIENT_QUERY_CHART_H
#define HW_CLIENT_QUERY_CHART_H

#include <sqlite3.h>
#include <stdio.h>

#include "proto/base/error.h"

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

/* Unit of a result's column, by its name: "B", "s", "B/s"; "": not known. */
const char *query_unit_of(const char *name);

#endif
