/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unit.c - DESIGN: SQLite knows which column of a table a result's column is, through subqueries and views. Any other
 * is an expression, whose text is found in the query, before "AS name": it has the unit that all columns in it have, if
 * it only adds, subtracts, or calls functions that keep a unit. Else it is printed as a plain number.
 */
#include "client/commands/query/answer.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "proto/base/array.h"

#define DEPTH_MAX 4u /* of names that stand for expressions with names */

/* What is looked for: the unit of a column of that name in the result of a query. */
struct sought {
        const char *sql, *name;
        unsigned depth;
};

static const char *find_unit_of_word(struct sought q, const char *word, size_t n);

/* The unit that two units have in common; NULL: not known. */
static const char *join_units(const char *a, const char *b)
{
        return !a || !b ? a ? a : b : strcmp(a, b) != 0 ? "" : a;
}

/* Of a value of the table series: that of the series which the column is named after, or of all that are quoted. */
static const char *find_unit_of_series(struct sought q)
{
        const char *unit = NULL;

        for (unsigned i = 1; i < SERIES_COUNT; i++) {
                const char *name = hw_series_name((Hw__Series)i), *of = query_series_unit((Hw__Series)i);
                const size_t n = name ? strlen(name) : 0;

                if (name && !strcmp(name, q.name))
                        return of;
                for (const char *at = q.sql; name && (at = query_find_word(q.sql, at, name)) != NULL; at++)
                        if (at > q.sql && at[-1] == '\'' && at[n] == '\'')
                                unit = join_units(unit, of);
        }
        return unit ? unit : "";
}

static const char *resolve_unit(struct sought q, const char *unit)
{
        return unit && !strcmp(unit, QUERY_UNIT_OF_SERIES) ? find_unit_of_series(q) : unit;
}

/* -------------------------------------------------------------------- expressions */

static bool is_one_of(const char *word, size_t n, const char *const *words)
{
        while (*words && (strncasecmp(*words, word, n) != 0 || (*words)[n]))
                words++;
        return *words != NULL;
}

/* The place behind the ')' of a '('. */
static const char *skip_parentheses(const char *open, const char *end)
{
        unsigned depth = 0;

        do {
                depth += *open == '(';
                depth -= *open == ')';
        } while (++open < end && depth > 0);
        return open;
}

static const char *find_unit_of_expression(struct sought q, const char *at, const char *end)
{
        static const char *const keeping[] = { "max", "min",         "sum",        "total",  "avg",    "quantile",
                                               "lag", "lead",        "abs",        "ifnull", "nullif", "coalesce",
                                               "iif", "first_value", "last_value", "round",  "cast",   NULL };
        static const char *const per_second[] = { "rate", "slope", "slope_low", "slope_high", NULL };
        static const char *const times[] = { "bucket", "onset", NULL }, *const windows[] = { "filter", "over", NULL };
        const char *unit = NULL;
        bool is_rate = false;

        while (at < end && (!unit || *unit)) {
                const char *word = at, *next;

                while (at < end && query_is_word_character(*at))
                        at++;
                const size_t n = (size_t)(at - word);
                next = at + strspn(at, " \t\n");
                if (n == 0 && *at == '\'') {
                        const char *quote = strchr(at + 1, '\'');
                        at = quote && quote < end ? quote + 1 : end;
                } else if (n == 0) {
                        if (strchr("*/%<>=!&|~", *at++))
                                return "";
                } else if (next < end && *next == '(') {
                        is_rate = is_rate || is_one_of(word, n, per_second);
                        if (is_one_of(word, n, windows))
                                at = skip_parentheses(next, end);
                        else if (is_one_of(word, n, per_second))
                                at = next + strcspn(next, ","); /* behind the time */
                        else if (is_one_of(word, n, times))
                                return "s";
                        else if (!is_one_of(word, n, keeping))
                                return "";
                } else if (*at != '.' && !isdigit((unsigned char)*word)) {
                        unit = join_units(unit, find_unit_of_word(q, word, n));
                }
        }
        return !is_rate || !unit ? unit : !strcmp(unit, "B") ? "B/s" : "";
}

