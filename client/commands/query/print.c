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

/* Nothing of it is markup; within a word '_' is none. */
static bool print_markdown_text(FILE *to, const char *safe)
{
        char before = ' ';

        for (; *safe; before = *safe++) {
                const bool in_word = query_is_word_character(before) && query_is_word_character(safe[1]);

                if (strchr("\\|*<`[&~", *safe) || (*safe == '_' && !in_word))
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

void query_names_free(char **names)
{
        for (char **name = names; name && *name; name++)
                sqlite3_free(*name);
        free(names);
}

char **query_names(sqlite3_stmt *statement)
{
        const int n = sqlite3_column_count(statement);
        char **names = calloc((size_t)n + 1, sizeof(*names));

        for (int i = 0; names && i < n; i++) {
                const char *name = sqlite3_column_name(statement, i);

                names[i] = name ? sqlite3_mprintf("%s", name) : NULL;
                for (int k = 0, number = 2; names[i] && k < i; k++) {
                        if (sqlite3_stricmp(names[i], names[k]) != 0)
                                continue;
                        sqlite3_free(names[i]);
                        names[i] = sqlite3_mprintf("%s_%d", name, number++);
                        k = -1; /* that is to be another one, too */
                }
                if (!names[i]) {
                        query_names_free(names);
                        return NULL;
                }
        }
        return names;
}

const char *query_text(sqlite3_stmt *row, int i, char **ret_blob)
{
        *ret_blob = NULL;
        if (sqlite3_column_type(row, i) != SQLITE_BLOB)
                return (const char *)sqlite3_column_text(row, i);
        const uint8_t *bytes = sqlite3_column_blob(row, i);
        const size_t n = (size_t)sqlite3_column_bytes(row, i);
        char *text = sqlite3_malloc64(2 * n + sizeof("X''")); /* within the memory of the query */

        if (!text)
                return NULL;
        char *end = stpcpy(text, "X'");
        for (size_t k = 0; k < n; k++) {
                *end++ = "0123456789ABCDEF"[bytes[k] >> 4];
                *end++ = "0123456789ABCDEF"[bytes[k] & 15];
        }
        (void)stpcpy(end, "'");
        return *ret_blob = text;
}

/* False: no memory. */
static bool print_value(struct json_out *j, sqlite3_stmt *row, int i)
{
        const char *text = "";
        char *blob;

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
                json_text(j, text = query_text(row, i, &blob));
                sqlite3_free(blob);
        }
        return text;
}

/* Numbers so that they read back as the same; what is not known is empty. False: no memory. */
static bool print_plain(FILE *to, sqlite3_stmt *row, int i, const struct lines *l)
{
        struct json_out j = { .to = to };
        const int type = sqlite3_column_type(row, i);
        bool good = true;

        if (type == SQLITE_FLOAT && isinf(sqlite3_column_double(row, i))) {
                (void)fputs(sqlite3_column_double(row, i) < 0 ? "-inf" : "inf", to);
        } else if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
                good = print_value(&j, row, i);
        } else if (type != SQLITE_NULL) {
                char *blob;
                good = print_text(to, query_text(row, i, &blob), l);
                sqlite3_free(blob);
        }
        return good;
}

static int print_lines(FILE *to, sqlite3_stmt *statement, const struct lines *l, bool rule)
{
        const int n = sqlite3_column_count(statement);
        char **names = query_names(statement);
        bool good = names;
        int status = SQLITE_ROW;

        for (int i = 0; good && i < n; i++) {
                (void)fputs(i ? l->between : l->before, to);
                good = print_text(to, names[i], l);
        }
        query_names_free(names);
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

static bool print_units(struct json_out *j, sqlite3_stmt *statement, char *const *names)
{
        json_open(j, '{');
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
                json_text_key(j, names[i]);
                json_text(j, query_unit_of(statement, i));
        }
        json_close(j, '}');
        return true;
}

static bool print_object(struct json_out *j, sqlite3_stmt *row, char *const *names)
{
        bool good = true;

        json_open(j, '{');
        for (int i = 0; i < sqlite3_column_count(row); i++) {
                json_text_key(j, names[i]);
                good = print_value(j, row, i) && good;
        }
        json_close(j, '}');
        return good;
}

/* An item of the array that is open, or a text of its own with its line end. */
static bool print_line(struct json_out *j, sqlite3_stmt *statement, char *const *names, bool alone,
                       bool (*print)(struct json_out *j, sqlite3_stmt *statement, char *const *names))
{
        struct json_out line = { .to = j->to };

        if (!alone)
                json_line(j);
        const bool good = print(alone ? &line : j, statement, names);
        if (alone)
                (void)putc('\n', j->to);
        return good;
}

static int print_json(FILE *to, sqlite3_stmt *statement, bool a_line_each, bool units)
{
        struct json_out j = { .to = to };
        char **names = query_names(statement);
        bool good = names;
        int status = SQLITE_ROW;

        if (!a_line_each)
                json_open(&j, '[');
        if (good && units)
                (void)print_line(&j, statement, names, a_line_each, print_units);
        while (good && (status = sqlite3_step(statement)) == SQLITE_ROW && !ferror(to))
                good = print_line(&j, statement, names, a_line_each, print_object);
        if (!a_line_each) {
                json_close(&j, ']');
                (void)putc('\n', to);
        }
        query_names_free(names);
        return good ? status : SQLITE_NOMEM;
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
