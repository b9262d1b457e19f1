/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * database.c - DESIGN: write-ahead logging, so that readers never wait and a writer that is killed leaves what it had
 * committed. A lock file beside it keeps out a second writer, whose sums would be added twice; it is not removed, and
 * marks the file as ours even when its first page is damaged.
 */
#include "client/past/archive/database.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "client/cli/report.h"
#include "heapwatch/text.h"
#include "heapwatch/wire.h"
#include "proto/base/array.h"
#include "proto/base/descriptors.h"
#include "proto/base/error.h"
#include "proto/base/text_out.h"
#include "proto/wire/endpoints.h"

#define BUSY_MS 10000 /* with a write-ahead log readers block nobody; labelling a run does, for moments */

#define ADD_VALUES                                                                                                     \
        " (run, series, time, n, min, max, sum, last, last_ns, area, covered_ns, rise)"                                \
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"                                                  \
        " ON CONFLICT DO UPDATE SET n = n + excluded.n, sum = sum + excluded.sum, area = area + excluded.area,"        \
        " min = min(coalesce(min, excluded.min), coalesce(excluded.min, min)),"                                        \
        " max = max(coalesce(max, excluded.max), coalesce(excluded.max, max)),"                                        \
        " last = CASE WHEN excluded.last_ns >= last_ns THEN coalesce(excluded.last, last) ELSE last END,"              \
        " last_ns = max(last_ns, excluded.last_ns), covered_ns = covered_ns + excluded.covered_ns,"                    \
        " rise = rise + excluded.rise"
#define ADD_PAUSES                                                                                                     \
        " (run, time, generation, pause_ns, n) VALUES (?1, ?2, ?3, ?4, ?5)"                                            \
        " ON CONFLICT DO UPDATE SET n = n + excluded.n"
#define ADD_BAND                                                                                                       \
        " (run, time, band, n, min, max, sum, last, last_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"              \
        " ON CONFLICT DO UPDATE SET n = n + excluded.n, sum = sum + excluded.sum, min = min(min, excluded.min),"       \
        " max = max(max, excluded.max), last = CASE WHEN excluded.last_ns >= last_ns THEN excluded.last ELSE last "    \
        "END,"                                                                                                         \
        " last_ns = max(last_ns, excluded.last_ns)"

static const char *const sql[STATEMENTS] = {
        [ADD_RUN] = "INSERT INTO runs (target, host, start_ns, late_s) VALUES (?1, ?2, ?3, ?4)",
        /* a clock that was set, or an estimated start, does not make it another run */
        [FIND_RUN] =
                "SELECT id, start_ns, (SELECT max(last_ns) FROM series_1m WHERE run = id) FROM runs WHERE target = ?1 "
                "AND host = ?2 AND start_ns BETWEEN ?3 - "
                "2000000000 AND"
                " ?3 + 2000000000 AND (pid IS NULL OR ?4 IS NULL OR pid = ?4) ORDER BY abs(start_ns - ?3) LIMIT 1",
        [SET_RUN] =
                "UPDATE runs SET number = ?2, program = ?3, build_id = coalesce(?4, build_id), ghc = ?5, rts = ?6, pid "
                "= ?7,"
                " first_ns = min(coalesce(first_ns, ?8), ?8), seen_ns = max(coalesce(seen_ns, ?9), ?9), end_ns = ?10,"
                " state = ?11, detail = ?12, exit_status = ?13, exit_signal = ?14, oom_killed = ?15, breakdown = ?16,"
                " census_period_ns = ?17, max_heap_bytes = ?18, rts_options = ?19, verdict = ?20, slope = ?21,"
                " slope_low = ?22, slope_high = ?23, limit_bytes = ?24, limit_low_ns = ?25, limit_mid_ns = ?26,"
                " limit_high_ns = ?27, growth = ?28, until = ?29, lost = lost + ?30 WHERE id = ?1",
        [SET_LABEL] = "INSERT OR REPLACE INTO labels (run, name, value) VALUES (?1, ?2, ?3)",
        [ADD_MINUTE] = "INSERT INTO series_1m" ADD_VALUES,
        [ADD_HOUR] = "INSERT INTO series_1h" ADD_VALUES,
        [ADD_PAUSES_10M] = "INSERT INTO pauses_10m" ADD_PAUSES,
        [ADD_PAUSES_1D] = "INSERT INTO pauses_1d" ADD_PAUSES,
        [BANDS_OF_RUN] = "SELECT id, name FROM bands WHERE run = ?1 ORDER BY id",
        [ADD_BAND_NAME] = "INSERT INTO bands (run, id, name, label) VALUES (?1, ?2, ?3, ?4)",
        [ADD_BAND_10M] = "INSERT INTO bands_10m" ADD_BAND,
        [ADD_BAND_1H] = "INSERT INTO bands_1h" ADD_BAND,
        [THIN_BANDS] =
                "DELETE FROM bands_10m WHERE run = ?1 AND time = ?2 AND band NOT IN (SELECT band FROM bands_10m"
                " WHERE run = ?1 AND time = ?2 ORDER BY max DESC LIMIT ?3)",
        [ADD_NOTE] =
                "INSERT OR IGNORE INTO notes (run, number, time_ns, what, thread, text)"
                " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        [SET_ALERT] =
                "INSERT OR REPLACE INTO alerts (run, fingerprint, since_ns, rule, severity, band, state, fired_ns,"
                " resolved_ns, value, sentence) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        [ADD_VERDICT] =
                "INSERT OR REPLACE INTO verdicts (run, time_ns, what, verdict, slope, slope_low, slope_high,"
                " onset_ns, sentence) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
};