/* Where the expression begins that ends there. */
static const char *find_begin(const char *sql, const char *end)
{
        const char *at = end;
        bool is_text = false;
        unsigned depth = 0;

        for (; at > sql; at--) {
                is_text = is_text != (at[-1] == '\'');
                if (is_text)
                        continue;
                if (depth == 0 && (at[-1] == ',' || at[-1] == '('))
                        break;
                depth += at[-1] == ')';
                depth -= at[-1] == '(';
                if (depth == 0 && query_is_word_at(sql, at, "SELECT"))
                        return at + strlen("SELECT");
        }
        return at;
}

/*
 * Where the expression ends that has the word of `size` bytes there as its name, with AS or not, as in "max(pause) m,"
 * or 'bytes "all of it" FROM'. NULL: the word is no name.
 */
static const char *find_end(const char *sql, const char *word, size_t size)
{
        static const char *const before[] = { "SELECT", "DISTINCT", "ALL", "BY", "AND", "OR", "NOT" };
        const char *end = word, *next = word + size;

        while (end > sql && strchr(" \t\n\"", end[-1]))
                end--;
        if (end - sql > 2 && query_is_word_at(sql, end - 2, "AS"))
                return end - 2;
        bool is_name = end < word && end > sql && (end[-1] == ')' || query_is_word_character(end[-1]));
        for (size_t i = 0; i < ARRAY_SIZE(before); i++)
                is_name = is_name && !((size_t)(end - sql) >= strlen(before[i]) &&
                                       query_is_word_at(sql, end - strlen(before[i]), before[i]));
        next += strspn(next, " \t\n\"");
        return is_name && (*next == ',' || query_is_word_at(next, next, "FROM")) ? end : NULL;
}

/* Of what the query calls so: of all such expressions, or of the first if another one has led here. */
static const char *find_unit_of_alias(struct sought q, const char *name)
{
        const char *unit = NULL;

        for (const char *at = q.sql; (at = query_find_word(q.sql, at, name)) != NULL && !(unit && q.depth); at++) {
                const struct sought next = { q.sql, q.name, q.depth + 1 };
                const char *end = find_end(q.sql, at, strlen(name));

                if (end)
                        unit = join_units(unit, find_unit_of_expression(next, find_begin(q.sql, end), end));
        }
        return unit;
}

/* Of a column of that name in the tables that the query has; else of what the query, or a view in it, calls so. */
static const char *find_unit_of_word(struct sought q, const char *word, size_t n)
{
        const char *unit = NULL;
        char name[64];

        if (n >= sizeof(name) || q.depth > DEPTH_MAX)
                return NULL;
        (void)snprintf(name, sizeof(name), "%.*s", (int)n, word);
        for (unsigned t = 0; t < n_query_tables; t++)
                for (unsigned i = 0; i < query_tables[t].n_columns; i++)
                        if (!sqlite3_stricmp(query_tables[t].columns[i].name, name) &&
                            query_find_word(q.sql, q.sql, query_tables[t].name))
                                unit = join_units(unit, query_tables[t].columns[i].unit);
        unit = unit ? unit : find_unit_of_alias(q, name);
        for (const struct query_view *v = query_views; !unit && v->name; v++)
                if (query_find_word(q.sql, q.sql, v->name))
                        unit = find_unit_of_word((struct sought){ v->sql, name, q.depth + 1 }, name, n);
        return resolve_unit(q, unit);
}

const char *query_unit_of(sqlite3_stmt *statement, int column)
{
        const struct sought q = { sqlite3_sql(statement), sqlite3_column_name(statement, column), 0 };
        const char *table = sqlite3_column_table_name(statement, column), *unit = NULL;

        for (unsigned t = 0; table && t < n_query_tables; t++)
                for (unsigned i = 0; !strcmp(table, query_tables[t].name) && i < query_tables[t].n_columns; i++)
                        if (!strcmp(sqlite3_column_origin_name(statement, column), query_tables[t].columns[i].name))
                                return resolve_unit(q, query_tables[t].columns[i].unit);
        if (!(unit = find_unit_of_alias(q, q.name)))
                unit = find_unit_of_expression(q, q.name, q.name + strlen(q.name)); /* its text, where there is no AS */
        return unit ? unit : "";
}
