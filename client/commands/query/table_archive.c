/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of `heapwatch query` that an archive has (client/past/archive/): rows of all its runs, or of those that
 * TARGET@WHEN names.
 *
 * DESIGN: a table is a query of the archive with the columns of the table after `source`, asked for each run in turn.
 * Its rows are copied some at a time, so that a scan of months of minutes needs no memory. An hour is read in its short
 * intervals where these have all of its samples, else as one: a sample is in one row.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/cli/signals.h"
#include "client/commands/query/tables.h"
#include "client/past/archive/read.h"
#include "proto/base/array.h"
#include "proto/base/clock.h"
#include "proto/base/descriptors.h"
#include "proto/base/time.h"

#define MAGIC        "SQLite format 3" /* with the 0 after it */
#define ROWS_AT_ONCE 1000u
#define CHECK_EVERY  10000 /* steps of SQLite between two looks at the clock */

struct query_archive {
        struct database d;
        struct archived_runs runs;
        size_t next;     /* run */
        sqlite3_stmt *s; /* of the one before; NULL: it is over */
};

/* `v`: the finest rows of the run, (of, time, n, min, max, mean, last, rise, at), `at` the time of the last sample. */
#define ROWS_OF(table, of, width, rise)                                                                                \
        "SELECT " of " AS of, time, " width " AS width, n, min, max, mean, last, last_ns, " rise                       \
        " AS rise FROM " table " WHERE run = ?1"
#define FINEST(fine, width, coarse, of, rise)                                                                          \
        "WITH fine AS (" ROWS_OF(fine, of, width, rise) "), coarse AS (" ROWS_OF(coarse, of, "3600", rise)             \
        "), sums AS (SELECT of, CAST(time - time % 3600 AS INTEGER) AS hour, sum(n) AS n, sum(rise) AS r FROM fine"    \
        " GROUP BY 1, 2), whole AS MATERIALIZED (SELECT of, hour FROM sums JOIN coarse USING (of, n)"                  \
        " WHERE time = hour AND abs(r - rise) < 1),"                                                                   \
        " v AS (SELECT *, iif(last_ns > 0, last_ns, (time + width) * 1000000000) AS at FROM"                           \
        " (SELECT * FROM fine WHERE (of, time - time % 3600) IN whole UNION ALL SELECT c.* FROM coarse c LEFT JOIN"    \
        " whole w ON w.of = c.of AND hour = time WHERE hour IS NULL) WHERE time + width > ?2 AND time < ?3) "

