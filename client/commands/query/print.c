/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * print.c - DESIGN: formats for programs are printed row by row. A table for people needs the width of its columns
 * first, so its rows are kept; where it is wider than the terminal, its widest columns of text are cut, never a number.
 */
#include "client/commands/query/answer.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/csv.h"
#include "proto/base/json_out.h"
#include "proto/base/utf8.h"

#define GAP         2u
#define NARROW      8u /* a column of text is not cut below */
#define CELL_MAX    1024u
#define ESCAPED_MAX 12u /* bytes that one becomes: \u{NNNNNN} */

/* A number as people read it: 9 digits are as many as a double's rounding spares. */
static void format_value(sqlite3_stmt *row, int i, char *out, size_t size)
{
        const char *text;

        switch (sqlite3_column_type(row, i)) {
        case SQLITE_NULL:
                (void)snprintf(out, size, "-");
                break;
        case SQLITE_FLOAT:
                (void)snprintf(out, size, "%.9g", sqlite3_column_double(row, i));
                break;
        default:
                text = (const char *)sqlite3_column_text(row, i);
                (void)hw_terminal_text(out, size, text ? text : "");
        }
}

static void print_padding(FILE *to, unsigned n)
{
        for (; n > 0; n--)
                (void)putc(' ', to);
}

/* -------------------------------------------------------------- a table for people */

struct cells {
        char **texts; /* row by row; NULL: out of memory */
        size_t n, room;
        unsigned width, *widths;
        bool *is_number;
        size_t left_out; /* rows */
};

static bool add_cell(struct cells *c, unsigned column, const char *text, bool is_number, bool is_header)
{
        const unsigned columns = (unsigned)text_columns(text);

        if (!ARRAY_RESERVE(c->texts, c->room, c->n + 1) || !(c->texts[c->n] = strdup(text)))
                return false;
        c->n++;
        c->widths[column] = columns > c->widths[column] ? columns : c->widths[column];
        if (!is_header)
                c->is_number[column] = c->is_number[column] && is_number;
        return true;
}

static bool add_row(struct cells *c, sqlite3_stmt *row)
{
        char text[CELL_MAX];

        for (unsigned i = 0; i < c->width; i++) {
                const int type = sqlite3_column_type(row, (int)i);

                format_value(row, (int)i, text, sizeof(text));
                if (!add_cell(c, i, text, type != SQLITE_TEXT, false))
                        return false;
        }
        return true;
}

/* Narrows the widest column of text until all fit, or none can be narrowed any more. */
static void fit_widths(struct cells *c, unsigned columns)
{
        unsigned all = c->width ? (c->width - 1) * GAP : 0;

        for (unsigned i = 0; i < c->width; i++)
                all += c->widths[i];
        while (columns > 0 && all > columns) {
                unsigned widest = c->width;

                for (unsigned i = 0; i < c->width; i++)
                        if (!c->is_number[i] && c->widths[i] > NARROW &&
                            (widest == c->width || c->widths[i] > c->widths[widest]))
                                widest = i;
                if (widest == c->width)
                        return;
                c->widths[widest]--;
                all--;
        }
}

/* `text`, in the column's width. The end of a name tells more than its begin, so the begin is cut. */
static void print_cell(FILE *to, const char *text, unsigned width, bool right, bool is_last)
{
        if ((unsigned)text_columns(text) > width) {
                text = text_end(text, (int)width - 1);
                (void)fputs("…", to);
                width--;
        }
        const unsigned columns = (unsigned)text_columns(text);
        if (right)
                print_padding(to, width - columns);
        (void)fputs(text, to);
        if (!right && !is_last)
                print_padding(to, width - columns);
}

static void print_cells(FILE *to, struct cells *c, unsigned columns)
{
        fit_widths(c, columns);
        for (size_t at = 0; at < c->n; at++) {
                const unsigned i = (unsigned)(at % c->width);

                print_cell(to, c->texts[at], c->widths[i], c->is_number[i], i + 1 == c->width);
                if (i + 1 < c->width)
                        print_padding(to, GAP);
                else
                        (void)putc('\n', to);
        }
        if (c->left_out > 0)
                (void)fprintf(to, "... and %zu rows more: --format csv prints all\n", c->left_out);
}

static int print_table(FILE *to, sqlite3_stmt *statement, unsigned columns)
{
        struct cells c = { .width = (unsigned)sqlite3_column_count(statement) };
        int status = SQLITE_ROW;

        c.widths = calloc(c.width, sizeof(*c.widths));
        c.is_number = calloc(c.width, sizeof(*c.is_number));
        bool good = c.widths && c.is_number;
        for (unsigned i = 0; good && i < c.width; i++) {
                c.is_number[i] = true;
                good = add_cell(&c, i, sqlite3_column_name(statement, (int)i), false, true);
        }
        while (good && (status = sqlite3_step(statement)) == SQLITE_ROW) {
                if (c.n / c.width > QUERY_TABLE_ROWS)
                        c.left_out++;
                else
                        good = add_row(&c, statement);
        }
        if (good && status == SQLITE_DONE)
                print_cells(to, &c, columns);
        for (size_t i = 0; i < c.n; i++)
                free(c.texts[i]);
        free(c.texts);
        free(c.widths);
        free(c.is_number);
        return good ? status : SQLITE_NOMEM;
}

