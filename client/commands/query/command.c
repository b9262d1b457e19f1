/* SPDX-License-Identifier: BSD-3-Clause */
/* command.c - `heapwatch query`: SQL over logs, recordings, archives and live targets. */
#include <ctype.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "client/cli/front.h"
#include "client/cli/out_file.h"
#include "client/cli/options.h"
#include "client/cli/signals.h"
#include "client/commands/query/answer.h"
#include "client/commands/query/prompt.h"
#include "client/past/archive/read.h"
#include "proto/base/array.h"
#include "proto/base/clock.h"
#include "proto/base/nearest.h"
#include "proto/base/text_out.h"
#include "proto/base/time.h"
#include "proto/eventlog/recording/stretch.h"

#define DEFAULT_TIMEOUT_NS (60 * NS_PER_S)
#define EVERY_MIN_NS       (100 * NS_PER_MS)

struct request {
        struct text_list operands; /* the query, then sources */
        struct text_list endpoints;
        struct judging judging;
        struct text_list tables; /* that are stored whole, in place of a query */
        struct query_output output;
        uint64_t timeout_ns, every_ns;
        const char *db; /* the archive of TARGET@WHEN */
        bool list, schema, examples;
};

static const char *const formats[] = { "table", "csv", "tsv", "json", "ndjson", "markdown", NULL };
static const char *const charts[] = { "no", "line", "bar", "area", NULL };

static const struct option options[] = {
        OPERAND_LIST("SQL [NAME=]SOURCE", 0, struct request, operands, COMPLETE_TARGET_OR_FILE, NULL),
        OPTION_CONNECT(struct request, endpoints),
        OPTION_CHOICE("format", 'f', "FORMAT", enum query_format, struct request, output.format, formats,
                      "table (default), csv, tsv, json, ndjson or markdown"),
        OPTION_TEXT("output", 'o', "FILE", struct request, output.file, COMPLETE_FILE,
                    "write there; its suffix is the format: .csv .tsv .json .ndjson .md .svg (of a chart) .sqlite .db"),
        OPTION_CHOICE("chart", 0, "KIND", enum query_chart, struct request, output.chart, charts,
                      "draw the rows: line, bar, area; by their first column, a time"),
        OPTION_FLAG("units", 0, struct request, output.units,
                    "of json and ndjson: first an object with the unit of each column"),
        OPTION_LIST("tables", 0, "NAME", struct request, tables, COMPLETE_NOTHING,
                    "in place of SQL: store this table or view in the database of -o; repeat it for each"),
        OPTION_TEXT("db", 0, "FILE", struct request, db, COMPLETE_FILE,
                    "the archive for TARGET@WHEN; default: that of `heapwatch archive`"),
        OPTION_SECONDS("every", 0, "TIME", struct request, every_ns, 0, 0, "of live targets: answer again, so often"),
        OPTION_SECONDS("timeout", 0, "TIME", struct request, timeout_ns, 1, 0, "stop after this long; default: 60s"),
        OPTION_FLAG("list", 'l', struct request, list, "the tables, views and functions, a line each"),
        OPTION_FLAG("schema", 0, struct request, schema, "the columns of each table, with units"),
        OPTION_FLAG("examples", 0, struct request, examples, "questions, each with a query that answers it"),
        OPTIONS_OF_TREND(struct request, judging),
        OPTION_RULES(struct request, judging),
        OPTIONS_END,
};

/* ------------------------------------------------------------------ what there is */

