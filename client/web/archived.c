/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/web/archived_parts.h"

#include <stdlib.h>

#include "client/past/archive/database.h"
#include "client/world/history/history.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"
#include "proto/base/time.h"

#define READ_MS 5000  /* then it is given up */
#define STEPS   10000 /* of SQLite's machine, between two looks at the clock */

/* A row says that the archiver followed the run in its interval, also without a sample: a gap is where no row is. */
void gaps_row(struct gaps *g, uint64_t time_s, uint64_t width_s)
{
        if (g->end_s && time_s > g->end_s && g->n == ARCHIVED_GAPS) {
                g->items[g->n - 1][1] = time_s;
        } else if (g->end_s && time_s > g->end_s) {
                g->items[g->n][0] = g->end_s;
                g->items[g->n++][1] = time_s;
        }
        if (time_s + width_s > g->end_s)
                g->end_s = time_s + width_s;
}

void gaps_print(struct json_out *j, const struct gaps *g)
{
        json_member_open(j, "gaps", '[');
        for (size_t i = 0; i < g->n; i++) {
                json_open(j, '[');
                json_u64(j, g->items[i][0]);
                json_u64(j, g->items[i][1]);
                json_close(j, ']');
        }
        json_close(j, ']');
}

uint64_t archived_step_s(const struct archived_query *q)
{
        uint64_t step = q->to_s > q->from_s ? (q->to_s - q->from_s) / q->points : 0;

        return step > MINUTE_S ? step : MINUTE_S;
}

/* ------------------------------------------------------------------------ series */

/* Rows are merged into points while they are read: memory depends on the number of points, not on that of rows. */
struct points {
        struct past past;
        uint64_t step_ns;
        struct gaps gaps;
        bool failed;
};

static void add_value(void *ctx, const struct archived_value *v)
{
        struct points *p = ctx;
        struct point point = { v->time_s * NS_PER_S, v->width_s * NS_PER_S, v->cell };
        struct point *newest = p->past.n ? &p->past.points[p->past.n - 1] : NULL;

        gaps_row(&p->gaps, v->time_s, v->width_s);
        if (!v->cell.n) /* only a line through it */
                return;
        if (newest && newest->time_ns / p->step_ns == point.time_ns / p->step_ns)
                past_point_merge(newest, &point);
        else
                p->failed = p->failed || past_append(&p->past, &point) < 0;
}

static bool print_series(struct json_out *j, struct database *d, const struct archived_run *run, Hw__Series series,
                         const struct archived_query *q)
{
        uint64_t step_s = archived_step_s(q);
        struct points p = { .step_ns = step_s * NS_PER_S };

        if (run->to_ns <= run->from_ns)
                return true;
        const bool good =
                archived_series(d, run, (unsigned)series, step_s >= HOUR_S, add_value, &p) == SQLITE_OK && !p.failed;
        if (good && p.past.n) {
                json_line(j);
                json_open(j, '{');
                json_member_i64(j, "run", run->id);
                json_member_text(j, "series", hw_series_name(series));
                past_json_columns(j, &p.past);
                gaps_print(j, &p.gaps);
                json_close(j, '}');
        }
        past_done(&p.past);
        return good;
}

/* -------------------------------------------------------------------------- runs */

static void put_time(struct json_out *j, const char *key, uint64_t ns)
{
        if (ns)
                json_member_seconds(j, key, ns);
}

static void print_run(struct json_out *j, const struct archived_run *run)
{
        json_line(j);
        json_open(j, '{');
        json_member_i64(j, "run", run->id);
        put_time(j, "start", run->start_ns);
        put_time(j, "first", run->first_ns);
        put_time(j, "seen", run->seen_ns);
        put_time(j, "end", run->end_ns);
        json_known_text(j, "state", run->state);
        json_known_text(j, "program", run->program);
        json_known_text(j, "build", run->build_id);
        json_known_text(j, "labels", run->labels);
        json_close(j, '}');
}

/* The runs of the target on the daemon's machine; of all machines if it has none there. Newest ones, by their start. */
static bool find_runs(struct database *d, const struct archived_query *q, struct archived_runs *ret, size_t *ret_older,
                      struct error *error)
{
        static const char where[] =
                "target = ?1 AND seen_ns >= ?3 AND first_ns < ?4 AND (host = ?2 OR NOT EXISTS"
                " (SELECT 1 FROM runs WHERE target = ?1 AND host = ?2)) ORDER BY start_ns DESC";
        bool good = archived_runs_read(d, where, q->target, q->host, (int64_t)(q->from_s * NS_PER_S),
                                       (int64_t)(q->to_s * NS_PER_S), ret, error);

        *ret_older = ret->n > ARCHIVED_RUNS ? ret->n - ARCHIVED_RUNS : 0;
        for (size_t i = 0; good && i < ret->n; i++) {
                struct archived_run *run = &ret->items[i];
                if (run->from_ns < q->from_s * NS_PER_S)
                        run->from_ns = q->from_s * NS_PER_S;
                if (run->to_ns > q->to_s * NS_PER_S)
                        run->to_ns = q->to_s * NS_PER_S;
        }
        return good;
}

static bool print_data(struct json_out *j, struct database *d, const struct archived_run *runs, size_t n,
                       const struct archived_query *q, const struct labels *labels)
{
        bool good = true;

        json_member_open(j, "items", '[');
        for (size_t i = 0; i < n; i++)
                for (size_t s = 0; good && s < q->n_series; s++)
                        good = print_series(j, d, &runs[i], q->series[s], q);
        json_close(j, ']');
        json_member_open(j, "censuses", '[');
        for (size_t i = 0; good && q->top && i < n; i++)
                good = archived_print_bands(j, d, &runs[i], labels, q);
        json_close(j, ']');
        return good;
}

static bool print_all(struct json_out *j, struct database *d, const struct archived_query *q, struct error *error)
{
        struct archived_runs runs = { .n = 0 };
        struct labels labels = { .n = 0 };
        size_t older = 0;
        bool good = find_runs(d, q, &runs, &older, error);

        json_open(j, '{');
        json_member_open(j, "runs", '[');
        for (size_t i = older; i < runs.n; i++)
                print_run(j, &runs.items[i]);
        json_close(j, ']');
        json_member_u64(j, "older", older);
        if (good && q->top && runs.n)
                good = archived_largest(d, q->target, q->from_s, q->to_s, (size_t)q->top, archived_add_label,
                                        &labels) == SQLITE_OK &&
                       !labels.failed;
        good = good && print_data(j, d, runs.items + older, runs.n - older, q, &labels);
        json_close(j, '}');
        json_newline(j);
        labels_done(&labels);
        archived_runs_done(&runs);
        return good;
}

static int is_late(void *ctx)
{
        const uint64_t *until_ms = ctx;

        return clock_mono_ms() > *until_ms;
}

bool archived_print(struct json_out *j, const char *path, const struct archived_query *q, struct error *error)
{
        uint64_t until_ms = clock_mono_ms() + READ_MS;
        struct database d = { .lock = -1 };
        bool good = database_open_to_read(&d, path, error);

        if (good) {
                error_set(error, "%s cannot be read", path);
                sqlite3_progress_handler(d.db, STEPS, is_late, &until_ms);
                good = print_all(j, &d, q, error);
                if (!good && clock_mono_ms() > until_ms)
                        error_set(error, "reading the archive took longer than %d s; choose a shorter range",
                                  READ_MS / 1000);
        }
        database_close(&d);
        return good;
}
