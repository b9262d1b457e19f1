/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/commands/query/answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "client/cli/out_file.h"
#include "client/cli/signals.h"
#include "heapwatch/text.h"
#include "proto/base/utf8.h"

#define SHOWN_MAX   600u /* bytes of a line of a query that is shown */
#define STORED_NAME "result"

#define APPLICATION      "0x68777172" /* PRAGMA application_id, of databases that a query wrote: */
#define APPLICATION_TEXT "hwqr"       /* in the file */
#define APPLICATION_AT   68u

/* -------------------------------------------------------------------- mistakes */

/* The line of the query that has the place, and a mark below it. */
static void mark_place(const char *sql, size_t place)
{
        size_t begin = place, end = place + strcspn(sql + place, "\n");
        char safe[SHOWN_MAX * 6], before[SHOWN_MAX * 6], line[SHOWN_MAX];

        while (begin > 0 && sql[begin - 1] != '\n')
                begin--;
        if (end - begin >= sizeof(line)) /* a longer one is shown from near the place on */
                begin = place > sizeof(line) / 2 && place - begin > sizeof(line) / 2 ? place - sizeof(line) / 2 : begin;
        end = end - begin < sizeof(line) ? end : begin + sizeof(line) - 1;
        (void)snprintf(line, sizeof(line), "%.*s", (int)(end - begin), sql + begin);
        for (char *tab = line; (tab = strchr(tab, '\t')) != NULL;)
                *tab = ' ';
        (void)hw_terminal_text(safe, sizeof(safe), line);
        line[place - begin] = '\0';
        (void)hw_terminal_text(before, sizeof(before), line);
        (void)fprintf(stderr, "    %s\n    %*s^\n", safe, text_columns(before), "");
}

static int report_mistake(const struct command *c, const struct query *q, const char *sql)
{
        const int place = sqlite3_error_offset(q->db);
        char why[SHOWN_MAX], suggestion[SHOWN_MAX];
        const char *colon, *found = NULL;

        (void)snprintf(why, sizeof(why), "%s", sqlite3_errmsg(q->db));
        query_suggest(suggestion, sizeof(suggestion), q, sql, why);
        (void)command_error(c, "%s%s", why, suggestion);
        if (place < 0 && !strncmp(why, "no such ", strlen("no such ")) && (colon = strchr(why, ':')) != NULL)
                found = query_find_word(sql, sql, colon + 2); /* which SQLite gives no place of */
        if (place >= 0 || found)
                mark_place(sql, place >= 0 ? (size_t)place : (size_t)(found - sql));
        return EXIT_USAGE;
}

/* The status of a statement, at its end SQLITE_MISMATCH with a message if a source that it did not read is bad. */
static int check_sources(struct query *q, int status, struct error *error)
{
        return status != SQLITE_DONE || signals_stop() || query_check_sources(q, error) ? status : SQLITE_MISMATCH;
}

/* Why it ended before its last row. The exit status. */
static int report_end(const struct command *c, const struct query *q, int status, const struct error *error)
{
        char limit[HW_NUMBER_MAX];

        if (status == SQLITE_INTERRUPT && q->late)
                return command_error(c,
                                     "the query was stopped after %s (--timeout); bound its time, or group before a "
                                     "join",
                                     hw_duration_text(limit, sizeof(limit), (double)q->timeout_ns));
        if (status == SQLITE_INTERRUPT)
                return EXIT_USAGE; /* by a signal */
        if (status == SQLITE_NOMEM || status == SQLITE_FULL || sqlite3_extended_errcode(q->db) == SQLITE_IOERR_NOMEM)
                return command_error(
                        c,
                        "the query was stopped beyond 1 GiB of memory; name fewer columns, bound its time, "
                        "group before a join");
        if (status == SQLITE_MISMATCH && !*error->text) /* SQLite's own */
                return command_error(c, "LIMIT and OFFSET take whole numbers");
        return command_error(c, "%s", status == SQLITE_MISMATCH ? error->text : sqlite3_errmsg(q->db));
}

/*
 * Whether rows of several scans of a table are to be told apart by their rowids: "name = 'a' OR time < 1" may be
 * answered by two scans, whose common rows are not to come twice.
 */
static bool compares_rowids(sqlite3 *db, const char *sql)
{
        sqlite3_stmt *plan = NULL;
        char *explain = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql);
        bool found = false;

        if (explain && sqlite3_prepare_v2(db, explain, -1, &plan, NULL) == SQLITE_OK)
                while (!found && sqlite3_step(plan) == SQLITE_ROW)
                        found = !strcmp((const char *)sqlite3_column_text(plan, 3), "MULTI-INDEX OR");
        (void)sqlite3_finalize(plan);
        sqlite3_free(explain);
        return found;
}

