/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/commands/query/module.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/cli/absent.h"
#include "client/cli/signals.h"
#include "proto/base/array.h"
#include "proto/base/clock.h"
#include "proto/base/hash.h"
#include "proto/base/time.h"

#define STEP_MS      200
#define COST_OF_PASS 1e6  /* of reading a source once; */
#define BOUND_SHARE  0.5  /* of that, what a bound on the time leaves, */
#define KEY_SHARE    0.05 /* and one key */
#define ALL_SOURCES  SIZE_MAX
#define CHECK_EVERY  10000 /* steps of SQLite's machine between two looks at the clock */

struct query_vtab {
        sqlite3_vtab base;
        struct query *query;
        const struct query_table *table;
        size_t source; /* or ALL_SOURCES */
        unsigned scans;
        struct query_rows cache; /* all rows, once is_cached */
        bool is_cached, too_large;
};

struct query_cursor {
        sqlite3_vtab_cursor base;
        size_t source, end; /* the next source, and the one after the last */
        struct query_scan scan;
        struct query_archive *archive; /* that is read, in place of the scan's feed */
        char *key;
        bool *event_ids;               /* EVENT_IDS of them, that a table of events reads */
        const struct query_rows *rows; /* those of the scan, or the table's cached ones */
        size_t at;                     /* the row's first value */
        sqlite3_int64 rowid;
};

static struct query_vtab *vtab_of(const struct query_cursor *c)
{
        return (struct query_vtab *)c->base.pVtab;
}

/* With the source before it, unless it begins with that, or with the directory of a recording. */
static int fail_scan(const struct query_cursor *c, const char *source, const char *why)
{
        struct query_vtab *v = vtab_of(c);

        sqlite3_free(v->base.zErrMsg);
        const bool is_named =
                !strncmp(why, source, strlen(source)) || !strncmp(why, "recording:", strlen("recording:"));
        v->base.zErrMsg = is_named ? sqlite3_mprintf("%s", why) : sqlite3_mprintf("%s: %s", source, why);
        return SQLITE_ERROR;
}

static bool is_over(struct query *q)
{
        q->late = q->late || clock_mono_ms() >= q->until_ms;
        return q->late || signals_stop();
}

/* ------------------------------------------------------------------- reading */

static unsigned row_width(const struct query_table *t)
{
        return QUERY_FIRST_COLUMNS + t->n_columns;
}

static void end_source(struct query_cursor *c)
{
        feed_close(&c->scan.feed);
        query_archive_close(&c->archive);
        world_destroy(&c->scan.world);
        query_scan_forget(&c->scan);
}

/* With what the table is made of alone. */
static struct feed *open_feed(struct query_cursor *c, const struct query_source *source, const struct query_table *t,
                              struct error *error)
{
        const struct update_wish wish = { .kinds = t->kinds, .unjudged = true };
        Hw__Kind kinds[32];
        size_t n = 0;

        if (t->event_ids)
                return feed_events(source->what, FEED_EVENTS,
                                   t->event_ids(&c->scan, c->event_ids) ? c->event_ids : NULL, false, error);
        if (t->kinds && source->kind == QUERY_LOG)
                return feed_files_wanted(&source->what, 1, NULL, &wish, error);
        for (unsigned kind = 0; kind < ARRAY_SIZE(kinds); kind++)
                if (t->kinds >> kind & 1)
                        kinds[n++] = (Hw__Kind)kind;
        return selection_open(&source->chosen, kinds, n, error);
}

