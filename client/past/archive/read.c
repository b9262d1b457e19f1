/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/past/archive/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/past/archive/database.h"
#include "proto/base/array.h"
#include "proto/base/error.h"
#include "proto/base/time.h"

void archived_runs_done(struct archived_runs *r)
{
        for (size_t i = 0; i < r->n; i++) {
                struct archived_run *x = &r->items[i];
                char *texts[] = { x->target, x->host,   x->program, x->build_id, x->ghc,
                                  x->state,  x->growth, x->until,   x->labels };
                for (size_t k = 0; k < ARRAY_SIZE(texts); k++)
                        free(texts[k]);
        }
        free(r->items);
        *r = (struct archived_runs){ .n = 0 };
}

static char *text_of(sqlite3_stmt *s, int column)
{
        const char *text = row_text(s, column);

        return text ? strdup(text) : NULL;
}

/* The enum value whose name a column has; 0: none. */
static int enum_of(sqlite3_stmt *s, int column, const ProtobufCEnumDescriptor *kind)
{
        const char *text = row_text(s, column);

        for (unsigned i = 0; text && i < kind->n_values; i++) {
                const char *name = strchr(kind->values[i].name, '_');
                if (name && !strcasecmp(name + 1, text))
                        return kind->values[i].value;
        }
        return 0;
}

static void read_run(sqlite3_stmt *s, struct archived_run *ret)
{
        *ret = (struct archived_run){
                .id = (int64_t)row_number(s, 0),
                .target = text_of(s, 1),
                .host = text_of(s, 2),
                .program = text_of(s, 3),
                .build_id = text_of(s, 4),
                .ghc = text_of(s, 5),
                .state = text_of(s, 6),
                .growth = text_of(s, 7),
                .until = text_of(s, 8),
                .labels = text_of(s, 9),
                .start_ns = row_number(s, 10),
                .first_ns = row_number(s, 11),
                .seen_ns = row_number(s, 12),
                .end_ns = row_number(s, 13),
                .breakdown = (Hw__Breakdown)enum_of(s, 14, &hw__breakdown__descriptor),
                .verdict = (Hw__Verdict)enum_of(s, 15, &hw__verdict__descriptor),
                .census_period_ns = row_number(s, 16),
                .lost = row_number(s, 17),
                .slope = row_real(s, 18),
                .slope_low = row_real(s, 19),
                .slope_high = row_real(s, 20),
                .limit_low_ns = row_real(s, 21),
                .limit_mid_ns = row_real(s, 22),
                .limit_high_ns = row_real(s, 23),
                .whole = true,
        };
        ret->from_ns = ret->first_ns;
        ret->to_ns = ret->seen_ns + 1;
}

bool archived_runs_read(struct database *d, const char *where, const char *target, const char *text, int64_t a,
                        int64_t b, struct archived_runs *ret, struct error *error)
{
        static const char columns[] =
                "SELECT id, target, host, program, build_id, ghc, state, growth, until,"
                " (SELECT group_concat(name || '=' || value, ', ') FROM (SELECT name, value FROM labels WHERE run = id"
                " ORDER BY name)), start_ns, first_ns, seen_ns, end_ns, breakdown, verdict, census_period_ns, lost,"
                " slope, slope_low, slope_high, limit_low_ns, limit_mid_ns, limit_high_ns FROM"
                " (SELECT * FROM runs WHERE %s LIMIT %u) ORDER BY start_ns, id";
        sqlite3_stmt *s = NULL;
        char *sql = sqlite3_mprintf(columns, where, ARCHIVE_RUNS);
        int r = sql ? sqlite3_prepare_v2(d->db, sql, -1, &s, NULL) : SQLITE_NOMEM;

        sqlite3_free(sql);
        if (r == SQLITE_OK) {
                (void)sqlite3_bind_text(s, 1, target, -1, SQLITE_STATIC);
                (void)sqlite3_bind_text(s, 2, text, -1, SQLITE_STATIC);
                (void)sqlite3_bind_int64(s, 3, a);
                (void)sqlite3_bind_int64(s, 4, b);
        }
        while (r == SQLITE_OK && (r = sqlite3_step(s)) == SQLITE_ROW) {
                r = ARRAY_RESERVE_NEXT(ret->items, ret->n) ? SQLITE_OK : SQLITE_NOMEM;
                if (r == SQLITE_OK)
                        read_run(s, &ret->items[ret->n++]);
        }
        (void)sqlite3_finalize(s);
        return r == SQLITE_DONE || error_set(error, "cannot read %s: %s", d->path, sqlite3_errstr(r));
}