bool database_default_path(char *out, size_t size)
{
        const char *given = getenv("HEAPWATCH_ARCHIVE");
        char state[STATE_PATH_MAX];

        if (given && *given) {
                int n = snprintf(out, size, "%s", given);
                return n > 0 && (size_t)n < size;
        }
        if (state_path(state, sizeof(state), "archive", NULL) < 0)
                return false;
        int n = snprintf(out, size, "%.*sdb", (int)(strlen(state) - strlen("json")), state);
        return n > 0 && (size_t)n < size;
}

/* ------------------------------------------------------------------ statements */

sqlite3_stmt *database_statement(struct database *d, enum statement which)
{
        sqlite3_stmt **s = &d->statements[which];

        if (d->result != SQLITE_OK)
                return NULL;
        if (!*s && sqlite3_prepare_v3(d->db, sql[which], -1, SQLITE_PREPARE_PERSISTENT, s, NULL) != SQLITE_OK)
                return NULL;
        (void)sqlite3_reset(*s);
        (void)sqlite3_clear_bindings(*s);
        return *s;
}

int database_run(sqlite3_stmt *s)
{
        int r = s ? sqlite3_step(s) : SQLITE_ERROR;

        if (s)
                (void)sqlite3_reset(s);
        return r == SQLITE_DONE || r == SQLITE_ROW ? SQLITE_OK : r;
}

int database_exec(struct database *d, const char *text)
{
        return sqlite3_exec(d->db, text, NULL, NULL, NULL);
}

bool database_is_damage(int result)
{
        return result == SQLITE_CORRUPT || result == SQLITE_NOTADB;
}

/* ----------------------------------------------------------------- the connection */

static void close_connection(struct database *d)
{
        for (size_t i = 0; i < STATEMENTS; i++) {
                (void)sqlite3_finalize(d->statements[i]);
                d->statements[i] = NULL;
        }
        (void)sqlite3_close_v2(d->db);
        d->db = NULL;
}

static int number_of(struct database *d, const char *pragma, int64_t *ret)
{
        sqlite3_stmt *s = NULL;
        int r = sqlite3_prepare_v2(d->db, pragma, -1, &s, NULL);

        if (r == SQLITE_OK) {
                r = sqlite3_step(s);
                *ret = r == SQLITE_ROW ? (int64_t)row_number(s, 0) : 0;
                r = r == SQLITE_ROW || r == SQLITE_DONE ? SQLITE_OK : r;
        }
        (void)sqlite3_finalize(s);
        return r;
}