/* Whether sources of that kind have the table; false with a sentence, if `error` is not NULL. */
static bool has_table(const struct query_source *s, const struct query_table *t, struct error *error)
{
        struct error ignored;

        error = error ? error : &ignored;
        if (t->add_graph && s->kind != QUERY_GRAPH)
                return error_set(error, "it is no heap graph: `heapwatch heap NAME -o FILE.heapgraph` writes one");
        if (!t->add_graph && s->kind == QUERY_GRAPH)
                return error_set(error, "a heap graph has the tables heap and retainers alone");
        if (s->kind == QUERY_LIVE && t->of_logs)
                return error_set(error,
                                 "%s are in a finished log or a recording, recording:%s; the daemon keeps none of a "
                                 "live target",
                                 t->name, s->what);
        return s->kind != QUERY_ARCHIVE || query_archive_has(t) ||
               error_set(error, "an archive does not keep %s; they are in a finished log or a recording", t->name);
}

/* A table of all sources has rows of those that have such a table, where any has. What is left out is said once. */
static bool leave_out(const struct query_vtab *v, struct query_source *source, const struct error *why)
{
        bool any = false;

        for (size_t i = 0; i < v->query->n; i++)
                any = any || has_table(&v->query->sources[i], v->table, NULL);
        if (!any || v->source != ALL_SOURCES)
                return false;
        if (!source->is_warned && source->kind != QUERY_GRAPH && !v->table->add_graph)
                (void)fprintf(stderr, "heapwatch: %s is left out: %s\n", source->what, why->text);
        return source->is_warned = true;
}