/* Those that are called `only`; NULL: all, and the functions. */
static void print_tables(bool columns, const char *only)
{
        for (unsigned i = 0; i < n_query_tables; i++) {
                const struct query_table *t = &query_tables[i];

                if (only && sqlite3_stricmp(only, t->name) != 0)
                        continue;
                (void)printf("%-26s %s\n", t->name, t->help);
                for (unsigned c = 0; columns && c < QUERY_FIRST_COLUMNS + t->n_columns; c++) {
                        const struct query_column *column = query_column_at(t, c);

                        (void)printf("    %-22s %-5s %s\n", column->name, column->unit, column->help);
                }
        }
        (void)fputs(only ? "" : "\nviews\n", stdout);
        for (const struct query_view *v = query_views; v->name; v++) {
                char *sql = sqlite3_mprintf(v->sql, "old", "new");

                if (!only || !sqlite3_stricmp(only, v->name))
                        (void)printf("%-26s %s%s%s\n", v->name, v->help, columns ? ":\n    " : "", columns ? sql : "");
                sqlite3_free(sql);
        }
        (void)fputs(only ? "" : "\nfunctions\n", stdout);
        for (const struct query_column *f = query_functions; !only && f->name; f++)
                (void)printf("%-26s %s\n", f->name, f->help);
}

/* As what is pasted: into a shell, or with `typed` into the prompt. */
static void print_examples(bool typed, size_t n_sources)
{
        for (const struct query_example *e = query_examples; e->question; e++) {
                (void)printf("-- %s\n", e->question);
                if (typed && e->sources > n_sources)
                        (void)printf("-- (of two sources: heapwatch query old=OLD new=NEW)\n\n");
                else if (typed)
                        (void)printf("%s;\n\n", e->sql);
                else
                        (void)printf("heapwatch query \"%s\" %s\n\n", e->sql,
                                     e->sources > 1 ? "old=OLD new=NEW" : "LOG");
        }
}

/* ------------------------------------------------------------------------ sources */

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

/* A name that is given, or of the file: "1-a.log" is _1_a, "runs/old.log" old, or where another one has that old_2. */
static int name_source(struct query_source *sources, size_t i, const char *given, int n, const struct command *c)
{
        struct query_source *s = &sources[i];
        const char *slash = strrchr(s->what, '/'), *from = slash && slash[1] ? slash + 1 : s->what;
        const size_t room = sizeof(s->name) - sizeof("_10");
        size_t size = 0;

        if (given && n >= (int)sizeof(s->name))
                return command_usage_error(c, "'%.*s' cannot name a source: it is longer than %zu bytes", n, given,
                                           sizeof(s->name) - 1);
        if (given) {
                (void)snprintf(s->name, sizeof(s->name), "%.*s", n, given);
                if (!is_name_taken(sources, i, s->name))
                        return 0;
                return command_usage_error(c, "'%s' cannot name a source: %s", s->name,
                                           is_name_taken(sources, 0, s->name) ? "it is a schema of SQLite's own"
                                                                              : "another one has it");
        }
        if (isdigit((unsigned char)*from)) /* SQL takes no such name */
                s->name[size++] = '_';
        for (; *from && *from != '.' && size < room; from++)
                s->name[size++] = isalnum((unsigned char)*from) ? *from : '_';
        for (unsigned k = 2; is_name_taken(sources, i, s->name); k++)
                (void)snprintf(s->name + size, sizeof(s->name) - size, "_%u", k);
        return 0;
}

static int set_source(const struct request *r, struct query_source *sources, size_t i, const char *operand,
                      const struct command *c)
{
        struct query_source *s = &sources[i];
        const char *equals = find_given_name(operand);

        s->what = equals ? equals + 1 : operand;
        s->db = r->db;
        s->chosen = (struct selection){ .judging = r->judging };
        s->kind = query_graph_is(s->what) ? QUERY_GRAPH : query_archive_is(s->what) ? QUERY_ARCHIVE : QUERY_LIVE;
        if (name_source(sources, i, equals ? operand : NULL, equals ? (int)(equals - operand) : 0, c))
                return EXIT_USAGE;
        if (s->kind != QUERY_LIVE)
                return 0;
        if (text_list_add(c, &s->chosen.operands, s->what) || selection_sort(c, &s->chosen))
                return EXIT_USAGE;
        if (s->chosen.files.n)
                s->kind = QUERY_LOG;
        else
                s->chosen.endpoints = r->endpoints;
        return 0;
}

