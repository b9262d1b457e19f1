/* SPDX-License-Identifier: BSD-3-Clause */
/* command.c - `heapwatch query`: SQL over logs, recordings and live targets. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "client/cli/options.h"
#include "client/cli/out_file.h"
#include "client/cli/signals.h"
#include "client/query/module.h"
#include "client/query/print.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/base/clock.h"
#include "proto/base/nearest.h"
#include "proto/base/time.h"

#define DEFAULT_TIMEOUT_NS (60 * NS_PER_S)
#define NAMES_MAX          256u /* of tables and columns, to find the nearest of */

struct request {
        struct text_list operands; /* the query, then sources */
        struct text_list endpoints;
        struct judging judging;
        enum query_format format;
        const char *out;
        uint64_t timeout_ns;
        bool list, schema;
};

static const char *const formats[] = { "table", "csv", "tsv", "json", "ndjson", "markdown", NULL };

static const struct option options[] = {
        OPERAND_LIST("SQL [NAME=]SOURCE", 0, struct request, operands, COMPLETE_TARGET_OR_FILE, NULL),
        OPTION_CONNECT(struct request, endpoints),
        OPTION_CHOICE("format", 'f', "FORMAT", enum query_format, struct request, format, formats,
                      "table (default), csv, tsv, json, ndjson or markdown"),
        OPTION_TEXT("output", 'o', "FILE", struct request, out, COMPLETE_FILE, "write there"),
        OPTION_SECONDS("timeout", 0, "TIME", struct request, timeout_ns, 1, 0, "stop after this long; default: 60s"),
        OPTION_FLAG("list", 'l', struct request, list, "the tables, views and functions, a line each"),
        OPTION_FLAG("schema", 0, struct request, schema, "the columns of each table, with units"),
        OPTIONS_OF_TREND(struct request, judging),
        OPTION_RULES(struct request, judging),
        OPTIONS_END,
};

/* ------------------------------------------------------------------ what there is */

static void print_tables(bool columns)
{
        for (unsigned i = 0; i < n_query_tables; i++) {
                const struct query_table *t = &query_tables[i];

                (void)printf("%-26s %s\n", t->name, t->help);
                for (unsigned c = 0; columns && c < QUERY_FIRST_COLUMNS + t->n_columns; c++) {
                        const struct query_column *column = query_column_at(t, c);

                        (void)printf("    %-22s %-5s %s\n", column->name, column->unit, column->help);
                }
        }
        (void)printf("\n%s\n", "views");
        for (const struct query_view *v = query_views; v->name; v++)
                (void)printf("%-26s %s%s%s\n", v->name, v->help, columns ? ":\n    " : "", columns ? v->sql : "");
        (void)printf("%-26s %s\n\n%s\n", "diff", "bands of the first two sources side by side, by name", "functions");
        for (const struct query_column *f = query_functions; f->name; f++)
                (void)printf("%-26s %s\n", f->name, f->help);
}

/* ------------------------------------------------------------------------ sources */

/* "runs/old-1.eventlog" is old_1. */
static void name_source(struct query_source *s, const char *what)
{
        const char *slash = strrchr(what, '/'), *from = slash && slash[1] ? slash + 1 : what;
        size_t n = 0;

        for (; from[n] && from[n] != '.' && n < sizeof(s->name) - 4; n++)
                s->name[n] = isalnum((unsigned char)from[n]) ? from[n] : '_';
        s->name[n] = '\0';
}

static bool is_name_taken(const struct query_source *sources, size_t n, const char *name)
{
        for (size_t i = 0; i < n; i++)
                if (!sqlite3_stricmp(sources[i].name, name))
                        return true;
        return !sqlite3_stricmp(name, "main") || !sqlite3_stricmp(name, "temp") || !*name;
}