static bool is_pipe(const struct query_source *s)
{
        struct stat st;
        const int status = strcmp(s->what, "-") ? stat(s->what, &st) : fstat(STDIN_FILENO, &st);

        return s->kind == QUERY_LOG && status == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static int open_source(struct query_cursor *c)
{
        const struct query_vtab *v = vtab_of(c);
        struct query_source *source = &v->query->sources[c->source++];
        struct error error;

        if (!has_table(source, v->table, &error))
                return leave_out(v, source, &error) ? SQLITE_OK : fail_scan(c, source->what, error.text);
        if (source->is_read && is_pipe(source))
                return fail_scan(c, source->what, "a pipe can be read once, for one table; write it to a file first");
        source->is_read = true;
        c->scan.source = source->name;
        c->scan.until_ms = v->query->until_ms;
        if (v->table->add_graph) {
                if (v->table->add_graph(&c->scan, source->what, &error))
                        return c->scan.rows.failed ? SQLITE_NOMEM : SQLITE_OK;
                return fail_scan(c, source->what, error.text);
        }
        if (source->kind == QUERY_ARCHIVE) {
                c->archive = query_archive_open(source->what, source->db, &error);
                return c->archive ? SQLITE_OK : fail_scan(c, source->what, error.text);
        }
        c->scan.feed = open_feed(c, source, v->table, &error);
        if (!c->scan.feed)
                return fail_scan(c, source->what, error.text);
        c->scan.world = world_new(NULL);
        return c->scan.world ? SQLITE_OK : SQLITE_NOMEM;
}

/* Where a table of the heap profile is empty for there is none. Once for a source. */
static void warn_unprofiled(const struct query_cursor *c)
{
        const struct query_vtab *v = vtab_of(c);
        struct query_source *source = &v->query->sources[c->source - 1];
        bool is_profiled = c->scan.newest_census_ns > 0;

        for (size_t i = 0; i < world_targets(c->scan.world); i++)
                is_profiled = is_profiled || world_target(c->scan.world, i)->n_bands > 0;
        if (v->table->of_profile && !is_profiled && !source->is_warned) {
                (void)fprintf(stderr, "heapwatch: %s has no heap census%s\n", source->what,
                              feed_is_live(c->scan.feed) ? " yet" : ": heap profiles need +RTS -hT");
                source->is_warned = true;
        }
}

/* All of the source was read: rows of the state that it ended in. */
static int finish_source(struct query_cursor *c)
{
        const struct query_vtab *v = vtab_of(c);
        const struct query_table *t = v->table;
        int status = SQLITE_OK;
        struct error error;

        if (t->remembers && feed_is_live(c->scan.feed) && !query_add_remembered(&c->scan, t->remembers, &error))
                status = fail_scan(c, v->query->sources[c->source - 1].what, error.text);
        if (is_over(v->query))
                status = SQLITE_INTERRUPT;
        for (size_t i = 0; t->finish && i < world_targets(c->scan.world); i++)
                t->finish(&c->scan, world_target(c->scan.world, i));
        warn_unprofiled(c);
        if (t->event_ids)
                query_finish_threads(&c->scan);
        end_source(c);
        return status == SQLITE_OK && c->scan.rows.failed ? SQLITE_NOMEM : status;
}

static int apply_update(struct query_cursor *c, const Hw__Update *u)
{
        const struct query_table *t = vtab_of(c)->table;

        /* rows of a census are made of its message, by definitions that came before it */
        if ((t->finish || u->body_case != HW__UPDATE__BODY_CENSUS) &&
            world_apply(c->scan.world, feed_daemon(c->scan.feed), u) < 0)
                return SQLITE_NOMEM;
        if (t->add)
                t->add(&c->scan, u);
        return c->scan.rows.failed ? SQLITE_NOMEM : SQLITE_OK;
}

static int read_archive(struct query_cursor *c)
{
        const struct query_vtab *v = vtab_of(c);
        struct error error;
        bool is_read;

        if (!query_archive_read(&c->scan, c->archive, v->table, &is_read, &error))
                return is_over(v->query) ? SQLITE_INTERRUPT
                                         : fail_scan(c, v->query->sources[c->source - 1].what, error.text);
        if (is_read)
                query_archive_close(&c->archive);
        return c->scan.rows.failed ? SQLITE_NOMEM : SQLITE_OK;
}

/* One event of the feed. */
static int read_on(struct query_cursor *c)
{
        const struct query_vtab *v = vtab_of(c);
        const char *what = v->query->sources[c->source - 1].what;
        const Hw__Update *update = NULL;
        char text[ABSENT_TEXT];

        switch (feed_next(c->scan.feed, feed_is_live(c->scan.feed) ? ABSENT_MS : STEP_MS, &update)) {
        case FEED_UPDATE:
                return apply_update(c, update);
        case FEED_RESET:
                world_reset(c->scan.world, feed_daemon(c->scan.feed));
                return SQLITE_OK;
        case FEED_END:
                return finish_source(c);
        case FEED_READY:
                if (!feed_complete(c->scan.feed))
                        return SQLITE_OK;
                if (feed_is_live(c->scan.feed) && !world_targets(c->scan.world))
                        return fail_scan(c, what, "there is no target of that name; `heapwatch status` lists them");
                return finish_source(c);
        case FEED_FAILED:
                return fail_scan(c, what, feed_error(c->scan.feed));
        case FEED_NOTHING:
        case FEED_STALE:
                if (!feed_is_live(c->scan.feed) || is_over(v->query))
                        return SQLITE_OK;
                return fail_scan(c, what, absent_daemon(text, sizeof(text), feed_endpoint(c->scan.feed, 0)));
        case FEED_ALIVE:
                break;
        }
        return SQLITE_OK;
}

/* Until there is a row at c->at, or none is left. */
static int find_row(struct query_cursor *c)
{
        struct query_vtab *v = vtab_of(c);
        int status = SQLITE_OK;

        if (v->is_cached && c->rows == &v->cache)
                return SQLITE_OK;
        while (status == SQLITE_OK && c->at >= c->scan.rows.n) {
                query_rows_clear(&c->scan.rows);
                c->at = 0;
                if (is_over(v->query))
                        return SQLITE_INTERRUPT;
                if (c->archive)
                        status = read_archive(c);
                else if (c->scan.feed)
                        status = read_on(c);
                else if (c->source < c->end)
                        status = open_source(c);
                else
                        break;
        }
        return status;
}

/* -------------------------------------------------------------------- cursors */

static int cursor_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
        struct query_cursor *c = calloc(1, sizeof(*c));

        if (!c)
                return SQLITE_NOMEM;
        *ret = &c->base;
        if (!((struct query_vtab *)base)->table->event_ids)
                return SQLITE_OK;
        c->scan.types = calloc(1, sizeof(*c->scan.types));
        c->event_ids = calloc(EVENT_IDS, sizeof(*c->event_ids));
        if (c->scan.types && c->event_ids)
                return SQLITE_OK;
        free(c->scan.types);
        free(c->event_ids);
        free(c);
        return SQLITE_NOMEM;
}