/* ------------------------------------------------------------------------- numbers */

static sqlite3_stmt *prepare_query(struct database *d, const char *sql, const struct archived_run *run, unsigned series,
                                   int *ret)
{
        sqlite3_stmt *s = NULL;

        *ret = sqlite3_prepare_v2(d->db, sql, -1, &s, NULL);
        if (*ret != SQLITE_OK)
                return NULL;
        (void)sqlite3_bind_int64(s, 1, run->id);
        (void)sqlite3_bind_int64(s, 2, (int64_t)(run->from_ns / NS_PER_S));
        (void)sqlite3_bind_int64(s, 3, (int64_t)(run->to_ns / NS_PER_S + (run->to_ns % NS_PER_S ? 1 : 0)));
        if (series)
                (void)sqlite3_bind_int64(s, 4, series);
        return s;
}

/*
 * Short intervals from the first remaining one on, long ones before. If the first short one is in the first long
 * one, there is nothing before.
 */
#define SEAM(short_rows, long_rows, width, of)                                                                         \
        "WITH seam(at) AS (SELECT CASE WHEN s IS NULL THEN 1 << 62 WHEN s - s % " #width                               \
        " <= l THEN 0"                                                                                                 \
        " ELSE s - s % " #width " + " #width " END FROM (SELECT (SELECT min(time) FROM " short_rows " WHERE " of       \
        ") AS s, (SELECT min(time) FROM " long_rows " WHERE " of ") AS l)) "
#define VALUES        "n, mean, min, max, last, last_ns, area, rise, covered_ns"
#define WITHIN(width) " AND time + " #width " > ?2 AND time < ?3"
#define HOURS         "SELECT time, 3600, " VALUES " FROM series_1h"

int archived_series(struct database *d, const struct archived_run *run, unsigned series, bool hourly,
                    void (*take)(void *ctx, const struct archived_value *value), void *ctx)
{
        static const char hours[] = HOURS " WHERE run = ?1 AND series = ?4" WITHIN(3600) " ORDER BY time";
        static const char fine[] = SEAM("series_1m", "series_1h", 3600, "run = ?1 AND series = ?4") HOURS
                ", seam WHERE run = ?1 AND series = ?4 AND time < at" WITHIN(
                        3600) " UNION ALL SELECT time, 60, " VALUES
                              " FROM series_1m, seam WHERE run = ?1 AND series = ?4 AND time >= at" WITHIN(
                                      60) " ORDER BY 1";
        int r;
        sqlite3_stmt *s = prepare_query(d, hourly ? hours : fine, run, series, &r);

        while (s && (r = sqlite3_step(s)) == SQLITE_ROW) {
                struct archived_value v = {
                        .time_s = row_number(s, 0),
                        .width_s = row_number(s, 1),
                        .cell = { row_number(s, 2), row_real(s, 3), row_real(s, 4), row_real(s, 5), row_real(s, 6),
                                  row_number(s, 7) },
                        .area = row_real(s, 8),
                        .rise = row_real(s, 9),
                        .covered_ns = row_number(s, 10),
                };
                take(ctx, &v);
        }
        (void)sqlite3_finalize(s);
        return r == SQLITE_DONE ? SQLITE_OK : r;
}