/* The place of '=' after a name of a source; NULL: the operand is the source alone, as a path with a '=' in it. */
static const char *find_given_name(const char *operand)
{
        size_t n = 0;

        while (isalnum((unsigned char)operand[n]) || operand[n] == '_')
                n++;
        return n > 0 && operand[n] == '=' ? operand + n : NULL;
}

static int set_source(const struct request *r, struct query_source *sources, size_t i, const char *operand,
                      const struct command *c)
{
        struct query_source *s = &sources[i];
        const char *equals = find_given_name(operand);
        char base[WORLD_NAME_MAX + 1];

        s->what = equals ? equals + 1 : operand;
        if (equals && ((size_t)(equals - operand) >= sizeof(s->name) ||
                       snprintf(s->name, sizeof(s->name), "%.*s", (int)(equals - operand), operand) < 0 ||
                       is_name_taken(sources, i, s->name)))
                return command_usage_error(c, "'%.*s' cannot name a source: it is too long, or taken",
                                           (int)(equals - operand), operand);
        if (!equals) {
                name_source(s, s->what);
                (void)snprintf(base, sizeof(base), "%s", s->name);
                for (unsigned k = 2; is_name_taken(sources, i, s->name); k++)
                        (void)snprintf(s->name, sizeof(s->name), "%.*s_%u", (int)sizeof(s->name) - 8, base, k);
        }
        s->chosen = (struct selection){ .endpoints = r->endpoints, .judging = r->judging };
        if (text_list_add(c, &s->chosen.operands, s->what) || selection_sort(c, &s->chosen))
                return EXIT_USAGE;
        return 0;
}

/* -------------------------------------------------------------------------- query */

/* What was meant by the name of a column, or of a table or view, that is not there. */
static const char *find_nearest(const char *name, bool is_column)
{
        const char *names[NAMES_MAX];
        size_t n = 0;

        for (unsigned t = 0; t < n_query_tables; t++)
                for (unsigned i = 0; is_column && i < query_tables[t].n_columns && n < NAMES_MAX; i++)
                        names[n++] = query_tables[t].columns[i].name;
        for (unsigned t = 0; !is_column && t < n_query_tables; t++)
                names[n++] = query_tables[t].name;
        for (const struct query_view *v = query_views; !is_column && v->name; v++)
                names[n++] = v->name;
        return nearest(name, names, n);
}