static int cursor_close(sqlite3_vtab_cursor *base)
{
        struct query_cursor *c = (struct query_cursor *)base;

        end_source(c);
        query_scan_done(&c->scan);
        free(c->key);
        free(c->event_ids);
        free(c);
        return SQLITE_OK;
}

static void begin_scan(struct query_cursor *c)
{
        const struct query_vtab *v = vtab_of(c);

        end_source(c);
        query_rows_clear(&c->scan.rows);
        c->scan.rows.width = row_width(v->table);
        free(c->key);
        c->key = NULL;
        c->source = v->source == ALL_SOURCES ? 0 : v->source;
        c->end = v->source == ALL_SOURCES ? v->query->n : v->source + 1;
        c->rows = &c->scan.rows;
        c->at = 0;
        c->rowid = 0;
        c->scan.bounds = (struct query_bounds){ .time_from = NAN, .time_to = NAN };
}

/* Appends the rows of the scan to the cached ones. False: they are too many, or there is no memory. */
static bool cache_rows(struct query_vtab *v, const struct query_rows *from)
{
        struct query_rows *to = &v->cache;
        const size_t bytes = from->n * sizeof(*from->values) + from->n_texts;

        if (bytes > QUERY_CACHE_BYTES - v->query->cached_bytes ||
            !ARRAY_RESERVE(to->values, to->room, to->n + from->n) ||
            !ARRAY_RESERVE(to->texts, to->texts_room, to->n_texts + from->n_texts))
                return false;
        for (size_t i = 0; i < from->n; i++) {
                to->values[to->n] = from->values[i];
                if (from->values[i].type == QUERY_TEXT)
                        to->values[to->n].text += to->n_texts;
                to->n++;
        }
        if (from->n_texts > 0)
                memcpy(to->texts + to->n_texts, from->texts, from->n_texts);
        to->n_texts += from->n_texts;
        v->query->cached_bytes += bytes;
        return true;
}

static void drop_cache(struct query_vtab *v)
{
        v->query->cached_bytes -= v->cache.n * sizeof(*v->cache.values) + v->cache.n_texts;
        query_rows_done(&v->cache);
}

/* Reads the whole table into memory, where there is room for it. */
static int cache_table(struct query_cursor *c)
{
        struct query_vtab *v = vtab_of(c);
        int status;

        begin_scan(c);
        c->scan.rows.used = UINT32_MAX;
        while ((status = find_row(c)) == SQLITE_OK && c->scan.rows.n > 0) {
                if (!cache_rows(v, &c->scan.rows)) {
                        v->too_large = true;
                        drop_cache(v);
                        return SQLITE_OK;
                }
                c->at = c->scan.rows.n;
        }
        v->is_cached = status == SQLITE_OK;
        if (!v->is_cached)
                drop_cache(v);
        return status;
}

static double bound_of(sqlite3_value *value)
{
        const int type = sqlite3_value_numeric_type(value);

        return type == SQLITE_INTEGER || type == SQLITE_FLOAT ? sqlite3_value_double(value) : NAN;
}

