/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archived_series.c - DESIGN: rows are merged into points while they are read, so memory depends on the number of
 * points, not on that of rows.
 */
#include "client/past/archive/database.h"
#include "client/world/history/history.h"
#include "client/web/archived_parts.h"
#include "proto/base/time.h"

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

bool archived_print_series(struct json_out *j, struct database *d, const struct archived_run *run, Hw__Series series,
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

uint64_t archived_step_s(const struct archived_query *q)
{
        uint64_t step = q->to_s > q->from_s ? (q->to_s - q->from_s) / q->points : 0;

        return step > MINUTE_S ? step : MINUTE_S;
}
