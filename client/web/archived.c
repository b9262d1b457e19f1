/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archived.c - DESIGN: rows are merged into points while they are read, so memory depends on the number of points, not
 * on that of rows. A gap is where a run has no row: a row says that the archiver followed the run in its interval, also
 * when no sample came. Bands are means over the censuses of a cell of time: their bytes summed up, divided by how many
 * censuses the total has there. Ten minutes are the finest cells; where the archive has only hours of some part, all
 * cells are hours, since an hour cannot be divided.
 */
#include "client/web/archived.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/archive/select.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"

#define NS_PER_S   UINT64_C(1000000000)
#define READ_MS    5000  /* then it is given up */
#define STEPS      10000 /* of SQLite's machine, between two looks at the clock */
#define GAPS_MOST  500   /* of one item; later ones are joined to the last */
#define LABEL_MOST 4096  /* bytes */

/* Where a run has no rows. Zeroed: none. */
struct gaps {
        uint64_t (*items)[2]; /* from, to, in s */
        size_t n, capacity;
        uint64_t end_s; /* of the newest row; 0: none yet */
        bool failed;
};

static void gaps_row(struct gaps *g, uint64_t time_s, uint64_t width_s)
{
        if (g->end_s && time_s > g->end_s && g->n == GAPS_MOST) {
                g->items[g->n - 1][1] = time_s;
        } else if (g->end_s && time_s > g->end_s) {
                if (g->n == g->capacity) {
                        size_t capacity = g->capacity ? 2 * g->capacity : 8;
                        uint64_t(*items)[2] = reallocarray(g->items, capacity, sizeof(*items));
                        g->failed = g->failed || !items;
                        if (!items)
                                return;
                        g->items = items;
                        g->capacity = capacity;
                }
                g->items[g->n][0] = g->end_s;
                g->items[g->n++][1] = time_s;
        }
        if (time_s + width_s > g->end_s)
                g->end_s = time_s + width_s;
}

static void gaps_print(struct json_out *j, const struct gaps *g)
{
        json_key(j, "gaps");
        json_open(j, '[');
        for (size_t i = 0; i < g->n; i++) {
                json_open(j, '[');
                json_u64(j, g->items[i][0]);
                json_u64(j, g->items[i][1]);
                json_close(j, ']');
        }
        json_close(j, ']');
}

/* ------------------------------------------------------------------------ series */

struct point {
        uint64_t time_s, last_ns, n;
        double min, max, sum, last;
};

struct points {
        struct point *items;
        size_t n, capacity;
        uint64_t step_s;
        struct gaps gaps;
        bool failed;
};

static struct point *point_at(struct points *p, uint64_t time_s)
{
        if (p->n && p->items[p->n - 1].time_s / p->step_s == time_s / p->step_s)
                return &p->items[p->n - 1];
        if (p->n == p->capacity) {
                size_t capacity = p->capacity ? 2 * p->capacity : 64;
                struct point *items = reallocarray(p->items, capacity, sizeof(*items));
                if (!items)
                        return NULL;
                p->items = items;
                p->capacity = capacity;
        }
        p->items[p->n] = (struct point){ .time_s = time_s };
        return &p->items[p->n++];
}

static void take_value(void *ctx, const struct archived_value *v)
{
        struct points *p = ctx;
        struct point *to;

        gaps_row(&p->gaps, v->time_s, v->width_s);
        if (!v->n) /* only a line through it */
                return;
        to = point_at(p, v->time_s);
        if (!to) {
                p->failed = true;
                return;
        }
        to->min = to->n ? fmin(to->min, v->min) : v->min;
        to->max = to->n ? fmax(to->max, v->max) : v->max;
        to->sum += v->sum;
        to->n += v->n;
        to->last = v->last;
        to->last_ns = v->last_ns;
}

static double value_of(const struct point *p, unsigned column)
{
        const double values[] = { p->last, p->sum / (double)p->n, p->min, p->max, (double)p->n };

        return values[column];
}

static void print_points(struct json_out *j, const struct points *p)
{
        static const char *const columns[] = { "last", "mean", "min", "max", "count" };

        json_key(j, "times");
        json_open(j, '[');
        for (size_t i = 0; i < p->n; i++)
                json_u64(j, p->items[i].time_s);
        json_close(j, ']');
        json_key(j, "ends");
        json_open(j, '[');
        for (size_t i = 0; i < p->n; i++)
                json_seconds(j, p->items[i].last_ns);
        json_close(j, ']');
        for (unsigned c = 0; c < sizeof(columns) / sizeof(columns[0]); c++) {
                json_key(j, columns[c]);
                json_open(j, '[');
                for (size_t i = 0; i < p->n; i++)
                        json_short(j, value_of(&p->items[i], c));
                json_close(j, ']');
        }
        gaps_print(j, &p->gaps);
}