static int set_bounds(struct query_cursor *c, const char *given, int n, sqlite3_value **values)
{
        for (int i = 0; i < n; i++) {
                const char *text = given[i] == 'k' ? (const char *)sqlite3_value_text(values[i]) : NULL;

                if (given[i] == 'f' || given[i] == 'e')
                        c->scan.bounds.time_from = bound_of(values[i]);
                if (given[i] == 't' || given[i] == 'e')
                        c->scan.bounds.time_to = bound_of(values[i]);
                if (!text || c->key)
                        continue;
                c->key = strdup(text);
                if (!c->key)
                        return SQLITE_NOMEM;
        }
        c->scan.bounds.key = c->key;
        return SQLITE_OK;
}

static int cursor_filter(sqlite3_vtab_cursor *base, int number, const char *given, int n, sqlite3_value **values)
{
        struct query_cursor *c = (struct query_cursor *)base;
        struct query_vtab *v = vtab_of(c);
        int status = SQLITE_OK;

        if (++v->scans > 1 && !v->is_cached && !v->too_large && !v->table->needs_key)
                status = cache_table(c);
        begin_scan(c);
        c->scan.rows.used = (uint32_t)number;
        if (v->is_cached)
                c->rows = &v->cache;
        if (status == SQLITE_OK)
                status = set_bounds(c, given ? given : "", n, values);
        if (v->table->needs_key && c->key) /* rows of each key have rowids of their own */
                c->rowid = (sqlite3_int64)(hash_bytes(c->key, strlen(c->key), 0) >> 1 & ~UINT64_C(0xffff));
        return status == SQLITE_OK ? find_row(c) : status;
}

static int cursor_next(sqlite3_vtab_cursor *base)
{
        struct query_cursor *c = (struct query_cursor *)base;

        c->at += row_width(vtab_of(c)->table);
        c->rowid++;
        return find_row(c);
}

static int cursor_eof(sqlite3_vtab_cursor *base)
{
        const struct query_cursor *c = (const struct query_cursor *)base;

        return c->at >= c->rows->n;
}

static int cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *to, int column)
{
        const struct query_cursor *c = (const struct query_cursor *)base;
        const struct query_value *value = &c->rows->values[c->at + (unsigned)column];

        switch (value->type) {
        case QUERY_NULL:
                break;
        case QUERY_INTEGER:
                sqlite3_result_int64(to, value->integer);
                break;
        case QUERY_REAL:
                sqlite3_result_double(to, value->real);
                break;
        case QUERY_TEXT:
                sqlite3_result_text(to, c->rows->texts + value->text, -1, SQLITE_TRANSIENT);
                break;
        }
        return SQLITE_OK;
}

static int cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
        *ret = ((struct query_cursor *)base)->rowid;
        return SQLITE_OK;
}

/* --------------------------------------------------------------------- tables */

/* What of a constraint helps to leave out rows early: 'f'rom, 't'o, 'e'qual time, 'k'ey. '\0': nothing. */
static char usable_bound(const struct query_table *t, sqlite3_index_info *info, int i)
{
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        const int column = c->iColumn - (int)QUERY_FIRST_COLUMNS;

        if (!c->usable || column < 0)
                return '\0';
        if (column == t->key && c->op == SQLITE_INDEX_CONSTRAINT_EQ)
                return !strcmp(sqlite3_vtab_collation(info, i), "BINARY") ? 'k' : '\0'; /* as query_is_key compares */
        if (column != t->time)
                return '\0';
        switch (c->op) {
        case SQLITE_INDEX_CONSTRAINT_EQ:
                return 'e';
        case SQLITE_INDEX_CONSTRAINT_GT:
        case SQLITE_INDEX_CONSTRAINT_GE:
                return 'f';
        case SQLITE_INDEX_CONSTRAINT_LT:
        case SQLITE_INDEX_CONSTRAINT_LE:
                return 't';
        default:
                return '\0';
        }
}

