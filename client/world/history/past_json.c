/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * past_json.c - columns of numbers.
 *
 * DESIGN: a column that would repeat `last` is left out, so an unthinned past
 * is two columns. Means are rounded: they are drawn, not computed with.
 */
#include "client/world/history/history.h"

void past_json_open(struct json_out *j, const struct past_owner *owner)
{
        json_open(j, '{');
        json_member_u64(j, "daemon", owner->daemon);
        json_member_text(j, "target", owner->target);
        if (owner->run)
                json_member_u64(j, "run", owner->run);
        if (owner->series != HW__SERIES__SERIES_NONE) {
                json_member_text(j, "series", hw_series_name(owner->series));
                json_member_text(j, "unit", hw_series_unit(owner->series));
                return;
        }
        json_member_u64(j, "band", owner->band);
        if (!owner->band || owner->label)
                json_member_text(j, "label", owner->band ? owner->label : "total");
        json_member_text(j, "unit", "B");
}

enum column { LAST, MEAN, MIN, MAX, COUNT };

static void put_column(struct json_out *j, const char *name, const struct past *p, enum column column)
{
        json_member_open(j, name, '[');
        for (size_t i = 0; i < p->n; i++) {
                const struct point *point = &p->points[i];

                if (column == MEAN)
                        json_rounded(j, point->cell.mean);
                else if (column == COUNT)
                        json_u64(j, point->cell.n);
                else
                        json_double(j, column == LAST  ? point->cell.last
                                       : column == MIN ? point->cell.min
                                                       : point->cell.max);
        }
        json_close(j, ']');
}

static void put_values(struct json_out *j, const struct past *p)
{
        bool merged = false;

        for (size_t i = 0; i < p->n && !merged; i++)
                merged = p->points[i].cell.n > 1;
        put_column(j, "last", p, LAST);
        if (!merged)
                return;
        put_column(j, "mean", p, MEAN);
        put_column(j, "min", p, MIN);
        put_column(j, "max", p, MAX);
        put_column(j, "count", p, COUNT);
}

static void put_width(struct json_out *j, const struct past *p)
{
        uint64_t width_ns = 0;

        for (size_t i = 0; i < p->n; i++) {
                if (p->points[i].width_ns > width_ns)
                        width_ns = p->points[i].width_ns;
        }
        json_member_seconds(j, "width", width_ns);
}

/* Where the last samples were, when that is not where the points begin. */
static void put_ends(struct json_out *j, const struct past *p)
{
        bool wide = false;

        for (size_t i = 0; i < p->n && !wide; i++)
                wide = p->points[i].cell.last_ns != p->points[i].time_ns;
        if (!wide)
                return;
        json_member_open(j, "ends", '[');
        for (size_t i = 0; i < p->n; i++)
                json_seconds(j, p->points[i].cell.last_ns);
        json_close(j, ']');
}

void past_json_columns(struct json_out *j, const struct past *p)
{
        put_width(j, p);
        json_member_open(j, "times", '[');
        for (size_t i = 0; i < p->n; i++)
                json_seconds(j, p->points[i].time_ns);
        json_close(j, ']');
        put_ends(j, p);
        put_values(j, p);
}

void past_json_grid_columns(struct json_out *j, const struct grid *g, const struct grid_band *b, size_t number)
{
        struct past p = { 0 };

        if (grid_points(g, b, &p) < 0)
                json_member_text(j, "error", "out of memory");
        put_width(j, &p);
        json_member_u64(j, "grid", number);
        json_member_u64(j, "start", b->first);
        put_values(j, &p);
        past_done(&p);
}

void past_json_grid_times(struct json_out *j, const struct grid *g, bool ends)
{
        json_open(j, '[');
        for (size_t i = 0; i < g->columns.n; i++)
                json_seconds(j, g->columns.points[i].time_ns + (ends ? g->columns.points[i].width_ns : 0));
        json_close(j, ']');
}

void past_json_stats(struct json_out *j, const struct grid *g, const struct grid_band *b)
{
        struct band_stats s = grid_stats(g, b);
        struct stats_line line;

        json_member_open(j, "stats", '{');
        json_member_u64(j, "samples", s.rows.cell.n);
        json_member_u64(j, "censuses", g->censuses);
        json_member_short(j, "sum", stats_sum(&s));
        json_member_short(j, "integrated", s.integrated);
        json_member_short(j, "mean", stats_mean(&s, g->censuses));
        json_member_short(j, "stddev", stats_deviation(&s, g->censuses));
        json_member_short(j, "max", s.rows.cell.max);
        if (stats_line(&s, &line)) {
                json_member_short(j, "intercept", line.intercept);
                json_member_short(j, "slope", line.slope);
                json_member_short(j, "fit", line.fit);
                json_member_short(j, "slopeBytesPerS", line.slope_bps);
                json_member_short(j, "interceptBytes", line.intercept_bytes);
        }
        json_close(j, '}');
}