/* -------------------------------------------------------------------------- query */

static int answer_once(const struct request *r, const struct command *c, const char *sql, const char **ret_rest,
                       struct query_source *sources, size_t n)
{
        struct query q = { .sources = sources,
                           .n = n,
                           .until_ms = clock_mono_ms() + r->timeout_ns / NS_PER_MS,
                           .timeout_ns = r->timeout_ns };
        struct error error;
        int status;

        if (!query_open(&q, &error))
                status = command_error(c, "%s", error.text);
        else if (query_is_database(r->output.file))
                status = query_store(c, &q, sql, r->tables.items, r->tables.n, r->output.file);
        else
                status = query_answer(c, &q, sql, ret_rest, &r->output);
        query_close(&q);
        return status;
}

/* On a terminal each answer takes the place of the last one. */
static int answer_again(const struct request *r, const struct command *c, const char *sql, struct query_source *sources,
                        size_t n)
{
        const bool is_screen = isatty(STDOUT_FILENO);
        int status = EXIT_OK;

        while (status == EXIT_OK && !signals_stop()) {
                if (is_screen)
                        (void)fputs("\033[H\033[2J", stdout);
                status = answer_once(r, c, sql, NULL, sources, n);
                if (stream_flush(stdout) != 0)
                        break;
                if (status == EXIT_OK && !signals_stop())
                        (void)poll(NULL, 0, (int)(r->every_ns / NS_PER_MS));
        }
        return signals_stop() ? EXIT_OK : status;
}

static int query_sources(const struct request *r, const struct command *c, const char *sql,
                         struct query_source *sources, size_t n)
{
        int status;

        if (r->every_ns || r->output.file) /* else there is no file to remove, and the output may never be read */
                signals_catch(true);
        status = r->every_ns ? answer_again(r, c, sql, sources, n) : answer_once(r, c, sql, NULL, sources, n);
        signals_die();
        return status;
}

/* The format that the name of the file asks for. 0, or EXIT_USAGE: it asks for none that there is. */
static int set_format(const struct command *c, struct query_output *o)
{
        static const struct {
                const char *suffix;
                enum query_format format;
        } known[] = { { ".csv", QUERY_CSV },      { ".tsv", QUERY_TSV },       { ".json", QUERY_JSON },
                      { ".jsonl", QUERY_NDJSON }, { ".ndjson", QUERY_NDJSON }, { ".md", QUERY_MARKDOWN } };
        const char *slash = o->file ? strrchr(o->file, '/') : NULL, *name = slash ? slash + 1 : o->file,
                   *suffix = name ? strrchr(name, '.') : NULL;

        if (!suffix || o->format != QUERY_TABLE || query_is_database(o->file) || !strcmp(suffix, ".txt") ||
            (o->chart && !strcmp(suffix, ".svg")))
                return 0;
        for (size_t i = 0; i < ARRAY_SIZE(known); i++)
                if (!strcmp(suffix, known[i].suffix)) {
                        o->format = known[i].format;
                        return 0;
                }
        return command_usage_error(c,
                                   "-o %s: expected .csv, .tsv, .json, .ndjson, .md, .txt, .sqlite, or .svg with "
                                   "--chart; any other name with --format",
                                   o->file);
}