/* ------------------------------------------------------------------ for programs */

/* What a text is in lines of a format; it has been made safe: no tab or line end is in it. False: no memory. */
static bool print_as_it_is(FILE *to, const char *safe)
{
        (void)fputs(safe, to);
        return true;
}

/* A cell that a spreadsheet would compute has an apostrophe in front, and here it is in quotes always. */
static bool print_csv_text(FILE *to, const char *safe)
{
        char *cell = csv_cell(safe);

        if (!cell)
                return false;
        (void)fprintf(to, *cell == '\'' && *safe != '\'' ? "\"%s\"" : "%s", cell);
        free(cell);
        return true;
}

static bool print_markdown_text(FILE *to, const char *safe)
{
        for (; *safe; safe++) {
                if (*safe == '|')
                        (void)putc('\\', to);
                (void)putc(*safe, to);
        }
        return true;
}

static const struct lines {
        const char *before, *between, *after;
        bool (*print_text)(FILE *to, const char *safe);
} lines[] = {
        [QUERY_CSV] = { "", ",", "\n", print_csv_text },
        [QUERY_TSV] = { "", "\t", "\n", print_as_it_is },
        [QUERY_MARKDOWN] = { "| ", " | ", " |\n", print_markdown_text },
};

/* False: no memory, as when SQLite gives no `text`. */
static bool print_text(FILE *to, const char *text, const struct lines *l)
{
        const size_t size = text ? strlen(text) * ESCAPED_MAX + 1 : 0;
        char *safe = text ? malloc(size) : NULL;
        const bool good = safe && (hw_terminal_text(safe, size, text), l->print_text(to, safe));

        free(safe);
        return good;
}

/* Numbers so that they read back as the same; what is not known is empty. False: no memory. */
static bool print_plain(FILE *to, sqlite3_stmt *row, int i, const struct lines *l)
{
        struct json_out j = { .to = to };

        switch (sqlite3_column_type(row, i)) {
        case SQLITE_NULL:
                return true;
        case SQLITE_INTEGER:
                json_i64(&j, sqlite3_column_int64(row, i));
                return true;
        case SQLITE_FLOAT:
                if (isfinite(sqlite3_column_double(row, i)))
                        json_double(&j, sqlite3_column_double(row, i));
                return true;
        default:
                return print_text(to, (const char *)sqlite3_column_text(row, i), l);
        }
}

static int print_lines(FILE *to, sqlite3_stmt *statement, const struct lines *l, bool rule)
{
        const int n = sqlite3_column_count(statement);
        bool good = true;
        int status = SQLITE_ROW;

        for (int i = 0; good && i < n; i++) {
                (void)fputs(i ? l->between : l->before, to);
                good = print_text(to, sqlite3_column_name(statement, i), l);
        }
        (void)fputs(l->after, to);
        for (int i = 0; rule && i < n; i++)
                (void)fputs(i + 1 < n ? "|---" : "|---|\n", to);
        while (good && (status = sqlite3_step(statement)) == SQLITE_ROW && !ferror(to)) {
                for (int i = 0; good && i < n; i++) {
                        (void)fputs(i ? l->between : l->before, to);
                        good = print_plain(to, statement, i, l);
                }
                (void)fputs(l->after, to);
        }
        return good ? status : SQLITE_NOMEM;
}

static void print_object(struct json_out *j, sqlite3_stmt *row)
{
        json_open(j, '{');
        for (int i = 0; i < sqlite3_column_count(row); i++) {
                json_text_key(j, sqlite3_column_name(row, i));
                switch (sqlite3_column_type(row, i)) {
                case SQLITE_NULL:
                        json_none(j);
                        break;
                case SQLITE_INTEGER:
                        json_i64(j, sqlite3_column_int64(row, i));
                        break;
                case SQLITE_FLOAT:
                        json_double(j, sqlite3_column_double(row, i));
                        break;
                default:
                        json_text(j, (const char *)sqlite3_column_text(row, i));
                }
        }
        json_close(j, '}');
}

static int print_json(FILE *to, sqlite3_stmt *statement, bool a_line_each)
{
        struct json_out j = { .to = to };
        int status;

        if (!a_line_each)
                json_open(&j, '[');
        while ((status = sqlite3_step(statement)) == SQLITE_ROW && !ferror(to)) {
                struct json_out line = { .to = to };

                if (!a_line_each)
                        json_line(&j);
                print_object(a_line_each ? &line : &j, statement);
                if (a_line_each)
                        (void)putc('\n', to);
        }
        if (!a_line_each) {
                json_close(&j, ']');
                (void)putc('\n', to);
        }
        return status;
}

int query_print(FILE *to, sqlite3_stmt *statement, enum query_format format, unsigned columns)
{
        switch (format) {
        case QUERY_TABLE:
                return print_table(to, statement, columns);
        case QUERY_JSON:
        case QUERY_NDJSON:
                return print_json(to, statement, format == QUERY_NDJSON);
        default:
                return print_lines(to, statement, &lines[format], format == QUERY_MARKDOWN);
        }
}