/* SQLITE_OK, or SQLITE_CORRUPT with the reason. */
static int check_whole(struct database *d, char *why, size_t size)
{
        sqlite3_stmt *s = NULL;
        int r = sqlite3_prepare_v2(d->db, "PRAGMA quick_check(1)", -1, &s, NULL);

        if (r == SQLITE_OK)
                r = sqlite3_step(s);
        if (r == SQLITE_ROW) {
                const char *said = row_text(s, 0);
                r = said && !strcmp(said, "ok") ? SQLITE_OK : SQLITE_CORRUPT;
                (void)snprintf(why, size, "%s", said ? said : "it cannot be read");
        } else {
                (void)snprintf(why, size, "%s", sqlite3_errmsg(d->db));
        }
        (void)sqlite3_finalize(s);
        for (char *c = why; (c = strchr(c, '\n'));)
                *c = ' ';
        return r;
}

static int make_schema(struct database *d)
{
        char *fill;
        int r = database_exec(d, "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; BEGIN IMMEDIATE;");

        for (const char *const *part = schema_sql; r == SQLITE_OK && *part; part++)
                r = database_exec(d, *part);
        for (int id = 1; r == SQLITE_OK && hw_series_name((Hw__Series)id); id++) {
                fill = sqlite3_mprintf("INSERT INTO series VALUES (%d, %Q, %Q)", id, hw_series_name((Hw__Series)id),
                                       hw_series_unit((Hw__Series)id));
                r = fill ? database_exec(d, fill) : SQLITE_NOMEM;
                sqlite3_free(fill);
        }
        fill = sqlite3_mprintf("INSERT INTO series VALUES (%d, 'collections', '')", SERIES_COLLECTIONS);
        if (r == SQLITE_OK)
                r = fill ? database_exec(d, fill) : SQLITE_NOMEM;
        sqlite3_free(fill);
        return r == SQLITE_OK ? database_exec(d, "COMMIT") : r;
}

static bool is_ours(const struct database *d)
{
        char path[PATH_MAX + 8];
        struct stat st;

        (void)snprintf(path, sizeof(path), "%s.lock", d->path);
        return stat(path, &st) == 0;
}

/* Whether the file has the tables that we know. */
static bool check_kind(struct database *d, struct error *error)
{
        int64_t version = 0, application = 0;

        if (number_of(d, "PRAGMA application_id", &application) != SQLITE_OK ||
            number_of(d, "PRAGMA user_version", &version) != SQLITE_OK)
                return error_set(error, "%s: %s", d->path, sqlite3_errmsg(d->db));
        if (application != SCHEMA_APPLICATION)
                return error_set(error, "%s is a database of another program; give another --db", d->path);
        if (version != SCHEMA_VERSION)
                return error_set(error,
                                 "%s has version %lld of the archive's tables, this heapwatch knows %d; use the one "
                                 "that wrote it, or another --db",
                                 d->path, (long long)version, SCHEMA_VERSION);
        return true;
}

static int open_connection(struct database *d, const char *name, int flags, struct error *error)
{
        int r = sqlite3_open_v2(name, &d->db, flags | SQLITE_OPEN_NOMUTEX, NULL);

        if (r != SQLITE_OK)
                error_set(error, "cannot open %s: %s", d->path, d->db ? sqlite3_errmsg(d->db) : "out of memory");
        else
                (void)sqlite3_busy_timeout(d->db, BUSY_MS);
        return r;
}

