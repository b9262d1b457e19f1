/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archived_series.c - DESIGN: rows are merged into points while they are read, so memory depends on the number of
 * points, not on that of rows.
 */
#include <math.h>
#include <stdlib.h>

#include "client/archive/schema.h"
#include "client/web/archived_parts.h"
#include "proto/base/array.h"
#include "proto/base/time.h"

struct point {
        uint64_t time_s, last_ns, n;
        double min, max, sum, last;
};

struct points {
        struct point *items;
        size_t n, room;
        uint64_t step_s;
        struct gaps gaps;
};

/* One for each step that the run has a part in, and those of an hour's row that begins before it. */
static bool points_open(struct points *p, const struct archived_run *run, uint64_t step_s)
{
        *p = (struct points){ .step_s = step_s };
        p->room = (size_t)(((run->to_ns - run->from_ns) / NS_PER_S + HOUR_S) / step_s) + 3;
        p->items = calloc(p->room, sizeof(*p->items));
        return p->items != NULL;
}

static struct point *point_at(struct points *p, uint64_t time_s)
{
        if (p->n && (p->n == p->room || p->items[p->n - 1].time_s / p->step_s == time_s / p->step_s))
                return &p->items[p->n - 1];
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

        json_member_open(j, "times", '[');
        for (size_t i = 0; i < p->n; i++)
                json_u64(j, p->items[i].time_s);
        json_close(j, ']');
        json_member_open(j, "ends", '[');
        for (size_t i = 0; i < p->n; i++)
                json_seconds(j, p->items[i].last_ns);
        json_close(j, ']');
        for (unsigned c = 0; c < ARRAY_SIZE(columns); c++) {
                json_member_open(j, columns[c], '[');
                for (size_t i = 0; i < p->n; i++)
                        json_short(j, value_of(&p->items[i], c));
                json_close(j, ']');
        }
        gaps_print(j, &p->gaps);
}

bool archived_print_series(struct json_out *j, struct database *d, const struct archived_run *run, Hw__Series series,
                           const struct archived_query *q)
{
        struct points p;
        uint64_t step_s = archived_step_s(q);

        if (run->to_ns <= run->from_ns)
                return true;
        if (!points_open(&p, run, step_s))
                return false;
        bool good = (step_s < HOUR_S ? archived_series(d, run, (unsigned)series, take_value, &p)
                                     : archived_series_hourly(d, run, (unsigned)series, take_value, &p)) == SQLITE_OK;
        if (good && p.n) {
                json_line(j);
                json_open(j, '{');
                json_member_i64(j, "run", run->id);
                json_member_text(j, "series", hw_series_name(series));
                print_points(j, &p);
                json_close(j, '}');
        }
        free(p.items);
        return good;
}

uint64_t archived_step_s(const struct archived_query *q)
{
        uint64_t step = q->to_s > q->from_s ? (q->to_s - q->from_s) / q->points : 0;

        return step > MINUTE_S ? step : MINUTE_S;
}