/* 0, or EXIT_USAGE: options that do not go together. */
static int check_options(const struct request *r, const struct command *c, const struct query_source *sources, size_t n)
{
        const char *tables[QUERY_TABLES_MAX], *file = r->output.file;
        const size_t n_tables = query_list_tables(QUERY_SOURCES_MAX, tables);
        const bool is_database = query_is_database(file);
        bool any_live = false, any_archived = false;

        for (size_t i = 0; i < n; i++) {
                if (r->tables.n > 0 && !sources[i].chosen.files.n && query_is_name(sources[i].what, tables, n_tables))
                        return command_usage_error(c, "each table has an option of its own: --tables %s --tables %s",
                                                   r->tables.items[r->tables.n - 1], sources[i].what);
                if (sources[i].kind != QUERY_LIVE && out_file_is_input(file, sources[i].what))
                        return command_usage_error(c, "-o %s: it is what the query reads", file);
                any_live = any_live || sources[i].kind == QUERY_LIVE;
                any_archived = any_archived || select_is(sources[i].what);
        }
        if (is_database && !query_may_replace(file))
                return command_usage_error(
                        c, "-o %s: it exists, and no query wrote it: give another name, or remove it", file);
        const char *why =
                r->tables.n > 0 && !is_database ? "--tables needs -o FILE.sqlite, the database in which they are stored"
                : r->output.chart && is_database ? "a chart cannot be stored in a database: -o FILE.svg, or without -o"
                : r->output.units && r->output.format != QUERY_JSON && r->output.format != QUERY_NDJSON
                        ? "--units belongs to --format json and ndjson"
                : r->every_ns && r->every_ns < EVERY_MIN_NS ? "--every: expected at least 100ms"
                : r->every_ns && file                       ? "--every and -o exclude each other"
                : r->db && !any_archived      ? "--db belongs to TARGET@WHEN; there is none among the sources"
                : r->endpoints.n && !any_live ? "--connect belongs to live targets; there is none among the sources"
                : r->every_ns && !any_live    ? "--every belongs to live targets; a finished log does not change"
                                              : NULL;
        return why ? command_usage_error(c, "%s", why) : 0;
}

/* --------------------------------------------------------------------- prompt */

/* The first operand: a query has white space, or is SELECT*FROM..., and no file has its name. */
static bool is_query(const char *operand)
{
        return (strpbrk(operand, " \t\n") || !strncasecmp(operand, "select", strlen("select"))) &&
               !find_given_name(operand) && access(operand, F_OK) != 0;
}

struct typed {
        struct request *r;
        struct query_source *sources;
        size_t n;
};

static int answer_typed(void *ctx, const char *sql, const char **ret_rest)
{
        struct typed *t = ctx;

        return answer_once(t->r, &command_query, sql, ret_rest, t->sources, t->n);
}

static const char *const typed_commands[] = { "tables", "schema", "examples", "format", "chart",
                                              "help",   "quit",   "exit",     NULL };

/* The place of a word in a list until a NULL; -1: it is not there, which is reported. */
static int find_choice(const char *command, const char *const *words, const char *word)
{
        char expected[128];
        struct text_out to;
        int n = 0;

        for (; words[n]; n++)
                if (!strcmp(words[n], word))
                        return n;
        text_out_init(&to, expected, sizeof(expected));
        text_put_alternatives(&to, words, (size_t)n);
        (void)command_error(&command_query, ".%s: expected %s%s%s", command, expected, *word ? "; not " : "", word);
        return -1;
}

static int report_unknown(const char *kind, const char *name, const char *const *words, size_t n, const char *dot,
                          const char *list)
{
        const char *meant = nearest(name, words, n);

        if (meant)
                return command_error(&command_query, "no such %s: %s%s; did you mean '%s%s'?", kind, dot, name, dot,
                                     meant);
        return command_error(&command_query, "no such %s: %s%s; .%s lists them", kind, dot, name, list);
}

static void print_typed_help(void)
{
        (void)printf(
                "A query ends with ';', and may have several lines. Tab completes names: of tables, of columns of\n"
                "the tables that the query names (b.bytes), of sources, and in quotes those of bands and series.\n"
                ".tables        the tables, views and functions, a line each\n"
                ".schema NAME   the columns of a table, with units; without NAME of all tables\n"
                ".examples      questions, each with a query that answers it\n"
                ".format WORD   table, csv, tsv, json, ndjson or markdown\n"
                ".chart WORD    no, line, bar or area: by the first column, or a table\n"
                ".quit          as Ctrl-D\n");
}