/* Opens or makes the file. SQLITE_CORRUPT with `why`: it is damaged. */
static int open_whole(struct database *d, char *why, size_t size, struct error *error)
{
        int64_t tables = 0;
        int r = open_connection(d, d->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, error);

        if (r != SQLITE_OK)
                return r;
        r = number_of(d, "SELECT count(*) FROM sqlite_master", &tables);
        if (r == SQLITE_OK && tables == 0)
                r = make_schema(d);
        else if (r == SQLITE_OK && !check_kind(d, error))
                return SQLITE_MISUSE;
        if (r == SQLITE_OK)
                r = check_whole(d, why, size);
        else
                (void)snprintf(why, size, "%s", sqlite3_errmsg(d->db));
        if (r == SQLITE_OK)
                r = database_exec(d,
                                  "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                                  "PRAGMA journal_size_limit = 67108864;");
        if (r != SQLITE_OK && !database_is_damage(r))
                error_set(error, "cannot use %s: %s", d->path, sqlite3_errmsg(d->db));
        return r;
}

static bool set_aside(const struct database *d, const char *why, struct error *error)
{
        static const char *const parts[] = { "", "-wal", "-shm" };
        char from[PATH_MAX + 8], to[PATH_MAX + 64], stamp[HW_NUMBER_MAX];
        time_t now = time(NULL);
        struct tm tm;

        (void)strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
        for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
                (void)snprintf(from, sizeof(from), "%s%s", d->path, parts[i]);
                (void)snprintf(to, sizeof(to), "%s.damaged-%s%s", d->path, stamp, parts[i]);
                if (rename(from, to) < 0 && (i == 0 || errno != ENOENT))
                        return error_set(error, "%s is damaged (%s) and cannot be set aside: %s", d->path, why,
                                         strerror(errno));
        }
        report_warning("archive=%s is damaged (%s): set aside as %s.damaged-%s, a new one begins", d->path, why,
                       d->path, stamp);
        return true;
}

static bool open_or_renew(struct database *d, struct error *error)
{
        char why[256] = "";
        bool ours = is_ours(d);
        int r = open_whole(d, why, sizeof(why), error);

        if (r == SQLITE_OK)
                return true;
        close_connection(d);
        if (!database_is_damage(r))
                return false;
        if (!ours)
                return error_set(error, "%s is not an archive: %s; give another --db", d->path, why);
        return set_aside(d, why, error) && open_whole(d, why, sizeof(why), error) == SQLITE_OK;
}

/* ------------------------------------------------------------------------ opening */

static bool make_directories(const struct database *d, struct error *error)
{
        char path[PATH_MAX];

        (void)snprintf(path, sizeof(path), "%s", d->path);
        for (char *c = path + 1; (c = strchr(c, '/')); *c++ = '/') {
                *c = '\0';
                if (mkdir(path, 0700) < 0 && errno != EEXIST)
                        return error_set(error, "cannot make %s: %s", path, strerror(errno));
        }
        return true;
}

static bool acquire_lock(struct database *d, struct error *error)
{
        char path[PATH_MAX + 8];

        (void)snprintf(path, sizeof(path), "%s.lock", d->path);
        d->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (d->lock < 0)
                return error_set(error, "cannot open %s: %s", path, strerror(errno));
        if (flock(d->lock, LOCK_EX | LOCK_NB) == 0)
                return true;
        if (errno == EWOULDBLOCK)
                return error_set(error, "another heapwatch archive writes %s", d->path);
        return error_set(error, "cannot lock %s: %s", path, strerror(errno));
}

static bool set_path(struct database *d, const char *path, struct error *error)
{
        *d = (struct database){ .lock = -1 };
        int n = snprintf(d->path, sizeof(d->path), "%s", path);

        return (n > 0 && (size_t)n < sizeof(d->path)) || error_set(error, "the path of the archive is too long");
}

bool database_open(struct database *d, const char *path, struct error *error)
{
        struct stat st;
        mode_t mask = umask(077);
        bool good = set_path(d, path, error) && make_directories(d, error);

        bool known = good && is_ours(d), there = good && stat(d->path, &st) == 0 && st.st_size > 0;
        if (there && !known) { /* there is no lock file to mark it as ours */
                good = open_connection(d, d->path, SQLITE_OPEN_READONLY, error) == SQLITE_OK && check_kind(d, error);
                close_connection(d);
        }
        good = good && acquire_lock(d, error) && open_or_renew(d, error);
        (void)umask(mask);
        if (!good)
                database_close(d);
        return good;
}

