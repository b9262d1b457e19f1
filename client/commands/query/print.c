/* SPDX-License-Identifier: BSD-3-Clause */
/* print.c - the rows of a query for other programs, each printed as it comes. */
#include "client/commands/query/answer.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/text.h"
#include "proto/base/csv.h"
#include "proto/base/json_out.h"

#define ESCAPED_MAX 12u /* bytes that one becomes: \u{NNNNNN} */

/* What a text is in lines of a format; it has been made safe: no tab or line end is in it. False: no memory. */
static bool print_tsv_text(FILE *to, const char *safe)
{
        (void)fprintf(to, "%s%s", csv_is_formula(safe) ? "'" : "", safe);
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
        [QUERY_CSV] = { "", ",", "\n", csv_print },
        [QUERY_TSV] = { "", "\t", "\n", print_tsv_text },
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

static void print_value(struct json_out *j, sqlite3_stmt *row, int i)
{
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

/* Numbers so that they read back as the same; what is not known is empty. False: no memory. */
static bool print_plain(FILE *to, sqlite3_stmt *row, int i, const struct lines *l)
{
        struct json_out j = { .to = to };
        const int type = sqlite3_column_type(row, i);

        if (type != SQLITE_NULL && type != SQLITE_INTEGER && type != SQLITE_FLOAT)
                return print_text(to, (const char *)sqlite3_column_text(row, i), l);
        if (type == SQLITE_INTEGER || (type == SQLITE_FLOAT && isfinite(sqlite3_column_double(row, i))))
                print_value(&j, row, i);
        return true;
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

static void print_units(struct json_out *j, sqlite3_stmt *statement)
{
        json_open(j, '{');
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
                json_text_key(j, sqlite3_column_name(statement, i));
                json_text(j, query_unit_of(statement, i));
        }
        json_close(j, '}');
}

static void print_object(struct json_out *j, sqlite3_stmt *row)
{
        json_open(j, '{');
        for (int i = 0; i < sqlite3_column_count(row); i++) {
                json_text_key(j, sqlite3_column_name(row, i));
                print_value(j, row, i);
        }
        json_close(j, '}');
}

/* An item of the array that is open, or a text of its own with its line end. */
static void print_line(struct json_out *j, sqlite3_stmt *statement, bool alone,
                       void (*print)(struct json_out *j, sqlite3_stmt *statement))
{
        struct json_out line = { .to = j->to };

        if (!alone)
                json_line(j);
        print(alone ? &line : j, statement);
        if (alone)
                (void)putc('\n', j->to);
}

static int print_json(FILE *to, sqlite3_stmt *statement, bool a_line_each, bool units)
{
        struct json_out j = { .to = to };
        int status;

        if (!a_line_each)
                json_open(&j, '[');
        if (units)
                print_line(&j, statement, a_line_each, print_units);
        while ((status = sqlite3_step(statement)) == SQLITE_ROW && !ferror(to))
                print_line(&j, statement, a_line_each, print_object);
        if (!a_line_each) {
                json_close(&j, ']');
                (void)putc('\n', to);
        }
        return status;
}

int query_print(FILE *to, sqlite3_stmt *statement, enum query_format format, bool units, unsigned columns)
{
        switch (format) {
        case QUERY_TABLE:
                return query_print_sheet(to, statement, columns);
        case QUERY_JSON:
        case QUERY_NDJSON:
                return print_json(to, statement, format == QUERY_NDJSON, units);
        default:
                return print_lines(to, statement, &lines[format], format == QUERY_MARKDOWN);
        }
}
