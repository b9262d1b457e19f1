/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * names.c - the names that a query can have: what Tab completes, and what was meant by one that is not there.
 *
 * DESIGN: columns are asked of SQLite, so that tables and views are one kind. Of the text of a query no more is
 * understood than which table an alias stands for: the one before it ("FROM bands AS b").
 */
#include "client/commands/query/answer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proto/base/array.h"
#include "proto/base/nearest.h"

struct names {
        char **items;
        size_t n, room;
};

static void free_names(struct names *names)
{
        for (size_t i = 0; i < names->n; i++)
                free(names->items[i]);
        free(names->items);
        *names = (struct names){ .n = 0 };
}

static void add_name(struct names *names, const char *qualifier, const char *name, const char *end)
{
        char *whole = sqlite3_mprintf("%s%s%s%s", qualifier, *qualifier ? "." : "", name, end);
        char *copy = whole ? strdup(whole) : NULL; /* for free() */

        sqlite3_free(whole);
        if (copy && ARRAY_RESERVE(names->items, names->room, names->n + 2))
                names->items[names->n++] = copy;
        else
                free(copy);
}

static void add_tables(struct names *names, const struct query *q, const char *qualifier)
{
        for (unsigned t = 0; t < n_query_tables; t++)
                add_name(names, qualifier, query_tables[t].name, "");
        for (const struct query_view *v = query_views; !*qualifier && v->name; v++)
                if (v->sources <= q->n)
                        add_name(names, "", v->name, "");
}

static void add_columns(struct names *names, const struct query *q, const char *table, const char *qualifier)
{
        char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", table);
        sqlite3_stmt *statement = NULL;

        if (sql && sqlite3_prepare_v2(q->db, sql, -1, &statement, NULL) == SQLITE_OK)
                for (int i = 0; i < sqlite3_column_count(statement); i++)
                        add_name(names, qualifier, sqlite3_column_name(statement, i), "");
        (void)sqlite3_finalize(statement);
        sqlite3_free(sql);
}

static void add_all_columns(struct names *names, const struct query *q)
{
        struct names tables = { .n = 0 };

        add_tables(&tables, q, "");
        for (size_t i = 0; i < tables.n; i++)
                add_columns(names, q, tables.items[i], "");
        free_names(&tables);
}

/* Our own, and those of SQLite's that a query has most. */
static void add_functions(struct names *names)
{
        static const char *const others[] = { "count", "sum", "max", "min", "avg", "round", "json_extract" };
        char name[32];

        for (const struct query_column *f = query_functions; f->name; f++)
                if (sscanf(f->name, "%31[a-z_](", name) == 1 && f->name[strlen(name)] == '(')
                        add_name(names, "", name, "");
        for (size_t i = 0; i < ARRAY_SIZE(others); i++)
                add_name(names, "", others[i], "");
}

static void add_sources(struct names *names, const struct query *q, const char *end)
{
        for (size_t i = 0; i < q->n; i++)
                add_name(names, "", q->sources[i].name, end);
}

static bool has_name(const struct names *names, const char *name)
{
        for (size_t i = 0; i < names->n; i++)
                if (!sqlite3_stricmp(names->items[i], name))
                        return true;
        return false;
}

/* ---------------------------------------------------------------------- aliases */

bool query_is_word_at(const char *sql, const char *at, const char *word)
{
        const size_t n = strlen(word);

        return (at == sql || !query_is_word_character(at[-1])) && !strncasecmp(at, word, n) &&
               !query_is_word_character(at[n]);
}

const char *query_find_word(const char *sql, const char *from, const char *word)
{
        while (*from && !query_is_word_at(sql, from, word))
                from++;
        return *from ? from : NULL;
}

/* The table or view that the name stands for in the query; NULL: none. For free(). */
static char *find_table(const struct query *q, const char *sql, const char *alias)
{
        struct names tables = { .n = 0 };
        char *found = NULL;

        add_tables(&tables, q, "");
        for (size_t i = 0; i < tables.n && !found; i++) {
                const char *table = tables.items[i];

                if (!sqlite3_stricmp(table, alias))
                        found = strdup(table);
                for (const char *at = sql; !found && (at = query_find_word(sql, at, table)) != NULL;) {
                        at += strlen(table);
                        at += strspn(at, " \t\n");
                        if (query_is_word_at(at, at, "AS"))
                                at += 2 + strspn(at + 2, " \t\n");
                        if (*alias && query_is_word_at(at, at, alias))
                                found = strdup(table);
                }
        }
        free_names(&tables);
        return found;
}

/* ------------------------------------------------------------------- completion */

static int compare_names(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

char **query_complete(const struct query *q, const char *sql, const char *qualifier)
{
        struct names names = { .n = 0 }, sources = { .n = 0 };
        char *table = NULL;
        size_t kept = 0;

        add_sources(&sources, q, "");
        if (!*qualifier) {
                add_tables(&names, q, "");
                add_all_columns(&names, q);
                add_functions(&names);
                add_sources(&names, q, ".");
        } else if (has_name(&sources, qualifier)) {
                add_tables(&names, q, qualifier);
        } else if ((table = find_table(q, sql, qualifier)) != NULL) {
                add_columns(&names, q, table, qualifier);
        }
        free(table);
        free_names(&sources);
        ARRAY_SORT(names.items, names.n, compare_names);
        for (size_t i = 0; i < names.n; i++) {
                if (kept == 0 || strcmp(names.items[i], names.items[kept - 1]) != 0)
                        names.items[kept++] = names.items[i];
                else
                        free(names.items[i]);
        }
        if (names.items)
                names.items[kept] = NULL;
        return names.items;
}

/* --------------------------------------------------------------------- mistakes */

/* "did you mean 'name'?", or nothing where none is near. */
static void suggest_nearest(char *out, size_t size, const char *typed, const struct names *names, const char *end)
{
        const char *meant = nearest(typed, (const char *const *)names->items, names->n);

        if (meant && sqlite3_stricmp(meant, typed) != 0)
                (void)snprintf(out, size, "; did you mean '%s%s'?", meant, end);
}

/* The tables that have a column, where that of the query has none. */
static void suggest_tables(char *out, size_t size, const struct query *q, const char *column)
{
        struct names tables = { .n = 0 };
        size_t used = 0;

        add_tables(&tables, q, "");
        for (size_t i = 0; i < tables.n && used < size / 2; i++) {
                struct names columns = { .n = 0 };

                add_columns(&columns, q, tables.items[i], "");
                if (has_name(&columns, column))
                        used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "; it is a column of ",
                                                 tables.items[i]);
                free_names(&columns);
        }
        free_names(&tables);
}