/* ?1: the run; ?2, ?3: the stretch of it, in seconds; ?4: when one that goes on was written of at the latest, in ns. */
static const struct {
        const char *table, *sql;
} archived[] = {
        { "runs",
          "SELECT target, id, program, ghc, pid, iif(is_lost, 'lost', state), iif(is_lost, NULL, detail),"
          " strftime('%Y-%m-%dT%H:%M:%S', start_ns / 1000000000, 'unixepoch') ||"
          " printf('.%03dZ', start_ns / 1000000 % 1000), (seen_ns - start_ns) / 1e9, breakdown, max_heap_bytes,"
          " exit_status, exit_signal, (SELECT group_concat(name || '=' || value, ' ') FROM"
          " (SELECT * FROM labels WHERE run = ?1 ORDER BY name))"
          " FROM (SELECT *, end_ns IS NULL AND seen_ns < ?4 AS is_lost FROM runs WHERE id = ?1)" },
        /* what is newest alone: a sum or maximum of the run is not known where the archive began after it */
        { "facts",
          "SELECT target, id, fact, value FROM runs, (SELECT CASE name WHEN 'rss' THEN 'resident' WHEN 'pss' THEN"
          " 'proportional' ELSE name END || '_bytes' AS fact, last AS value, max(time) FROM series_1h JOIN series s"
          " ON s.id = series WHERE run = ?1 AND time < ?3 AND n > 0 GROUP BY s.id"
          " UNION ALL SELECT 'start_time_wall_ns', start_ns, 0 FROM runs WHERE id = ?1"
          " UNION ALL SELECT 'exit_status', exit_status, 0 FROM runs WHERE id = ?1"
          " UNION ALL SELECT 'exit_signal', exit_signal, 0 FROM runs WHERE id = ?1"
          " UNION ALL SELECT 'max_heap_bytes', max_heap_bytes, 0 FROM runs WHERE id = ?1)"
          " WHERE id = ?1 AND value IS NOT NULL" },
        { "series",
          FINEST("series_1m", "60", "series_1h", "series",
                 "rise") "SELECT target, r.id, name, (min(at, seen_ns) - start_ns) / 1e9, iif(n > 0, last, sum(rise)"
                         " OVER (PARTITION BY of ORDER BY time)) * by, iif(by < 1, 's', 'B'), n, min * by, max * by, "
                         "mean * by"
                         " FROM runs r, v JOIN (SELECT id, name, iif(unit = 'ns', 1e-9, 1.0) AS by FROM series WHERE "
                         "unit <> '') s"
                         " ON s.id = of WHERE r.id = ?1 ORDER BY of, time" },
        { "bands",
          FINEST("bands_10m", "600", "bands_1h", "band",
                 "0") "SELECT target, r.id, name, (at - start_ns) / 1e9, NULL, of, CAST(last AS INTEGER), NULL,"
                      " CAST(max AS INTEGER) FROM runs r, v JOIN bands b ON b.run = ?1 AND b.id = of WHERE r.id = ?1"
                      " ORDER BY time, of" },
        { "band_names",
          "SELECT target, r.id, name, b.id, label, NULL, NULL, NULL, NULL, NULL, NULL, CAST(max(max) AS INTEGER), NULL"
          " FROM runs r JOIN bands b ON b.run = r.id LEFT JOIN bands_1h v ON v.run = r.id AND v.band = b.id"
          " WHERE r.id = ?1 GROUP BY b.id" },
        { "notes",
          "SELECT target, r.id, text, (time_ns - start_ns) / 1e9, what, n.number, NULL, thread, NULL"
          " FROM runs r JOIN notes n ON n.run = r.id"
          " WHERE r.id = ?1 AND time_ns / 1000000000 BETWEEN ?2 AND ?3 ORDER BY time_ns, n.number" },
        { "alerts",
          "SELECT target, r.id, rule, severity, a.state, band, NULL, (since_ns - start_ns) / 1e9,"
          " (fired_ns - start_ns) / 1e9, (resolved_ns - start_ns) / 1e9, sentence"
          " FROM runs r JOIN alerts a ON a.run = r.id WHERE r.id = ?1 AND since_ns / 1000000000 < ?3"
          " AND ifnull(resolved_ns / 1000000000, ?2) >= ?2 ORDER BY since_ns" },
        { "standing",
          "SELECT target, r.id, iif(what LIKE 'band %', substr(what, 6), what), what LIKE 'band %', v.verdict,"
          " v.slope, v.slope_low, v.slope_high, (onset_ns - start_ns) / 1e9, (max(time_ns) - start_ns) / 1e9, NULL,"
          " sentence, v.verdict FROM runs r JOIN verdicts v ON v.run = r.id"
          " WHERE r.id = ?1 AND time_ns / 1000000000 < ?3 GROUP BY what" },
};

static const char *find_sql(const struct query_table *t)
{
        for (size_t i = 0; i < ARRAY_SIZE(archived); i++)
                if (!strcmp(archived[i].table, t->name))
                        return archived[i].sql;
        return NULL;
}

bool query_archive_has(const struct query_table *t)
{
        return find_sql(t) != NULL;
}

bool query_archive_is(const char *what)
{
        char start[sizeof(MAGIC)];
        struct stat st; /* opening a pipe would disturb who writes into it */
        int fd = stat(what, &st) == 0 && S_ISREG(st.st_mode) ? open(what, O_RDONLY | O_CLOEXEC) : -1;
        const bool is_file = fd >= 0 && pread(fd, start, sizeof(start), 0) == (ssize_t)sizeof(start);

        close_fd(&fd);
        return is_file ? !memcmp(start, MAGIC, sizeof(MAGIC)) : select_is(what);
}

struct query_archive *query_archive_open(const char *what, const char *db, struct error *error)
{
        struct query_archive *a = calloc(1, sizeof(*a));
        char path[PATH_MAX];
        const bool is_selection = select_is(what);