static uint64_t step_of(const struct archived_query *q)
{
        uint64_t step = q->to_s > q->from_s ? (q->to_s - q->from_s) / q->points : 0;

        return step > MINUTE_S ? step : MINUTE_S;
}

static bool print_series(struct json_out *j, struct database *d, const struct archived_run *run, Hw__Series series,
                         const struct archived_query *q)
{
        struct points p = { .step_s = step_of(q) };
        int r = p.step_s < HOUR_S ? archived_series(d, run, (unsigned)series, take_value, &p)
                                  : archived_series_hourly(d, run, (unsigned)series, take_value, &p);
        bool good = r == SQLITE_OK && !p.failed && !p.gaps.failed;

        if (good && p.n) {
                json_line(j);
                json_open(j, '{');
                json_key(j, "run");
                json_i64(j, run->id);
                json_key(j, "series");
                json_text(j, hw_series_name(series));
                print_points(j, &p);
                json_close(j, '}');
        }
        free(p.items);
        free(p.gaps.items);
        return good;
}

/* ------------------------------------------------------------------------- bands */

struct labels {
        char *items[ARCHIVED_TOP];
        size_t n;
        bool failed;
};

/* The bands of one run: cells of time, from the one that from_s is in. */
struct cells {
        const struct labels *labels;
        struct archived_run run; /* borrowed */
        uint64_t step_s, from_s;
        size_t n;
        double *censuses, *total, *bytes; /* bytes: n for each label */
        bool wide;                        /* a row is wider than a cell */
        struct gaps gaps;
};

static void take_label(void *ctx, const char *label)
{
        struct labels *l = ctx;

        if (l->n == ARCHIVED_TOP || strlen(label) > LABEL_MOST)
                return;
        l->items[l->n] = strdup(label);
        l->failed = l->failed || !l->items[l->n];
        l->n += l->items[l->n] ? 1 : 0;
}

/* The cell of a row; false: it is outside, or wider than a cell. */
static bool cell_of(struct cells *c, uint64_t time_s, uint64_t width_s, size_t *ret)
{
        c->wide = c->wide || width_s > c->step_s;
        if (c->wide || time_s < c->from_s)
                return false;
        *ret = (size_t)((time_s - c->from_s) / c->step_s);
        return *ret < c->n;
}

static void take_total(void *ctx, const struct archived_value *v)
{
        struct cells *c = ctx;
        size_t at;

        gaps_row(&c->gaps, v->time_s, v->width_s);
        if (!v->n || !cell_of(c, v->time_s, v->width_s, &at))
                return;
        c->censuses[at] += (double)v->n;
        c->total[at] += v->sum;
}

static void take_band(void *ctx, const struct archived_band *b)
{
        struct cells *c = ctx;
        size_t at;

        if (!cell_of(c, b->time_s, b->width_s, &at))
                return;
        for (size_t i = 0; i < c->labels->n; i++)
                if (!strcmp(c->labels->items[i], b->label))
                        c->bytes[i * c->n + at] += b->sum;
}

static bool cells_open(struct cells *c, const struct archived_run *run, const struct labels *labels, uint64_t step_s)
{
        uint64_t from_s = run->from_ns / NS_PER_S, last_s = (run->to_ns - 1) / NS_PER_S;

        *c = (struct cells){ .labels = labels, .step_s = step_s, .from_s = from_s - from_s % step_s };
        c->n = (size_t)((last_s - c->from_s) / step_s) + 1;
        c->run = *run; /* whole cells: their censuses and their bytes are of the same time */
        c->run.from_ns = c->from_s * NS_PER_S;
        c->run.to_ns = (c->from_s + c->n * step_s) * NS_PER_S;
        c->censuses = calloc(c->n, sizeof(double));
        c->total = calloc(c->n, sizeof(double));
        c->bytes = calloc(c->n * (labels->n ? labels->n : 1), sizeof(double));
        return c->censuses && c->total && c->bytes;
}

static void cells_done(struct cells *c)
{
        free(c->censuses);
        free(c->total);
        free(c->bytes);
        free(c->gaps.items);
}

