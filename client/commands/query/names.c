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

size_t query_list_tables(size_t sources, const char *ret[QUERY_TABLES_MAX])
{
        size_t n = 0;

        for (; n < n_query_tables; n++)
                ret[n] = query_tables[n].name;
        for (const struct query_view *v = query_views; v->name; v++)
                if (v->sources <= sources)
                        ret[n++] = v->name;
        return n;
}

static size_t list_sources(const struct query *q, const char *ret[QUERY_SOURCES_MAX])
{
        for (size_t i = 0; i < q->n; i++)
                ret[i] = q->sources[i].name;
        return q->n;
}

bool query_is_name(const char *name, const char *const *names, size_t n)
{
        while (n > 0 && sqlite3_stricmp(names[n - 1], name) != 0)
                n--;
        return n > 0;
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
        const char *tables[QUERY_TABLES_MAX];

        for (size_t i = query_list_tables(q->n, tables); i-- > 0;)
                add_columns(names, q, tables[i], "");
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

/* The table or view that the name stands for in the query; NULL: none. */
static const char *find_table(const struct query *q, const char *sql, const char *alias)
{
        const char *tables[QUERY_TABLES_MAX];
        const size_t n = query_list_tables(q->n, tables);

        for (size_t i = 0; i < n; i++) {
                if (!sqlite3_stricmp(tables[i], alias))
                        return tables[i];
                for (const char *at = sql; (at = query_find_word(sql, at, tables[i])) != NULL;) {
                        at += strlen(tables[i]);
                        at += strspn(at, " \t\n");
                        if (query_is_word_at(at, at, "AS"))
                                at += 2 + strspn(at + 2, " \t\n");
                        if (*alias && query_is_word_at(at, at, alias))
                                return tables[i];
                }
        }
        return NULL;
}

/* ------------------------------------------------------------------- completion */

static int compare_names(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

char **query_complete(const struct query *q, const char *sql, const char *qualifier)
{
        const char *tables[QUERY_TABLES_MAX], *sources[QUERY_SOURCES_MAX], *table;
        const size_t n_sources = list_sources(q, sources);
        struct names names = { .n = 0 };
        size_t n = query_list_tables(q->n, tables), kept = 0;

        if (!*qualifier) {
                add_all_columns(&names, q);
                add_functions(&names);
                for (size_t i = 0; i < n_sources; i++)
                        add_name(&names, "", sources[i], ".");
        } else if (query_is_name(qualifier, sources, n_sources)) {
                n = n_query_tables; /* without the views, which are of all sources */
        } else {
                n = 0;
                if ((table = find_table(q, sql, qualifier)) != NULL)
                        add_columns(&names, q, table, qualifier);
        }
        for (size_t i = 0; i < n; i++)
                add_name(&names, qualifier, tables[i], "");
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
static void suggest_nearest(char *out, size_t size, const char *typed, const char *const *names, size_t n,
                            const char *end)
{
        const char *meant = nearest(typed, names, n);

        if (meant && sqlite3_stricmp(meant, typed) != 0)
                (void)snprintf(out, size, "; did you mean '%s%s'?", meant, end);
}

/* The tables that have a column, where that of the query has none. */
static void suggest_tables(char *out, size_t size, const struct query *q, const char *column)
{
        const char *tables[QUERY_TABLES_MAX];
        const size_t n = query_list_tables(q->n, tables);
        size_t used = 0;

        for (size_t i = 0; i < n && used < size / 2; i++) {
                struct names columns = { .n = 0 };

                add_columns(&columns, q, tables[i], "");
                if (query_is_name(column, (const char *const *)columns.items, columns.n))
                        used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "; it is a column of ",
                                                 tables[i]);
                free_names(&columns);
        }
}

/* Behind what is there, as far as there is room. */
static void list_names(char *out, size_t size, const char *const *names, size_t n)
{
        size_t used = strlen(out);

        for (size_t i = 0; i < n && used + strlen(names[i]) + 2 < size; i++)
                used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : " ", names[i]);
}

static void suggest_table(char *out, size_t size, const struct query *q, const char *name)
{
        const char *dot = strrchr(name, '.'), *table = dot ? dot + 1 : name;
        char *source = strndup(name, dot ? (size_t)(dot - name) : 0);
        const char *tables[QUERY_TABLES_MAX], *sources[QUERY_SOURCES_MAX];
        const size_t n = query_list_tables(q->n, tables), n_sources = list_sources(q, sources);

        if (!strcmp(name, "diff"))
                (void)snprintf(out, size, "; it needs two sources: heapwatch query SQL old=LOG new=LOG");
        else if (!dot || !source || !query_is_name(table, tables, n))
                suggest_nearest(out, size, table, tables, n, "");
        else if (query_is_name(source, sources, n_sources))
                (void)snprintf(out, size, "; it is a view, of all sources: %s", table);
        else
                suggest_nearest(out, size, source, sources, n_sources, dot);
        if (!*out && dot)
                (void)snprintf(out, size, "; no source is called %s, as by %s=LOG", source ? source : "",
                               source ? source : "");
        if (!*out) {
                (void)snprintf(out, size, "; there are");
                list_names(out, size, tables, n);
        }
        free(source);
}

/* Tables that have it; else the nearest name in those of the query, and all names if that is one table. */
static void suggest_column(char *out, size_t size, const struct query *q, const char *sql, const char *name)
{
        const char *dot = strrchr(name, '.'), *column = dot ? dot + 1 : name, *tables[QUERY_TABLES_MAX];
        char *alias = strndup(name, dot ? (size_t)(dot - name) : 0);
        const char *given = dot && alias ? find_table(q, sql, alias) : NULL, *table = NULL;
        const size_t n = query_list_tables(q->n, tables);
        struct names names = { .n = 0 };
        unsigned n_tables = 0;

        for (size_t i = 0; i < n; i++) {
                if (given ? given != tables[i] : !query_find_word(sql, sql, tables[i]))
                        continue;
                add_columns(&names, q, table = tables[i], "");
                n_tables++;
        }
        if (dot && alias && !given)
                (void)snprintf(out, size, "; the query has no table or alias '%s'", alias);
        else
                suggest_tables(out, size, q, column);
        if (!*out) {
                suggest_nearest(out, size, column, (const char *const *)names.items, names.n, "");
                if (n_tables == 1) {
                        (void)snprintf(out + strlen(out), size - strlen(out), "%s %s has", *out ? "" : ";", table);
                        list_names(out, size, (const char *const *)names.items, names.n);
                }
        }
        free_names(&names);
        free(alias);
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
                suggest_nearest(out, size, name, (const char *const *)names.items, names.n, "");
        if (!*out)
                (void)snprintf(out, size, "; `heapwatch query --list` has those beside SQLite's own");
        free_names(&names);
}

/* near "SELEC": a word of SQL, unless it is the name of a table or, near "order" in order.bands, of a source. */
static void suggest_keyword(char *out, size_t size, const struct query *q, const char *quoted)
{
        static const char *const keywords[] = { "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT",
                                                "JOIN",   "WITH", "AS",    "ON",       "AND",      "OR",     "USING" };
        const char *tables[QUERY_TABLES_MAX], *sources[QUERY_SOURCES_MAX];
        char typed[32] = "";

        (void)sscanf(quoted, "%31[^\"]", typed);
        if (query_is_name(typed, sources, list_sources(q, sources)))
                (void)snprintf(out, size, "; as the name of a source, a word of SQL stands in \"double quotes\"");
        const bool is_table = query_is_name(typed, tables, query_list_tables(q->n, tables));
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