static int print_schema(const char *name)
{
        const char *tables[QUERY_TABLES_MAX];
        const size_t n = query_list_tables(QUERY_SOURCES_MAX, tables);

        if (*name && !query_is_name(name, tables, n))
                return report_unknown("table", name, tables, n, "", "tables");
        print_tables(true, *name ? name : NULL);
        return EXIT_OK;
}

static int run_typed_command(void *ctx, const char *line)
{
        const struct typed *t = ctx;
        struct query_output *o = &t->r->output;
        char name[32] = "", word[32] = "";
        int found = 0;

        (void)sscanf(line, ".%31s %31[^ \t;]", name, word);
        if (!strcmp(name, "quit") || !strcmp(name, "exit"))
                return PROMPT_QUIT;
        if (!strcmp(name, "tables"))
                print_tables(false, NULL);
        else if (!strcmp(name, "schema"))
                return print_schema(word);
        else if (!strcmp(name, "examples"))
                print_examples(true, t->n);
        else if (!strcmp(name, "help"))
                print_typed_help();
        else if (!strcmp(name, "format") && (found = find_choice(name, formats, word)) >= 0)
                o->format = (enum query_format)found;
        else if (!strcmp(name, "chart") && (found = find_choice(name, charts, word)) >= 0)
                o->chart = (enum query_chart)found;
        else if (found == 0)
                return report_unknown("command", name, typed_commands, ARRAY_SIZE(typed_commands) - 1, ".", "help");
        return found < 0 ? EXIT_USAGE : EXIT_OK;
}

#define COMPLETED_MAX 10000 /* names of bands */
#define COMPLETE_MS   5000  /* to read them: whoever pressed Tab waits */

static char **read_words(void *ctx, const char *sql, const char *qualifier)
{
        const struct typed *t = ctx;
        struct query q = { .sources = t->sources, .n = t->n, .until_ms = clock_mono_ms() + COMPLETE_MS };
        struct error error;
        char **words = query_open(&q, &error) ? query_complete(&q, sql, qualifier) : NULL;

        query_close(&q);
        return words;
}

/* Of bands, and of series. */
static char **read_text_names(void *ctx)
{
        const struct typed *t = ctx;
        struct query q = { .sources = t->sources, .n = t->n, .until_ms = clock_mono_ms() + COMPLETE_MS };
        char **names = calloc(COMPLETED_MAX + SERIES_COUNT + 1, sizeof(*names));
        sqlite3_stmt *statement = NULL;
        struct error error;
        size_t n = 0;

        for (unsigned series = 1; names && series < SERIES_COUNT; series++) {
                const char *name = hw_series_name((Hw__Series)series);

                if (name && (names[n] = strdup(name)) != NULL)
                        n++;
        }
        if (names && query_open(&q, &error) &&
            sqlite3_prepare_v2(q.db, "SELECT DISTINCT name FROM band_names WHERE name NOT LIKE '%''%' ORDER BY 1", -1,
                               &statement, NULL) == SQLITE_OK)
                for (size_t i = 0; i < COMPLETED_MAX && sqlite3_step(statement) == SQLITE_ROW; i++)
                        if ((names[n] = strdup((const char *)sqlite3_column_text(statement, 0))) != NULL)
                                n++;
        (void)sqlite3_finalize(statement);
        query_close(&q);
        return names;
}

/* Without a query on the command line: those of standard input. */
static int answer_input(struct request *r, const struct command *c, struct query_source *sources, size_t n)
{
        struct typed typed = { r, sources, n };
        const struct prompt prompt = {
                .reporter = c,
                .ctx = &typed,
                .answer = answer_typed,
                .command = run_typed_command,
                .greeting = "Queries in SQL, each to its ';'. .help lists what else there is.",
                .read_words = read_words,
                .read_texts = read_text_names,
        };

        if (r->every_ns || r->output.file)
                return command_usage_error(c, "--every and -o belong to one query, on the command line");
        signals_catch(true);
        const int status = prompt_run(&prompt);
        signals_die();
        return status >= 0 ? status : command_usage_error(c, "expected a query, as an operand or on standard input");
}

