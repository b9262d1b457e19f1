/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unit.c - DESIGN: SQLite tells of a result's column only its name, so its unit is found in the text of the query. A
 * column that is named by AS has the unit of what is before, where that is a column, or one function of a column that
 * keeps its unit: "max(bytes) AS largest". Any other has the unit of the column of its name in a table that the query
 * names, or of the series of that name. Whatever does not fit has no unit, and is printed as a plain number.
 */
#include "client/commands/query/answer.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "proto/base/array.h"

#define NAME_MAX_BYTES 64u
#define DEPTH_MAX      4u /* of names that are other columns' names */

/* A part of the text of a query. */
struct part {
        const char *begin, *end;
};

static const char *skip_back(const char *sql, const char *at)
{
        while (at > sql && isspace((unsigned char)at[-1]))
                at--;
        return at;
}

/* The word, without what is before its dot, that ends there. */
static struct part find_word_before(const char *sql, const char *end)
{
        const char *begin = end;

        while (begin > sql && query_is_word_character(begin[-1]))
                begin--;
        return (struct part){ begin, end };
}

static bool is_part(struct part p, const char *word)
{
        return (size_t)(p.end - p.begin) == strlen(word) && !strncasecmp(p.begin, word, strlen(word));
}

/* ------------------------------------------------------------------------ names */

static const char *find_unit_of_series(const char *name)
{
        for (unsigned series = 1; series < SERIES_COUNT; series++) {
                const char *known = hw_series_name((Hw__Series)series);

                if (known && !strcmp(known, name))
                        return strcmp(hw_series_unit((Hw__Series)series), "ns") ? "B" : "s";
        }
        return "";
}

/* The unit of the column of that name in the tables that the query names; "": none, or not the same in all. */
static const char *find_unit_of_name(const char *sql, const char *name)
{
        const char *unit = NULL;

        for (unsigned t = 0; t < n_query_tables; t++)
                for (unsigned i = 0; i < query_tables[t].n_columns; i++) {
                        const struct query_column *c = &query_tables[t].columns[i];

                        if (sqlite3_stricmp(c->name, name) != 0 || !query_find_word(sql, sql, query_tables[t].name))
                                continue;
                        if (unit && strcmp(unit, c->unit) != 0)
                                return "";
                        unit = c->unit;
                }
        if (!unit && query_find_word(sql, sql, "diff") &&
            (!strcmp(name, "old") || !strcmp(name, "new") || !strcmp(name, "change")))
                return "B";
        return unit ? unit : query_find_word(sql, sql, "series") ? find_unit_of_series(name) : "";
}

/* ------------------------------------------------------------------ expressions */

/* In these "" is no unit for certain, NULL is not known. */
static const char *find_unit_of_alias(const char *sql, const char *name, unsigned depth);

/* Of a column of a table, of the query itself, or of a view that it names. */
static const char *find_unit_of_column(const char *sql, const char *name, unsigned depth)
{
        const char *unit = find_unit_of_name(sql, name);

        if (*unit || depth >= DEPTH_MAX)
                return *unit ? unit : NULL;
        unit = find_unit_of_alias(sql, name, depth + 1);
        for (const struct query_view *v = query_views; !unit && v->name; v++)
                if (query_find_word(sql, sql, v->name))
                        unit = find_unit_of_column(v->sql, name, depth + 1);
        return unit;
}

static const char *find_unit_of_part(const char *sql, struct part p, unsigned depth)
{
        const size_t n = (size_t)(p.end - p.begin);
        char name[NAME_MAX_BYTES] = "";

        if (n == 0 || n >= sizeof(name))
                return NULL;
        (void)memcpy(name, p.begin, n);
        return find_unit_of_column(sql, name, depth);
}

/* The argument at that place, from 0, if it is a column; else an empty part. */
static struct part find_argument(struct part within, unsigned place)
{
        const char *begin = within.begin, *end, *rest;

        for (; place > 0 && begin < within.end; begin++)
                place -= *begin == ',';
        begin += strspn(begin, " \t\n");
        for (end = begin; end < within.end && (query_is_word_character(*end) || *end == '.'); end++)
                if (*end == '.')
                        begin = end + 1;
        rest = end + strspn(end, " \t\n");
        return (struct part){ begin, place == 0 && (rest == within.end || *rest == ',') ? end : begin };
}