/* Whether it is as "pause > '10 ms'", which holds for no number, as SQLite compares them: then with a sentence. */
static bool compares_text(struct query_vtab *v, sqlite3_index_info *info, int i)
{
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        const struct query_column *column = c->iColumn < 0 ? NULL : query_column_at(v->table, (unsigned)c->iColumn);
        sqlite3_value *value = NULL;

        if (!column || column->type == QUERY_TEXT || c->op < SQLITE_INDEX_CONSTRAINT_EQ ||
            c->op > SQLITE_INDEX_CONSTRAINT_GE || sqlite3_vtab_rhs_value(info, i, &value) != SQLITE_OK ||
            sqlite3_value_numeric_type(value) != SQLITE_TEXT)
                return false;
        sqlite3_free(v->base.zErrMsg);
        const char *unit = !strcmp(column->unit, QUERY_UNIT_OF_SERIES) ? "" : column->unit;
        v->base.zErrMsg = sqlite3_mprintf("%s is a number%s%s: it is compared with the text '%s'", column->name,
                                          *unit ? " in " : "", unit, sqlite3_value_text(value));
        return true;
}

/* SQLite checks each constraint once more: those given to the scan only save work. */
static int vtab_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
        struct query_vtab *v = (struct query_vtab *)base;
        char given[8] = "";
        size_t n = 0;

        info->idxNum = (int)(info->colUsed & INT32_MAX);
        info->estimatedCost = COST_OF_PASS;
        for (int i = 0; i < info->nConstraint; i++)
                if (compares_text(v, info, i))
                        return SQLITE_ERROR;
        for (int i = 0; i < info->nConstraint && n < sizeof(given) - 1; i++) {
                const struct sqlite3_index_constraint *c = &info->aConstraint[i];
                const char bound = v->query->unbounded && !v->table->needs_key ? '\0' : usable_bound(v->table, info, i);

                if (v->table->needs_key && !c->usable && c->op == SQLITE_INDEX_CONSTRAINT_EQ &&
                    c->iColumn == v->table->key + (int)QUERY_FIRST_COLUMNS)
                        return SQLITE_CONSTRAINT; /* the table that has the keys comes first */

                if (!bound || strchr(given, bound))
                        continue;
                given[n++] = bound;
                info->aConstraintUsage[i].argvIndex = (int)n;
                info->estimatedCost *= bound == 'k' ? KEY_SHARE : BOUND_SHARE;
        }
        info->estimatedRows = (sqlite3_int64)info->estimatedCost;
        info->idxStr = sqlite3_mprintf("%s", given);
        info->needToFreeIdxStr = 1;
        return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

static int declare_table(sqlite3 *db, const struct query_table *t)
{
        static const char *const types[] = { "", "INTEGER", "REAL", "TEXT" };
        sqlite3_str *sql = sqlite3_str_new(db);

        for (unsigned i = 0; i < row_width(t); i++)
                sqlite3_str_appendf(sql, "%s\"%s\" %s", i ? ", " : "CREATE TABLE x(", query_column_at(t, i)->name,
                                    types[query_column_at(t, i)->type]);
        sqlite3_str_appendall(sql, ")");
        char *text = sqlite3_str_finish(sql);
        const int status = text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
        sqlite3_free(text);
        return status;
}

/* Arguments after module, schema and name: the place of the table, and of its source. */
static int vtab_connect(sqlite3 *db, void *ctx, int argc, const char *const *argv, sqlite3_vtab **ret, char **ret_why)
{
        struct query_vtab *v = calloc(1, sizeof(*v));

        if (!v)
                return SQLITE_NOMEM;
        v->query = ctx;
        v->table = &query_tables[strtoul(argv[3], NULL, 10)];
        v->source = strtoul(argv[4], NULL, 10);
        const int status = declare_table(db, v->table);
        if (status == SQLITE_OK)
                *ret = &v->base;
        else
                free(v);
        return status;
}

static int vtab_disconnect(sqlite3_vtab *base)
{
        struct query_vtab *v = (struct query_vtab *)base;

        drop_cache(v);
        free(v);
        return SQLITE_OK;
}