static void suggest_table(char *out, size_t size, const struct query *q, const char *name)
{
        const char *dot = strrchr(name, '.'), *table = dot ? dot + 1 : name;
        char *source = strndup(name, dot ? (size_t)(dot - name) : 0);
        struct names names = { .n = 0 }, sources = { .n = 0 };

        add_tables(&names, q, "");
        add_sources(&sources, q, "");
        if (!strcmp(name, "diff"))
                (void)snprintf(out, size, "; it needs two sources: heapwatch query SQL old=LOG new=LOG");
        else if (!dot || !source || !has_name(&names, table))
                suggest_nearest(out, size, table, &names, "");
        else if (has_name(&sources, source))
                (void)snprintf(out, size, "; it is a view, of all sources: %s", table);
        else
                suggest_nearest(out, size, source, &sources, dot);
        if (!*out && dot)
                (void)snprintf(out, size, "; no source is called %s, as by %s=LOG", source ? source : "",
                               source ? source : "");
        free_names(&names);
        free_names(&sources);
        free(source);
}

static void suggest_column(char *out, size_t size, const struct query *q, const char *sql, const char *name)
{
        const char *dot = strrchr(name, '.'), *column = dot ? dot + 1 : name;
        char *alias = strndup(name, dot ? (size_t)(dot - name) : 0);
        char *table = dot && alias ? find_table(q, sql, alias) : NULL;
        struct names names = { .n = 0 };

        if (table)
                add_columns(&names, q, table, "");
        else
                add_all_columns(&names, q);
        if (dot && alias && !table)
                (void)snprintf(out, size, "; the query has no table or alias '%s'", alias);
        else if (has_name(&names, column))
                suggest_tables(out, size, q, column);
        else
                suggest_nearest(out, size, column, &names, "");
        free_names(&names);
        free(alias);
        free(table);
}

/* Of a function that is there: its arguments. Of one that is not: what was meant. */
static void suggest_function(char *out, size_t size, const char *name)
{
        const size_t n = strcspn(name, "(");
        struct names names = { .n = 0 };

        for (const struct query_column *f = query_functions; f->name; f++)
                if (!strncasecmp(f->name, name, n) && f->name[n] == '(' && name[n] == '(')
                        (void)snprintf(out, size, "; expected %s", f->name);
        add_functions(&names);
        if (!*out)
                suggest_nearest(out, size, name, &names, "");
        free_names(&names);
}

/* near "SELEC": a word of SQL, unless it is the name of a table. */
static void suggest_keyword(char *out, size_t size, const struct query *q, const char *quoted)
{
        static const char *const keywords[] = { "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT",
                                                "JOIN",   "WITH", "AS",    "ON",       "AND",      "OR",     "USING" };
        struct names tables = { .n = 0 };
        char typed[32] = "";

        (void)sscanf(quoted, "%31[^\"]", typed);
        add_tables(&tables, q, "");
        const bool is_table = has_name(&tables, typed);
        free_names(&tables);
        for (char *at = typed; *at; at++)
                *at = (char)toupper((unsigned char)*at);
        const char *meant = nearest(typed, keywords, ARRAY_SIZE(keywords));
        if (meant && !is_table && strcmp(meant, typed) != 0)
                (void)snprintf(out, size, "; did you mean '%s'?", meant);
}

void query_suggest(char *out, size_t size, const struct query *q, const char *sql, const char *why)
{
        static const struct {
                const char *message, *advice;
        } known[] = {
                { "incomplete input", "; the query ends too early" },
                { "not authorized", "; a query can only read" },
                { "near \":", "; a text, such as the name of a band, stands in 'single quotes'" },
                { "no such function: median", "; quantile(value, 0.5) is it" },
                { "misuse of aggregate", "; a condition on it goes behind GROUP BY, in HAVING" },
                { "ambiguous column name: ", "; put the name or alias of its table before it, with a dot" },
        };
        const char *name = strchr(why, ':') ? strchr(why, ':') + 2 : "";

        *out = '\0';
        for (size_t i = 0; i < ARRAY_SIZE(known); i++)
                if (strstr(why, known[i].message) == why)
                        (void)snprintf(out, size, "%s", known[i].advice);
        if (strstr(why, "no such table: ") == why)
                suggest_table(out, size, q, name);
        else if (strstr(why, "no such column: ") == why)
                suggest_column(out, size, q, sql, name);
        else if (!*out && strstr(why, "no such function: ") == why)
                suggest_function(out, size, name);
        else if (strstr(why, "wrong number of arguments to function ") == why)
                suggest_function(out, size, why + strlen("wrong number of arguments to function "));
        else if (!*out && strstr(why, "near \"") == why)
                suggest_keyword(out, size, q, why + strlen("near \""));
}