int archived_pauses(struct database *d, const struct archived_run *run,
                    void (*take)(void *ctx, uint64_t pause_ns, uint64_t n), void *ctx)
{
        static const char sql[] = SEAM("pauses_10m", "pauses_1d", 86400, "run = ?1")
                "SELECT pause_ns, sum(n) FROM (SELECT pause_ns, n FROM pauses_1d, seam WHERE run = ?1 AND time < at"
                " AND time + 86400 > ?2 AND time < ?3 UNION ALL SELECT pause_ns, n FROM pauses_10m, seam WHERE run = ?1"
                " AND time >= at AND time + 600 > ?2 AND time < ?3) GROUP BY pause_ns";
        int r;
        sqlite3_stmt *s = prepare_query(d, sql, run, 0, &r);

        while (s && (r = sqlite3_step(s)) == SQLITE_ROW)
                take(ctx, row_number(s, 0), row_number(s, 1));
        (void)sqlite3_finalize(s);
        return r == SQLITE_DONE ? SQLITE_OK : r;
}

#define BAND_VALUES(width) "SELECT v.time AS time, " #width ", v.n, b.name, b.label, v.sum, v.max FROM "
#define BANDS(table)       table " v JOIN bands b ON b.run = v.run AND b.id = v.band"
#define BANDS_WITHIN(width)                                                                                            \
        " WHERE v.run = ?1 AND v.time + " #width                                                                       \
        " > ?2"                                                                                                        \
        " AND v.time < ?3"

int archived_bands(struct database *d, const struct archived_run *run, bool hourly,
                   void (*take)(void *ctx, const struct archived_band *band), void *ctx)
{
        static const char hours[] = BAND_VALUES(3600) BANDS("bands_1h") BANDS_WITHIN(3600) " ORDER BY v.time, v.band";
        static const char fine[] =
                SEAM("bands_10m", "bands_1h", 3600, "run = ?1") BAND_VALUES(3600) "seam, " BANDS("bands_1h")
                        BANDS_WITHIN(3600) " AND v.time < at UNION ALL " BAND_VALUES(600) "seam, " BANDS("bands_10m")
                                BANDS_WITHIN(600) " AND v.time >= at ORDER BY 1";
        int r;
        sqlite3_stmt *s = prepare_query(d, hourly ? hours : fine, run, 0, &r);

        while (s && (r = sqlite3_step(s)) == SQLITE_ROW) {
                const char *name = row_text(s, 3), *label = row_text(s, 4);
                struct archived_band b = {
                        .time_s = row_number(s, 0),
                        .width_s = row_number(s, 1),
                        .n = row_number(s, 2),
                        .name = name ? name : "",
                        .label = label  ? label
                                 : name ? name
                                        : "",
                        .sum = row_real(s, 5),
                        .max = row_real(s, 6),
                };
                take(ctx, &b);
        }
        (void)sqlite3_finalize(s);
        return r == SQLITE_DONE ? SQLITE_OK : r;
}

int archived_largest(struct database *d, const char *target, uint64_t from_s, uint64_t to_s, size_t most,
                     void (*take)(void *ctx, const char *label), void *ctx)
{
        static const char sql[] =
                "SELECT coalesce(b.label, b.name) AS called FROM runs r JOIN bands_1h v ON"
                " v.run = r.id JOIN bands b ON b.run = v.run AND b.id = v.band WHERE r.target = ?1"
                " AND v.time + 3600 > ?2 AND v.time < ?3 GROUP BY called ORDER BY sum(v.sum) DESC,"
                " called LIMIT ?4";
        sqlite3_stmt *s = NULL;
        int r = sqlite3_prepare_v2(d->db, sql, -1, &s, NULL);

        if (r == SQLITE_OK) {
                (void)sqlite3_bind_text(s, 1, target, -1, SQLITE_STATIC);
                (void)sqlite3_bind_int64(s, 2, (int64_t)from_s);
                (void)sqlite3_bind_int64(s, 3, (int64_t)to_s);
                (void)sqlite3_bind_int64(s, 4, (int64_t)most);
        }
        while (r == SQLITE_OK && (r = sqlite3_step(s)) == SQLITE_ROW) {
                const char *label = row_text(s, 0);
                take(ctx, label ? label : "");
                r = SQLITE_OK;
        }
        (void)sqlite3_finalize(s);
        return r == SQLITE_DONE ? SQLITE_OK : r;
}
