/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * item.c - columns of numbers.
 *
 * DESIGN: a column that would repeat `last` is left out, so an unthinned past
 * is two columns. Means are rounded: they are drawn, not counted with.
 */
#include "client/history/item.h"

#include "client/history/put.h"

void item_open(FILE *to, const struct item *item)
{
        (void)fprintf(to, "{\"daemon\":%zu,\"target\":", item->daemon);
        put_text(to, item->target);
        if (item->run)
                (void)fprintf(to, ",\"run\":%u", item->run);
        if (item->series != HW__SERIES__SERIES_NONE) {
                (void)fprintf(to, ",\"series\":\"%s\",\"unit\":\"%s\"", hw_series_name(item->series),
                              hw_series_unit(item->series));
                return;
        }
        (void)fprintf(to, ",\"band\":%u", item->band);
        if (item->label) {
                (void)fputs(",\"label\":", to);
                put_text(to, item->label);
        }
        (void)fputs(",\"unit\":\"B\"", to);
}

enum column { LAST, MEAN, MIN, MAX };

static void put_column(FILE *to, const char *name, const struct past *p, enum column column)
{
        (void)fprintf(to, ",\"%s\":[", name);
        for (size_t i = 0; i < p->n; i++) {
                const struct past_point *point = &p->points[i];

                if (i > 0)
                        (void)fputc(',', to);
                if (column == MEAN)
                        put_about(to, point->mean);
                else
                        put_number(to, column == LAST ? point->last : column == MIN ? point->min : point->max);
        }
        (void)fputc(']', to);
}

static void put_values(FILE *to, const struct past *p)
{
        bool merged = false;

        for (size_t i = 0; i < p->n && !merged; i++)
                merged = p->points[i].count > 1;
        put_column(to, "last", p, LAST);
        if (!merged)
                return;
        put_column(to, "mean", p, MEAN);
        put_column(to, "min", p, MIN);
        put_column(to, "max", p, MAX);
}

static void put_width(FILE *to, const struct past *p)
{
        uint64_t width_ns = 0;

        for (size_t i = 0; i < p->n; i++) {
                if (p->points[i].width_ns > width_ns)
                        width_ns = p->points[i].width_ns;
        }
        (void)fputs(",\"width\":", to);
        put_seconds(to, width_ns);
}

void item_columns(FILE *to, const struct past *p)
{
        put_width(to, p);
        (void)fputs(",\"times\":[", to);
        for (size_t i = 0; i < p->n; i++) {
                if (i > 0)
                        (void)fputc(',', to);
                put_seconds(to, p->points[i].time_ns);
        }
        (void)fputc(']', to);
        put_values(to, p);
}

void item_grid_columns(FILE *to, const struct grid *g, const struct grid_band *b, size_t number)
{
        struct past p = { 0 };

        if (grid_points(g, b, &p) < 0)
                (void)fputs(",\"error\":\"out of memory\"", to);
        put_width(to, &p);
        (void)fprintf(to, ",\"grid\":%zu,\"start\":%zu", number, b->first);
        put_values(to, &p);
        past_done(&p);
}

void item_grid_times(FILE *to, const struct grid *g)
{
        (void)fputc('[', to);
        for (size_t i = 0; i < g->n; i++) {
                if (i > 0)
                        (void)fputc(',', to);
                put_seconds(to, g->columns[i].time_ns);
        }
        (void)fputc(']', to);
}

static void member(FILE *to, const char *name, double value)
{
        (void)fprintf(to, ",\"%s\":", name);
        put_short(to, value);
}

void item_stats(FILE *to, const struct grid *g, const struct grid_band *b)
{
        struct band_stats s = grid_stats(g, b);
        struct stats_line line;

        (void)fprintf(to, ",\"stats\":{\"samples\":%llu,\"censuses\":%llu", (unsigned long long)s.samples,
                      (unsigned long long)g->censuses);
        member(to, "sum", s.sum);
        member(to, "integrated", s.integrated);
        member(to, "mean", stats_mean(&s, g->censuses));
        member(to, "stddev", stats_deviation(&s, g->censuses));
        member(to, "max", s.v_max);
        if (stats_line(&s, &line)) {
                member(to, "intercept", line.intercept);
                member(to, "slope", line.slope);
                member(to, "fit", line.fit);
                member(to, "slopeBytesPerS", line.slope_bps);
                member(to, "interceptBytes", line.intercept_bytes);
        }
        (void)fputc('}', to);
}