static bool is_one_of(struct part p, const char *const *words)
{
        while (*words && !is_part(p, *words))
                words++;
        return *words != NULL;
}

static const char *find_unit_of_call(const char *sql, struct part function, struct part arguments, unsigned depth)
{
        static const char *const keeping[] = { "max",  "min",    "sum",    "total",    "avg", "quantile",    "lag",
                                               "lead", "ifnull", "nullif", "coalesce", "abs", "first_value", NULL };
        static const char *const per_second[] = { "rate", "slope", "slope_low", "slope_high", NULL };
        static const char *const times[] = { "bucket", "onset", NULL }, *const counts[] = { "count", "length", NULL };

        if (is_one_of(function, keeping))
                return find_unit_of_part(sql, find_argument(arguments, 0), depth);
        if (is_one_of(function, per_second)) {
                const char *unit = find_unit_of_part(sql, find_argument(arguments, 1), depth);
                return unit && !strcmp(unit, "B") ? "B/s" : NULL;
        }
        return is_one_of(function, times) ? "s" : is_one_of(function, counts) ? "" : NULL;
}

/* Whether an expression begins there: what is before it is no part of it. */
static bool is_begin(const char *sql, const char *at)
{
        at = skip_back(sql, at);
        const struct part word = find_word_before(sql, at);
        return at == sql || at[-1] == ',' || at[-1] == '(' || is_part(word, "SELECT") || is_part(word, "DISTINCT");
}

/* The '(' of the ')' that ends there; NULL: there is none. */
static const char *find_open(const char *sql, const char *end)
{
        unsigned depth = 0;

        for (const char *at = end; at-- > sql;) {
                depth += *at == ')';
                if (*at == '(' && --depth == 0)
                        return at;
        }
        return NULL;
}

/* Of the expression that ends there, if it is a column, or one function of a column. */
static const char *find_unit_before(const char *sql, const char *end, unsigned depth)
{
        char name[NAME_MAX_BYTES];

        end = skip_back(sql, end);
        struct part word = find_word_before(sql, end);
        const char *open = end > sql && end[-1] == ')' ? find_open(sql, end) : NULL;
        if (!open) {
                const bool has_dot = word.begin > sql && word.begin[-1] == '.';
                const char *begin = has_dot ? find_word_before(sql, word.begin - 1).begin : word.begin;

                return is_begin(sql, begin) ? find_unit_of_part(sql, word, depth) : NULL;
        }
        word = find_word_before(sql, skip_back(sql, open));
        if (depth < DEPTH_MAX && (is_part(word, "FILTER") || is_part(word, "OVER"))) {
                const char *series = query_find_word(sql, open, "series");

                if (series && series < end && sscanf(series, "series = '%63[a-z_]'", name) == 1)
                        return find_unit_of_series(name);
                return find_unit_before(sql, word.begin, depth + 1);
        }
        return is_begin(sql, word.begin) ? find_unit_of_call(sql, word, (struct part){ open + 1, end - 1 }, depth)
                                         : NULL;
}

/* Of what is named so by AS. */
static const char *find_unit_of_alias(const char *sql, const char *name, unsigned depth)
{
        const char *unit = NULL;

        for (const char *at = sql; !unit && depth < DEPTH_MAX && (at = query_find_word(sql, at, name)) != NULL; at++) {
                const struct part as = find_word_before(sql, skip_back(sql, at));

                unit = is_part(as, "AS") ? find_unit_before(sql, as.begin, depth) : NULL;
        }
        return unit;
}

const char *query_unit_of(sqlite3_stmt *statement, int column)
{
        const char *sql = sqlite3_sql(statement), *name = sqlite3_column_name(statement, column);
        const char *expression = strchr(name, '(') ? strstr(sql, name) : NULL; /* its name where there is no AS */
        const char *unit = !sqlite3_stricmp(name, "time") ? "s" : find_unit_of_alias(sql, name, 0);

        if (!unit && expression)
                unit = find_unit_before(sql, expression + strlen(name), 0);
        if (!unit)
                unit = find_unit_of_column(sql, name, 0);
        return unit ? unit : "";
}