static const sqlite3_module module = {
        .xCreate = vtab_connect,
        .xConnect = vtab_connect,
        .xBestIndex = vtab_best_index,
        .xDisconnect = vtab_disconnect,
        .xDestroy = vtab_disconnect,
        .xOpen = cursor_open,
        .xClose = cursor_close,
        .xFilter = cursor_filter,
        .xNext = cursor_next,
        .xEof = cursor_eof,
        .xColumn = cursor_column,
        .xRowid = cursor_rowid,
};

/* ---------------------------------------------------------------------- views */

const struct query_view query_views[] = {
        { "top_growing", "bands by robust slope, the fastest first",
          "SELECT source, target, run, name, slope(time, bytes) AS slope, slope_low(time, bytes) AS slope_low,"
          " slope_high(time, bytes) AS slope_high, max(max) AS max, sparkline(time, bytes) AS shape"
          " FROM bands GROUP BY band, run, source, target ORDER BY slope DESC NULLS LAST",
          1 },
        { "pauses", "the program's own pauses by generation: how many, in all, percentiles",
          "SELECT source, target, run, generation, count(pause) AS pauses, sum(pause) AS total,"
          " quantile(pause, 0.5) AS p50, quantile(pause, 0.9) AS p90, quantile(pause, 0.99) AS p99,"
          " max(pause) AS longest FROM collections WHERE caused_by = 'program'"
          " GROUP BY source, target, run, generation",
          1 },
        { "memory", "live data, blocks, heap and resident memory, the greatest of each second",
          "SELECT source, target, run, bucket(time, '1 s') AS time,"
          " max(max) FILTER (WHERE series = 'live') AS live,"
          " max(max) FILTER (WHERE series = 'blocks_size') AS blocks,"
          " max(max) FILTER (WHERE series = 'heap_size') AS heap, max(max) FILTER (WHERE series = 'rss') AS rss"
          " FROM series WHERE series IN ('live', 'blocks_size', 'heap_size', 'rss')"
          " GROUP BY source, target, run, 4",
          1 },
        { "phases", "what was allocated from each marker to the next, to within a sample of what was allocated in all",
          "WITH m AS MATERIALIZED (SELECT source, target, run, text, number, time, lead(time, 1, 1e300)"
          " OVER (PARTITION BY source, target, run ORDER BY time, number) AS until FROM notes WHERE what = 'marker'),"
          " a AS MATERIALIZED (SELECT source, target, run, time, value, lag(value)"
          " OVER (PARTITION BY source, target, run ORDER BY time) AS before FROM series WHERE series = 'allocated')"
          " SELECT m.source, m.target, m.run, m.text AS phase, m.time, nullif(m.until, 1e300) AS until,"
          " max(a.value) - min(a.before) AS allocated FROM m LEFT JOIN a ON a.source = m.source AND"
          " a.target = m.target AND a.run = m.run AND a.time >= m.time AND a.time < m.until"
          " GROUP BY m.source, m.target, m.run, m.number",
          1 },
        { "diff", "of the first two sources by name: name, old, new (maximum of the band in each), change",
          "SELECT name, o.max AS old, n.max AS new, ifnull(n.max, 0) - ifnull(o.max, 0) AS change FROM"
          " (SELECT name, max(max) AS max FROM \"%w\".bands GROUP BY name) AS o FULL OUTER JOIN"
          " (SELECT name, max(max) AS max FROM \"%w\".bands GROUP BY name) AS n USING (name)"
          " ORDER BY abs(change) DESC",
          2 },
        { NULL, NULL, NULL, 0 },
};

/* ----------------------------------------------------------------------- open */

/* Takes over `sql`. */
static bool run_sql(struct query *q, char *sql, struct error *error)
{
        const bool good = sql && sqlite3_exec(q->db, sql, NULL, NULL, NULL) == SQLITE_OK;

        if (!good)
                (void)error_set(error, "%s", sql ? sqlite3_errmsg(q->db) : "out of memory");
        sqlite3_free(sql);
        return good;
}

