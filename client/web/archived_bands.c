/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * archived_bands.c - DESIGN: bands are means over the censuses of a cell of time: their bytes summed up, divided by how
 * many censuses the total has there. Ten minutes are the finest cells; where the archive has only hours of some part,
 * all cells are hours, since an hour cannot be divided.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/past/archive/database.h"
#include "client/web/archived_parts.h"
#include "proto/base/time.h"

#define LABEL_MOST 4096 /* bytes */

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

void archived_add_label(void *labels, const char *label)
{
        struct labels *l = labels;

        if (l->n == ARCHIVED_TOP || strlen(label) > LABEL_MOST)
                return;
        l->items[l->n] = strdup(label);
        l->failed = l->failed || !l->items[l->n];
        l->n += l->items[l->n] ? 1 : 0;
}

void labels_done(struct labels *l)
{
        for (size_t i = 0; i < l->n; i++)
                free(l->items[i]);
}

/* The cell of a row; false: it is outside, or wider than a cell. */
static bool find_cell(struct cells *c, uint64_t time_s, uint64_t width_s, size_t *ret)
{
        c->wide = c->wide || width_s > c->step_s;
        if (c->wide || time_s < c->from_s)
                return false;
        *ret = (size_t)((time_s - c->from_s) / c->step_s);
        return *ret < c->n;
}

static void add_total(void *ctx, const struct archived_value *v)
{
        struct cells *c = ctx;
        size_t at;

        gaps_row(&c->gaps, v->time_s, v->width_s);
        if (!v->cell.n || !find_cell(c, v->time_s, v->width_s, &at))
                return;
        c->censuses[at] += (double)v->cell.n;
        c->total[at] += v->cell.mean * (double)v->cell.n;
}

static void add_band(void *ctx, const struct archived_band *b)
{
        struct cells *c = ctx;
        size_t at;

        if (!find_cell(c, b->time_s, b->width_s, &at))
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
}

static bool cells_read(struct cells *c, struct database *d)
{
        const struct archived_run *run = &c->run;
        const bool hourly = c->step_s >= HOUR_S;
        unsigned total = (unsigned)HW__SERIES__SERIES_CENSUS_TOTAL;
        int r = archived_series(d, run, total, hourly, add_total, c);

        if (r == SQLITE_OK && !c->wide)
                r = archived_bands(d, run, hourly, add_band, c);
        return r == SQLITE_OK;
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
        json_member_i64(j, "run", c->run.id);
        json_member_open(j, "times", '[');
        for (size_t i = 0; i < c->n; i++)
                if (c->censuses[i] > 0)
                        json_rounded(j, middle_of(c, i));
        json_close(j, ']');
        json_key(j, "total");
        print_means(j, c, c->total);
        json_member_open(j, "bands", '[');
        for (size_t i = 0; i < c->labels->n; i++) {
                json_open(j, '{');
                json_member_text(j, "label", c->labels->items[i]);
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

bool archived_print_bands(struct json_out *j, struct database *d, const struct archived_run *run,
                          const struct labels *labels, const struct archived_query *q)
{
        uint64_t step = archived_step_s(q);
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