/* NULL: reported, and *ret_status is set. With `ret_rest` there may be none (-1), or more. */
static sqlite3_stmt *prepare_statement(const struct command *c, struct query *q, const char *sql, const char **ret_rest,
                                       int *ret_status)
{
        sqlite3_stmt *statement = NULL, *more = NULL;
        const char *rest = NULL;

        q->unbounded = compares_rowids(q->db, sql);
        if (sqlite3_prepare_v2(q->db, sql, -1, &statement, &rest) != SQLITE_OK)
                *ret_status = report_mistake(c, q, sql);
        else if (!statement)
                *ret_status = ret_rest ? -1 : command_usage_error(c, "expected a query, such as 'SELECT * FROM facts'");
        else if (!ret_rest && (sqlite3_prepare_v2(q->db, rest, -1, &more, NULL) != SQLITE_OK || more))
                *ret_status = command_usage_error(c, "expected one query; there is more after its ';'");
        else
                *ret_status = EXIT_OK;
        (void)sqlite3_finalize(more);
        if (ret_rest)
                *ret_rest = statement && *rest ? rest : NULL;
        if (*ret_status == EXIT_OK)
                return statement;
        (void)sqlite3_finalize(statement);
        return NULL;
}

/* --------------------------------------------------------------------- storing */

static bool has_suffix(const char *file, const char *suffix)
{
        const size_t n = strlen(file), m = strlen(suffix);

        return n > m && !sqlite3_stricmp(file + n - m, suffix);
}

bool query_is_database(const char *file)
{
        return file && (has_suffix(file, ".sqlite") || has_suffix(file, ".sqlite3") || has_suffix(file, ".db"));
}

bool query_may_replace(const char *file)
{
        static const char magic[] = "SQLite format 3", application[] = APPLICATION_TEXT;
        char head[APPLICATION_AT + sizeof(application) - 1];
        const ssize_t n = out_file_head(file, head, sizeof(head));

        return n == -ENOENT || n == 0 ||
               (n == (ssize_t)sizeof(head) && !memcmp(head, magic, sizeof(magic)) &&
                !memcmp(head + APPLICATION_AT, application, sizeof(application) - 1));
}

/* Of a column that is an expression it is that of its values, `seen`, a bit for each type. */
static const char *find_type(sqlite3_stmt *from, int i, unsigned seen)
{
        const char *declared = sqlite3_column_decltype(from, i);

        if (declared)
                return declared;
        switch (seen & ~(1u << SQLITE_NULL)) {
        case 1u << SQLITE_INTEGER:
                return "INTEGER";
        case 1u << SQLITE_FLOAT:
                return "REAL";
        case 1u << SQLITE_FLOAT | 1u << SQLITE_INTEGER:
                return "NUMERIC"; /* REAL would round those beyond 2^53 */
        case 1u << SQLITE_TEXT:
                return "TEXT";
        case 1u << SQLITE_BLOB:
                return "BLOB";
        default:
                return "";
        }
}

/* CREATE TABLE with the columns of the result. */
static char *make_sql(sqlite3_stmt *from, const char *table, const unsigned *seen)
{
        sqlite3_str *sql = sqlite3_str_new(NULL);
        char **names = query_names(from);

        sqlite3_str_appendf(sql, "CREATE TABLE \"%w\" (", table);
        for (int i = 0; names && names[i]; i++)
                sqlite3_str_appendf(sql, "%s\"%w\" %s", i ? ", " : "", names[i], find_type(from, i, seen[i]));
        query_names_free(names);
        sqlite3_str_appendf(sql, ")");
        return sqlite3_str_finish(sql);
}

static int run_sql(sqlite3 *db, char *sql)
{
        const int status = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

        sqlite3_free(sql);
        return status;
}

/* Status of the statement that is read; SQLITE_MISMATCH with a message: of the database that is written. */
static int copy_rows(sqlite3 *to, sqlite3_stmt *from, const char *table, struct error *error)
{
        const int n = sqlite3_column_count(from);
        unsigned *seen = calloc((size_t)n + 1, sizeof(*seen));
        sqlite3_str *text = sqlite3_str_new(NULL);
        sqlite3_stmt *insert = NULL;
        int status = SQLITE_ROW, written = seen ? run_sql(to, make_sql(from, table, seen)) : SQLITE_NOMEM;

        sqlite3_str_appendf(text, "INSERT INTO \"%w\" VALUES (?", table);
        for (int i = 1; i < n; i++)
                sqlite3_str_appendf(text, ", ?");
        sqlite3_str_appendf(text, ")");
        char *sql = sqlite3_str_finish(text);
        if (written == SQLITE_OK)
                written = sql ? sqlite3_prepare_v2(to, sql, -1, &insert, NULL) : SQLITE_NOMEM;
        sqlite3_free(sql);
        while (written == SQLITE_OK && (status = sqlite3_step(from)) == SQLITE_ROW) {
                for (int i = 0; i < n; i++) {
                        seen[i] |= 1u << sqlite3_column_type(from, i);
                        (void)sqlite3_bind_value(insert, i + 1, sqlite3_column_value(from, i));
                }
                written = sqlite3_step(insert) == SQLITE_DONE ? sqlite3_reset(insert) : sqlite3_errcode(to);
        }
        (void)sqlite3_finalize(insert);
        if (written == SQLITE_OK && (sql = make_sql(from, table, seen)) != NULL) { /* with the types that were seen */
                written = run_sql(to, sqlite3_mprintf("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = %Q"
                                                      " WHERE name = %Q; PRAGMA writable_schema = OFF",
                                                      sql, table));
                sqlite3_free(sql);
        }
        free(seen);
        if (written != SQLITE_OK) {
                (void)error_set(error, "cannot write: %s", sqlite3_errmsg(to));
                status = SQLITE_MISMATCH;
        }
        return status;
}

