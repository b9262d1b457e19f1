/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/archive/read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/archive/limits.h"
#include "proto/base/error.h"

#define NS_PER_S UINT64_C(1000000000)

void archived_runs_done(struct archived_runs *r)
{
        for (size_t i = 0; i < r->n; i++) {
                struct archived_run *x = &r->items[i];
                char *texts[] = { x->target, x->host,   x->program, x->build_id, x->ghc,
                                  x->state,  x->growth, x->until,   x->labels };
                for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
                        free(texts[k]);
        }
        free(r->items);
        *r = (struct archived_runs){ .n = 0 };
}

static char *text_of(sqlite3_stmt *s, int column)
{
        const char *text = (const char *)sqlite3_column_text(s, column);

        return text ? strdup(text) : NULL;
}

static double real_of(sqlite3_stmt *s, int column)
{
        return sqlite3_column_type(s, column) == SQLITE_NULL ? NAN : sqlite3_column_double(s, column);
}

static uint64_t number_of(sqlite3_stmt *s, int column)
{
        int64_t value = sqlite3_column_int64(s, column); /* 0 for NULL */

        return value > 0 ? (uint64_t)value : 0;
}

/* The enum value whose name a column has; 0: none. */
static int enum_of(sqlite3_stmt *s, int column, const ProtobufCEnumDescriptor *kind)
{
        const char *text = (const char *)sqlite3_column_text(s, column);

        for (unsigned i = 0; text && i < kind->n_values; i++) {
                const char *name = strchr(kind->values[i].name, '_');
                if (name && !strcasecmp(name + 1, text))
                        return kind->values[i].value;
        }
        return 0;
}

static void take_run(sqlite3_stmt *s, struct archived_run *ret)
{
        *ret = (struct archived_run){
                .id = sqlite3_column_int64(s, 0),
                .target = text_of(s, 1),
                .host = text_of(s, 2),
                .program = text_of(s, 3),
                .build_id = text_of(s, 4),
                .ghc = text_of(s, 5),
                .state = text_of(s, 6),
                .growth = text_of(s, 7),
                .until = text_of(s, 8),
                .labels = text_of(s, 9),
                .start_ns = number_of(s, 10),
                .first_ns = number_of(s, 11),
                .seen_ns = number_of(s, 12),
                .end_ns = number_of(s, 13),
                .breakdown = (Hw__Breakdown)enum_of(s, 14, &hw__breakdown__descriptor),
                .verdict = (Hw__Verdict)enum_of(s, 15, &hw__verdict__descriptor),
                .census_period_ns = number_of(s, 16),
                .lost = number_of(s, 17),
                .slope = real_of(s, 18),
                .slope_low = real_of(s, 19),
                .slope_high = real_of(s, 20),
                .limit_low_ns = real_of(s, 21),
                .limit_mid_ns = real_of(s, 22),
                .limit_high_ns = real_of(s, 23),
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
                struct archived_run *items = reallocarray(ret->items, ret->n + 1, sizeof(*items));
                r = items ? SQLITE_OK : SQLITE_NOMEM;
                if (!items)
                        break;
                ret->items = items;
                take_run(s, &ret->items[ret->n++]);
        }
        (void)sqlite3_finalize(s);
        return r == SQLITE_DONE || error_set(error, "cannot read %s: %s", d->path, sqlite3_errstr(r));
}

/* ------------------------------------------------------------------------- numbers */

static sqlite3_stmt *ask(struct database *d, const char *sql, const struct archived_run *run, unsigned series, int *ret)
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
#define VALUES "n, min, max, mean, last, sum, area, rise, covered_ns"

int archived_series(struct database *d, const struct archived_run *run, unsigned series,
                    void (*take)(void *ctx, const struct archived_value *value), void *ctx)
{
        static const char sql[] = SEAM(
                "series_1m", "series_1h", 3600,
                "run = ?1 AND series = ?4") "SELECT time, 3600, " VALUES
                                            " FROM series_1h, seam WHERE run = ?1 AND series = ?4 AND time < at"
                                            " AND time + 3600 > ?2 AND time < ?3 UNION ALL SELECT time, 60, " VALUES
                                            " FROM series_1m, seam WHERE run = ?1 AND series = ?4 AND time >= at AND "
                                            "time + 60 > ?2 AND time < ?3"
                                            " ORDER BY 1";
        int r;
        sqlite3_stmt *s = ask(d, sql, run, series, &r);

        while (s && (r = sqlite3_step(s)) == SQLITE_ROW) {
                struct archived_value v = {
                        .time_s = number_of(s, 0),
                        .width_s = number_of(s, 1),
                        .n = number_of(s, 2),
                        .min = real_of(s, 3),
                        .max = real_of(s, 4),
                        .mean = real_of(s, 5),
                        .last = real_of(s, 6),
                        .sum = real_of(s, 7),
                        .area = real_of(s, 8),
                        .rise = real_of(s, 9),
                        .covered_ns = number_of(s, 10),
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
        sqlite3_stmt *s = ask(d, sql, run, 0, &r);

        while (s && (r = sqlite3_step(s)) == SQLITE_ROW)
                take(ctx, number_of(s, 0), number_of(s, 1));
        (void)sqlite3_finalize(s);
        return r == SQLITE_DONE ? SQLITE_OK : r;
}

int archived_bands(struct database *d, const struct archived_run *run,
                   void (*take)(void *ctx, const struct archived_band *band), void *ctx)
{
        static const char sql[] =
                "SELECT v.time, v.n, v.band, b.name, v.sum, v.max, v.last FROM bands_1h v JOIN bands b"
                " ON b.run = v.run AND b.id = v.band WHERE v.run = ?1 AND v.time + 3600 > ?2 AND"
                " v.time < ?3 ORDER BY v.time, v.band";
        int r;
        sqlite3_stmt *s = ask(d, sql, run, 0, &r);

        while (s && (r = sqlite3_step(s)) == SQLITE_ROW) {
                const char *name = (const char *)sqlite3_column_text(s, 3);
                struct archived_band b = {
                        .time_s = number_of(s, 0),
                        .n = number_of(s, 1),
                        .id = number_of(s, 2),
                        .name = name ? name : "",
                        .sum = real_of(s, 4),
                        .max = real_of(s, 5),
                        .last = real_of(s, 6),
                };
                take(ctx, &b);
        }
        (void)sqlite3_finalize(s);
        return r == SQLITE_DONE ? SQLITE_OK : r;
}