/* database_close() in any case. */
static bool open_existing(struct database *d, const char *path, int flags, struct error *error)
{
        struct stat st;

        if (!set_path(d, path, error))
                return false;
        if (stat(path, &st) < 0)
                return error_set(error, "there is no archive at %s: %s; `heapwatch archive` writes one", path,
                                 strerror(errno));
        return open_connection(d, d->path, flags, error) == SQLITE_OK && check_kind(d, error);
}

/* As a URI, in which SQLite is told that nobody writes it, so that it needs no file beside it. */
static void name_unchanging(const char *path, char *out, size_t size)
{
        struct text_out uri;
        char escaped[4];

        text_out_init(&uri, out, size);
        text_put(&uri, *path == '/' ? "file://" : "file:");
        for (; *path; path++) {
                const bool plain = isalnum((unsigned char)*path) || strchr("/._-", *path);

                (void)snprintf(escaped, sizeof(escaped), plain ? "%c" : "%%%02X", (unsigned char)*path);
                text_put(&uri, escaped);
        }
        text_put(&uri, "?immutable=1");
}

/* Where no file can be made beside it (a read-only disk, another's directory): whoever writes it has made them. */
static bool open_unchanging(struct database *d, struct error *error)
{
        char path[PATH_MAX + 8], uri[3 * PATH_MAX + 32];
        struct stat st;

        (void)snprintf(path, sizeof(path), "%s-wal", d->path);
        if (stat(path, &st) == 0)
                return error_set(error,
                                 "%s cannot be read where it is, since part of it may be in %s-wal, and no file can "
                                 "be made beside it: copy both to a directory of your own, and give that with --db",
                                 d->path, d->path);
        name_unchanging(d->path, uri, sizeof(uri));
        return open_connection(d, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, error) == SQLITE_OK &&
               check_kind(d, error);
}

bool database_open_to_read(struct database *d, const char *path, struct error *error)
{
        if (open_existing(d, path, SQLITE_OPEN_READONLY, error))
                return true;
        const int r = d->db ? sqlite3_errcode(d->db) : SQLITE_ERROR;
        close_connection(d);
        if ((r == SQLITE_CANTOPEN || r == SQLITE_READONLY) && open_unchanging(d, error))
                return true;
        database_close(d);
        return false;
}

bool database_open_to_label(struct database *d, const char *path, struct error *error)
{
        if (open_existing(d, path, SQLITE_OPEN_READWRITE, error))
                return true;
        database_close(d);
        return false;
}

sqlite3_stmt *database_label_statement(struct database *d, int64_t run, const char *name_value)
{
        const char *is = strchr(name_value, '=');
        sqlite3_stmt *s = is ? database_statement(d, SET_LABEL) : NULL;

        if (!s)
                return NULL;
        (void)sqlite3_bind_int64(s, 1, run);
        (void)sqlite3_bind_text(s, 2, name_value, (int)(is - name_value), SQLITE_STATIC);
        (void)sqlite3_bind_text(s, 3, is + 1, -1, SQLITE_STATIC);
        return s;
}

bool database_label(struct database *d, int64_t run, const char *name_value, struct error *error)
{
        return database_run(database_label_statement(d, run, name_value)) == SQLITE_OK ||
               error_set(error, "cannot label in %s: %s", d->path, sqlite3_errmsg(d->db));
}

bool database_renew(struct database *d, const char *why, struct error *error)
{
        char reason[256];

        (void)snprintf(reason, sizeof(reason), "%s", why); /* `why` may belong to the connection */
        close_connection(d);
        return set_aside(d, reason, error) && open_or_renew(d, error);
}

void database_close(struct database *d)
{
        close_connection(d);
        close_fd(&d->lock);
}