/* SQLite's message, the place in the query, and what may have been meant. */
static int report_mistake(const struct command *c, sqlite3 *db, const char *sql)
{
        const char *why = sqlite3_errmsg(db), *colon = strrchr(why, ':');
        const int place = sqlite3_error_offset(db);
        const char *meant =
                colon && strstr(why, "no such ") == why ? find_nearest(colon + 2, strstr(why, "column")) : NULL;
        char safe[4096];

        command_error(c, "%s%s%s%s", why, meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
        if (place >= 0 && !strchr(sql, '\n') && strlen(sql) < sizeof(safe) / 6) {
                (void)hw_terminal_text(safe, sizeof(safe), sql);
                (void)fprintf(stderr, "    %s\n    %*s^\n", safe, place, "");
        }
        return EXIT_USAGE;
}

static unsigned terminal_columns(const struct request *r)
{
        struct winsize size;

        return !r->out && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static int print_result(const struct request *r, const struct command *c, sqlite3_stmt *statement, struct query *q)
{
        struct out_file out;
        int failed = out_file_open(&out, r->out);

        if (failed)
                return command_error(c, "%s: %s", r->out, strerror(-failed));
        const int status = query_print(out.to, statement, r->format, terminal_columns(r));
        failed = out_file_close(&out, status == SQLITE_DONE ? 0 : -ECANCELED);
        if (status == SQLITE_INTERRUPT && q->late)
                return command_error(c,
                                     "the query was stopped after --timeout; bound its time, group before a join, "
                                     "or give it longer");
        if (status == SQLITE_INTERRUPT)
                return EXIT_USAGE; /* by a signal */
        if (status != SQLITE_DONE)
                return command_error(c, "%s", sqlite3_errmsg(q->db));
        if (failed == -EPIPE) /* the reader of the pipe has exited */
                return EXIT_OK;
        return failed ? command_error(c, "cannot write: %s", strerror(-failed)) : EXIT_OK;
}

static int run_query(const struct request *r, const struct command *c, struct query *q, const char *sql)
{
        sqlite3_stmt *statement = NULL, *more = NULL;
        const char *rest = NULL;
        int status;

        if (sqlite3_prepare_v2(q->db, sql, -1, &statement, &rest) != SQLITE_OK)
                return report_mistake(c, q->db, sql);
        if (!statement)
                return command_usage_error(c, "expected a query, such as 'SELECT * FROM facts'");
        if (sqlite3_prepare_v2(q->db, rest, -1, &more, NULL) != SQLITE_OK || more)
                status = command_usage_error(c, "expected one query; there is more after its ';'");
        else
                status = print_result(r, c, statement, q);
        (void)sqlite3_finalize(more);
        (void)sqlite3_finalize(statement);
        return status;
}

static int query_sources(const struct request *r, const struct command *c, const char *sql,
                         struct query_source *sources, size_t n)
{
        struct query q = { .sources = sources, .n = n, .until_ms = clock_mono_ms() + r->timeout_ns / NS_PER_MS };
        struct error error;
        int status = 0;

        signals_catch();
        status = query_open(&q, &error) ? run_query(r, c, &q, sql) : command_error(c, "%s", error.text);
        query_close(&q);
        signals_die();
        return status;
}

static int run_command(void *filled)
{
        const struct request *r = filled;
        const struct command *c = &command_query;
        const size_t n = r->operands.n > 0 ? r->operands.n - 1 : 0;

        if (r->list || r->schema) {
                print_tables(r->schema);
                return EXIT_OK;
        }
        if (n == 0)
                return command_usage_error(c, "expected a query and at least one source; --schema lists the tables");
        if (n > QUERY_SOURCES_MAX)
                return command_usage_error(c, "%zu sources are given; %u are possible", n, QUERY_SOURCES_MAX);
        struct query_source *sources = calloc(n, sizeof(*sources));
        if (!sources)
                return command_error(c, "out of memory");
        int status = 0;
        for (size_t i = 0; status == 0 && i < n; i++)
                status = set_source(r, sources, i, r->operands.items[i + 1], c);
        if (status == 0)
                status = query_sources(r, c, r->operands.items[0], sources, n);
        free(sources);
        return status;
}

const struct command command_query = {
        .name = "query",
        .summary = "SQL over logs, recordings and live targets",
        .usage = (const char *const[]){ "SQL [NAME=]SOURCE... [OPTION]...", "--list", "--schema", NULL },
        .about =
                "Answers a question in SQL, as SQLite has it. A source is a finished log, a recording or a target of a "
                "daemon; its tables are in the schema of its name (old.bands), and those of all sources together are "
                "without one, told apart by their column source. Sources are read when a query asks, as far as it "
                "asks: "
                "a bound on time or on a name, and LIMIT, save work. Times are seconds from the start of the runtime.",
        .options = options,
        .notes = "Nothing can be written by a query, and no other file be opened. docs/QUERY.md has examples.",
        .status = "0, or 2 when the query is wrong or stopped, or a source cannot be read.",
        .examples =
                (const char *const[]){
                        "heapwatch query 'SELECT * FROM top_growing LIMIT 10' run.eventlog",
                        "heapwatch query 'SELECT * FROM diff LIMIT 20' old=before.eventlog new=after.eventlog",
                        "heapwatch query 'SELECT generation, longest FROM pauses' api",
                        "heapwatch query \"SELECT time, value FROM series WHERE series = 'live'\" api --format csv -o "
                        "live.csv",
                        NULL,
                },
        .size = sizeof(struct request),
        .defaults = &(const struct request){ .timeout_ns = DEFAULT_TIMEOUT_NS },
        .run = run_command,
};