        if (!a) {
                (void)error_set(error, "out of memory");
                return NULL;
        }
        if (is_selection && !db && !database_default_path(path, sizeof(path)))
                (void)error_set(error, "there is no home with an archive in it; give --db FILE");
        else if (database_open_to_read(&a->d,
                                       !is_selection ? what
                                       : db          ? db
                                                     : path,
                                       error) &&
                 (sqlite3_exec(a->d.db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL) == SQLITE_OK) &&
                 (is_selection ? select_runs(&a->d, what, clock_wall_ns(), &a->runs, error)
                               : archived_runs_read(&a->d, "seen_ns IS NOT NULL", NULL, NULL, 0, 0, &a->runs, error)))
                return a;
        query_archive_close(&a);
        return NULL;
}

void query_archive_close(struct query_archive **a)
{
        if (!*a)
                return;
        (void)sqlite3_finalize((*a)->s);
        archived_runs_done(&(*a)->runs);
        database_close(&(*a)->d);
        free(*a);
        *a = NULL;
}

static int is_late(void *scan)
{
        return signals_stop() || clock_mono_ms() >= ((const struct query_scan *)scan)->until_ms;
}

/* SQLITE_OK, or an error: the statement of the next run. */
static int begin_run(struct query_archive *a, const struct query_table *t)
{
        const struct archived_run *run = &a->runs.items[a->next++];
        const int r = sqlite3_prepare_v2(a->d.db, find_sql(t), -1, &a->s, NULL);

        (void)sqlite3_bind_int64(a->s, 1, run->id);
        (void)sqlite3_bind_int64(a->s, 2, (int64_t)(run->from_ns / NS_PER_S));
        (void)sqlite3_bind_int64(a->s, 3, (int64_t)(run->to_ns / NS_PER_S + 1));
        (void)sqlite3_bind_int64(a->s, 4, (int64_t)(clock_wall_ns() - ARCHIVE_SILENCE_NS));
        return r;
}

static void add_row(struct query_scan *s, const struct query_table *t, sqlite3_stmt *from)
{
        const int key = t->key < 0 ? -1 : 2 + t->key, time = t->time < 0 ? -1 : 2 + t->time;

        if (!strcmp(t->name, "facts")) {
                query_add_fact(s, row_text(from, 0), (uint32_t)row_number(from, 1), row_text(from, 2),
                               row_real(from, 3));
                return;
        }
        if ((key >= 0 && !query_is_key(s, row_text(from, key))) ||
            (time >= 0 && !query_is_in_bounds(s, sqlite3_column_double(from, time))))
                return;
        query_rows_add_text(&s->rows, s->source);
        for (int i = 0; i < sqlite3_column_count(from); i++)
                switch (sqlite3_column_type(from, i)) {
                case SQLITE_INTEGER:
                        query_rows_add_integer(&s->rows, (uint64_t)sqlite3_column_int64(from, i));
                        break;
                case SQLITE_FLOAT:
                        query_rows_add_real(&s->rows, sqlite3_column_double(from, i));
                        break;
                default:
                        query_rows_add_text(&s->rows, row_text(from, i));
                }
}

bool query_archive_read(struct query_scan *s, struct query_archive *a, const struct query_table *t, bool *ret_over,
                        struct error *error)
{
        int r = SQLITE_ROW;

        sqlite3_progress_handler(a->d.db, CHECK_EVERY, is_late, s);
        *ret_over = !a->s && a->next == a->runs.n;
        if (!a->s && !*ret_over)
                r = begin_run(a, t) == SQLITE_OK ? SQLITE_ROW : SQLITE_ERROR;
        for (unsigned i = 0; a->s && r == SQLITE_ROW && i < ROWS_AT_ONCE; i++)
                if ((r = sqlite3_step(a->s)) == SQLITE_ROW)
                        add_row(s, t, a->s);
        if (r == SQLITE_ROW)
                return true;
        (void)sqlite3_finalize(a->s);
        a->s = NULL;
        return r == SQLITE_DONE || error_set(error, "cannot read %s: %s", a->d.path, sqlite3_errmsg(a->d.db));
}