/* Whether one query of finished logs and archives is printed: the front has all that this needs. */
static bool is_offline(const struct request *r, const struct query_source *sources, size_t n)
{
        bool yes = r->operands.n > n && !r->output.chart;

        for (size_t i = 0; i < n; i++)
                yes = yes && (sources[i].kind == QUERY_ARCHIVE ||
                              (sources[i].kind == QUERY_LOG && !stretch_is(sources[i].what)));
        return yes;
}

static int run_command(void *filled)
{
        struct request *r = filled;
        const struct command *c = &command_query;
        const size_t first = r->tables.n > 0 || (r->operands.n > 0 && !is_query(r->operands.items[0])) ? 0 : 1;
        const size_t n = r->operands.n > first ? r->operands.n - first : 0;

        if (r->list || r->schema || r->examples) {
                if (r->examples)
                        print_examples(false, 0);
                else
                        print_tables(r->schema, NULL);
                return EXIT_OK;
        }
        if (n == 0)
                return command_usage_error(
                        c, "expected at least one source; --schema lists the tables, --examples questions");
        if (n > QUERY_SOURCES_MAX)
                return command_usage_error(c, "%zu sources are given; %u are possible", n, QUERY_SOURCES_MAX);
        struct query_source *sources = calloc(n, sizeof(*sources));
        if (!sources)
                return command_error(c, "out of memory");
        int status = 0;
        for (size_t i = 0; status == 0 && i < n; i++)
                status = set_source(r, sources, i, r->operands.items[i + first], c);
        if (status == 0)
                status = set_format(c, &r->output);
        if (status == 0 && front_is_this() && !is_offline(r, sources, n))
                front_continue();
        if (status == 0)
                status = check_options(r, c, sources, n);
        if (status == 0 && first == 0 && r->tables.n == 0)
                status = answer_input(r, c, sources, n);
        else if (status == 0)
                status = query_sources(r, c, first ? r->operands.items[0] : NULL, sources, n);
        free(sources);
        return status;
}

const struct command command_query = {
        .name = "query",
        .summary = "SQL over logs, recordings, archives and live targets",
        .usage = (const char *const[]){ "SQL [NAME=]SOURCE... [OPTION]...", "[NAME=]SOURCE... [OPTION]...",
                                        "--tables NAME -o FILE.sqlite [NAME=]SOURCE...",
                                        "--list | --schema | --examples", NULL },
        .about = "Answers a question in SQL, as SQLite has it. A source is a finished log, a recording, an archive or "
                 "a target of a "
                 "daemon; its tables are in the schema of its name (old.bands), and those of all sources together are "
                 "without one, told apart by their column source. Sources are read when a query asks, as far as it "
                 "asks: "
                 "a bound on time or on a name, and LIMIT, save work. Times are seconds from the start of the "
                 "runtime.\n\n"
                 "Without SQL queries are read from standard input, each to its ';': in a terminal with editing, "
                 "history "
                 "and completion of names by Tab; a pipe ends with its first mistake.",
        .options = options,
        .notes = "Nothing can be written by a query, and no other file be opened. docs/QUERY.md has examples.",
        .status = "0, or 2 when the query is wrong or stopped, or a source cannot be read.",
        .examples =
                (const char *const[]){
                        "heapwatch query 'SELECT * FROM top_growing LIMIT 10' run.eventlog",
                        "heapwatch query 'SELECT * FROM diff LIMIT 20' old=before.eventlog new=after.eventlog",
                        "heapwatch query 'SELECT generation, longest FROM pauses' recording:api",
                        "heapwatch query \"SELECT time, value FROM series WHERE series = 'live'\" api -o live.csv",
                        NULL,
                },
        .offline = true,
        .size = sizeof(struct request),
        .defaults = &(const struct request){ .timeout_ns = DEFAULT_TIMEOUT_NS },
        .run = run_command,
};