static int begin_database(sqlite3 **ret, const char *path, struct error *error)
{
        if (sqlite3_open_v2(path, ret, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) == SQLITE_OK &&
            sqlite3_exec(*ret,
                         "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA application_id = " APPLICATION
                         "; BEGIN",
                         NULL, NULL, NULL) == SQLITE_OK)
                return SQLITE_OK;
        (void)error_set(error, "cannot write: %s", *ret ? sqlite3_errmsg(*ret) : "out of memory");
        return SQLITE_MISMATCH;
}

static int store_query(const struct command *c, struct query *q, sqlite3 *to, const char *table, const char *sql,
                       struct error *error, int *ret_exit)
{
        sqlite3_stmt *statement = prepare_statement(c, q, sql, NULL, ret_exit);
        const int status = statement ? copy_rows(to, statement, table, error) : SQLITE_ERROR;

        (void)sqlite3_finalize(statement);
        return status;
}

int query_store(const struct command *c, struct query *q, const char *sql, const char *const *tables, size_t n,
                const char *file)
{
        struct error error = { .text = "" };
        struct out_file out;
        sqlite3 *db = NULL;
        int exit_status = 0, failed = out_file_open(&out, file);

        if (failed || !out.temporary)
                return command_error(c, "%s: %s", file, failed ? strerror(-failed) : "a database is written to a file");
        int status = begin_database(&db, out.temporary, &error);
        if (status == SQLITE_OK && sql)
                status = store_query(c, q, db, STORED_NAME, sql, &error, &exit_status);
        for (size_t i = 0; i < n && (status == SQLITE_OK || status == SQLITE_DONE); i++) {
                char *whole = sqlite3_mprintf("SELECT * FROM \"%w\"", tables[i]);

                status = whole ? store_query(c, q, db, tables[i], whole, &error, &exit_status) : SQLITE_NOMEM;
                sqlite3_free(whole);
        }
        status = check_sources(q, status, &error);
        if (status == SQLITE_DONE && sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) {
                (void)error_set(&error, "cannot write: %s", sqlite3_errmsg(db));
                status = SQLITE_MISMATCH;
        }
        (void)sqlite3_close(db);
        failed = out_file_close(&out, status == SQLITE_DONE ? 0 : -ECANCELED);
        if (exit_status)
                return exit_status;
        if (status != SQLITE_DONE)
                return report_end(c, q, status, &error);
        return failed ? command_error(c, "cannot write: %s", strerror(-failed)) : EXIT_OK;
}

/* -------------------------------------------------------------------- printing */

static unsigned terminal_columns(const struct query_output *o)
{
        struct winsize size;

        return !o->file && isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* SQLITE_DONE, or as query_chart_draw. */
static int write_rows(const struct query_output *o, struct out_file *out, sqlite3_stmt *statement, const char *sql,
                      struct error *error)
{
        if (o->chart && o->file && has_suffix(o->file, ".svg"))
                return query_chart_write_svg(out->to, statement, o->chart, sql, error);
        if (o->chart)
                return query_chart_draw(out->to, statement, o->chart, terminal_columns(o), error);
        return query_print(out->to, statement, o->format, o->units, terminal_columns(o));
}

int query_answer(const struct command *c, struct query *q, const char *sql, const char **ret_rest,
                 const struct query_output *output)
{
        struct error error = { .text = "" };
        struct out_file out;
        int exit_status;
        sqlite3_stmt *statement = prepare_statement(c, q, sql, ret_rest, &exit_status);

        if (!statement)
                return exit_status;
        int failed = out_file_open(&out, output->file);
        if (failed) {
                (void)sqlite3_finalize(statement);
                return command_error(c, "%s: %s", output->file, strerror(-failed));
        }
        const int status = check_sources(q, write_rows(output, &out, statement, sql, &error), &error);
        const bool is_over = status == SQLITE_DONE || status == SQLITE_ROW; /* a row: it could not be written */
        failed = out_file_close(&out, is_over ? 0 : -ECANCELED);
        exit_status = is_over ? EXIT_OK : report_end(c, q, status, &error);
        (void)sqlite3_finalize(statement);
        if (!is_over || failed == 0 || failed == -EPIPE || signals_stop()) /* the reader of the pipe has exited */
                return exit_status;
        return command_error(c, "cannot write: %s", strerror(-failed));
}