static bool make_tables(struct query *q, size_t source, struct error *error)
{
        const char *schema = source == ALL_SOURCES ? "main" : q->sources[source].name;

        if (source != ALL_SOURCES && !run_sql(q, sqlite3_mprintf("ATTACH ':memory:' AS \"%w\"", schema), error))
                return false;
        for (unsigned i = 0; i < n_query_tables; i++) {
                if (!run_sql(q,
                             sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\".%s USING heapwatch(%u, %llu)", schema,
                                             query_tables[i].name, i, (unsigned long long)source),
                             error))
                        return false;
        }
        return true;
}

static int check_clock(void *ctx)
{
        return is_over(ctx);
}

static int authorize_action(void *ctx, int action, const char *first, const char *second, const char *schema,
                            const char *trigger)
{
        switch (action) {
        case SQLITE_READ:
        case SQLITE_SELECT:
        case SQLITE_RECURSIVE:
                return SQLITE_OK;
        case SQLITE_FUNCTION:
                return second && !sqlite3_stricmp(second, "load_extension") ? SQLITE_DENY : SQLITE_OK;
        default:
                return SQLITE_DENY;
        }
}

bool query_open(struct query *q, struct error *error)
{
        bool good = true;

        (void)sqlite3_hard_heap_limit64(QUERY_MEMORY_BYTES);
        if (sqlite3_open_v2(":memory:", &q->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "memdb") != SQLITE_OK ||
            !query_add_functions(q->db) || sqlite3_create_module_v2(q->db, "heapwatch", &module, q, NULL) != SQLITE_OK)
                return error_set(error, "SQLite: %s", q->db ? sqlite3_errmsg(q->db) : "out of memory");
        good = run_sql(q, sqlite3_mprintf("PRAGMA temp_store = FILE"), error) &&
               run_sql(q, sqlite3_mprintf("SELECT 1 FROM json_each('[]'), json_tree('[]')"), error); /* made by use */
        for (size_t i = 0; good && i < q->n; i++)
                good = make_tables(q, i, error);
        good = good && make_tables(q, ALL_SOURCES, error);
        for (const struct query_view *v = query_views; good && v->name; v++) {
                char *sql = sqlite3_mprintf(v->sql, q->sources[0].name, q->sources[q->n > 1].name);

                good = v->sources > q->n ||
                       run_sql(q, sqlite3_mprintf("CREATE TEMP VIEW %s AS %s", v->name, sql), error);
                sqlite3_free(sql);
        }
        sqlite3_progress_handler(q->db, CHECK_EVERY, check_clock, q);
        return good && (sqlite3_set_authorizer(q->db, authorize_action, q) == SQLITE_OK || error_set(error, "SQLite"));
}

void query_close(struct query *q)
{
        (void)sqlite3_close(q->db);
        q->db = NULL;
}

/* --------------------------------------------------------------------- sources */

/* Of a log as far as its run begins, or its first mistake; what is read of a pipe is gone. */
bool query_check_sources(struct query *q, struct error *error)
{
        bool good = true;

        q->until_ms = clock_mono_ms() + q->timeout_ns / NS_PER_MS;
        for (size_t i = 0; good && i < q->n; i++) {
                struct query_source *s = &q->sources[i];

                if (s->is_read || is_pipe(s))
                        continue;
                if (s->kind == QUERY_GRAPH) {
                        good = query_graph_check(s->what, error);
                        continue;
                }
                char *sql = sqlite3_mprintf("SELECT 1 FROM \"%w\".%s LIMIT 1", s->name,
                                            s->kind == QUERY_LOG ? "events" : "runs");
                good = (sql && sqlite3_exec(q->db, sql, NULL, NULL, NULL) == SQLITE_OK) ||
                       error_set(error, "%s", sqlite3_errmsg(q->db));
                sqlite3_free(sql);
        }
        return good;
}