static bool cells_read(struct cells *c, struct database *d)
{
        const struct archived_run *run = &c->run;
        bool fine = c->step_s < HOUR_S;
        unsigned total = (unsigned)HW__SERIES__SERIES_CENSUS_TOTAL;
        int r = fine ? archived_series(d, run, total, take_total, c)
                     : archived_series_hourly(d, run, total, take_total, c);

        if (r == SQLITE_OK && !c->wide)
                r = fine ? archived_bands_fine(d, run, take_band, c) : archived_bands(d, run, take_band, c);
        return r == SQLITE_OK && !c->gaps.failed;
}

/* In the middle of the part of a cell in which the run was. */
static double middle_of(const struct cells *c, size_t at)
{
        double from = (double)(c->from_s + at * c->step_s), to = from + (double)c->step_s,
               first = (double)c->run.first_ns / 1e9, last = (double)c->run.seen_ns / 1e9;

        return (fmax(from, first) + fmin(to, last)) / 2;
}

static void print_means(struct json_out *j, const struct cells *c, const double *sums)
{
        json_open(j, '[');
        for (size_t i = 0; i < c->n; i++)
                if (c->censuses[i] > 0)
                        json_short(j, sums[i] / c->censuses[i]);
        json_close(j, ']');
}

static void print_cells(struct json_out *j, const struct cells *c)
{
        json_line(j);
        json_open(j, '{');
        json_key(j, "run");
        json_i64(j, c->run.id);
        json_key(j, "times");
        json_open(j, '[');
        for (size_t i = 0; i < c->n; i++)
                if (c->censuses[i] > 0)
                        json_rounded(j, middle_of(c, i));
        json_close(j, ']');
        json_key(j, "total");
        print_means(j, c, c->total);
        json_key(j, "bands");
        json_open(j, '[');
        for (size_t i = 0; i < c->labels->n; i++) {
                json_open(j, '{');
                json_key(j, "label");
                json_text(j, c->labels->items[i]);
                json_key(j, "mean");
                print_means(j, c, &c->bytes[i * c->n]);
                json_close(j, '}');
        }
        json_close(j, ']');
        gaps_print(j, &c->gaps);
        json_close(j, '}');
}

static uint64_t rounded_up(uint64_t step_s, uint64_t to_s)
{
        return (step_s + to_s - 1) / to_s * to_s;
}

static bool print_bands(struct json_out *j, struct database *d, const struct archived_run *run,
                        const struct labels *labels, const struct archived_query *q)
{
        uint64_t step = step_of(q);
        struct cells c;
        bool good = cells_open(&c, run, labels, rounded_up(step, step < HOUR_S ? TEN_S : HOUR_S)) && cells_read(&c, d);

        if (good && c.wide) {
                cells_done(&c);
                good = cells_open(&c, run, labels, rounded_up(step, HOUR_S)) && cells_read(&c, d);
        }
        if (good)
                print_cells(j, &c);
        cells_done(&c);
        return good;
}

/* -------------------------------------------------------------------------- runs */

static void put_time(struct json_out *j, const char *key, uint64_t ns)
{
        if (!ns)
                return;
        json_key(j, key);
        json_seconds(j, ns);
}

static void print_run(struct json_out *j, const struct archived_run *run)
{
        json_line(j);
        json_open(j, '{');
        json_key(j, "run");
        json_i64(j, run->id);
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

        json_key(j, "items");
        json_open(j, '[');
        for (size_t i = 0; i < n; i++)
                for (size_t s = 0; good && s < q->n_series; s++)
                        good = print_series(j, d, &runs[i], q->series[s], q);
        json_close(j, ']');
        json_key(j, "censuses");
        json_open(j, '[');
        for (size_t i = 0; good && q->top && i < n; i++)
                good = print_bands(j, d, &runs[i], labels, q);
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
        json_key(j, "runs");
        json_open(j, '[');
        for (size_t i = older; i < runs.n; i++)
                print_run(j, &runs.items[i]);
        json_close(j, ']');
        json_key(j, "older");
        json_u64(j, older);
        if (good && q->top && runs.n)
                good = archived_largest(d, q->target, q->from_s, q->to_s, q->top, take_label, &labels) == SQLITE_OK &&
                       !labels.failed;
        good = good && print_data(j, d, runs.items + older, runs.n - older, q, &labels);
        json_close(j, '}');
        json_newline(j);
        for (size_t i = 0; i < labels.n; i++)
                free(labels.items[i]);
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
