/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * grid.c - censuses as columns.
 *
 *      columns   0      1      2      3     merge of the first m = 2:   0'     1'     2'
 *      band A    a0     a1     a2     a3                                a0a1   a2     a3
 *      band B           b1     b2                                       0 b1   b2
 *
 * DESIGN: each band has cells from its first to its newest row only, because
 * most of thousands of bands live shortly. Rows of one census are gathered
 * first (a hostile message may name a band twice), then become cells.
 */
#include "client/history/grid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

#define GRID_LEAST_COLUMNS 16   /* never merged below that for want of cells */

/* ------------------------------------------------------------------ merging */

static struct grid_cell merge_cells(struct grid_cell a, uint64_t n_a, struct grid_cell b, uint64_t n_b)
{
        struct grid_cell c = { .min = a.min < b.min ? a.min : b.min, .max = a.max > b.max ? a.max : b.max,
                               .last = b.last };

        c.mean = a.mean + (b.mean - a.mean) * ((double)n_b / (double)(n_a + n_b));
        return c;
}

/* Where column i goes when the first m (even) are merged by twos. */
static size_t new_place(size_t i, size_t m)
{
        return i < m ? i / 2 : i - m / 2;
}

static void merge_band(const struct grid *g, struct grid_band *b, size_t m)
{
        struct grid_cell zero = { 0 };
        size_t end = b->first + b->n, first = new_place(b->first, m), n = 0;

        for (size_t i = b->first; i < end; n++) {
                bool pair = i < m;
                size_t left = pair ? i & ~(size_t)1 : i;
                struct grid_cell c = left >= b->first ? b->cells[left - b->first] : zero;

                if (pair)
                        c = merge_cells(c, g->columns[left].censuses,
                                        left + 1 < end ? b->cells[left + 1 - b->first] : zero,
                                        g->columns[left + 1].censuses);
                b->cells[n] = c;
                i = left + (pair ? 2 : 1);
        }
        b->first = first;
        b->n = n;
}

/* Merges the first m columns (even, at most n) by twos. */
static void merge_columns(struct grid *g, size_t m)
{
        size_t n = 0;

        g->cells = 0;
        for (uint32_t i = 0; i < g->n_bands; i++) {
                if (g->bands[i].n)
                        merge_band(g, &g->bands[i], m);
                g->cells += g->bands[i].n;
        }
        for (size_t i = 0; i < g->n;) {
                struct grid_column c = g->columns[i];

                if (i < m) {
                        c.width_ns = g->columns[i + 1].time_ns + g->columns[i + 1].width_ns - c.time_ns;
                        c.censuses += g->columns[i + 1].censuses;
                }
                g->columns[n++] = c;
                i += i < m ? 2 : 1;
        }
        g->n = n;
        g->thinned = true;
}

void grid_limit(struct grid *g, size_t max)
{
        while (g->n > max && g->n > 1)
                merge_columns(g, g->n & ~(size_t)1);
}

/* Room for one more column within the bounds. */
static int make_column(struct grid *g)
{
        size_t capacity = g->capacity ? g->capacity * 2 : 64;
        struct grid_column *columns;

        if (g->n >= 2 && (g->n >= g->max_columns || (g->cells > g->max_cells && g->n > GRID_LEAST_COLUMNS)))
                merge_columns(g, (g->keep_recent ? g->n / 2 : g->n) & ~(size_t)1);
        if (g->n < g->capacity)
                return 0;
        columns = reallocarray(g->columns, capacity, sizeof(*columns));
        if (!columns)
                return -ENOMEM;
        g->columns = columns;
        g->capacity = capacity;
        return 0;
}

/* -------------------------------------------------------------------- bands */

/* The band of a believable id; NULL when memory is short. */
static struct grid_band *band_entry(struct grid *g, uint32_t id)
{
        uint32_t capacity = g->cap_bands ? g->cap_bands : 64;
        struct grid_band *bands;

        while (capacity < id)
                capacity *= 2;
        if (capacity > g->cap_bands) {
                bands = reallocarray(g->bands, capacity, sizeof(*bands));
                if (!bands)
                        return NULL;
                memset(bands + g->cap_bands, 0, (capacity - g->cap_bands) * sizeof(*bands));
                g->bands = bands;
                g->cap_bands = capacity;
        }
        if (id > g->n_bands)
                g->n_bands = id;
        return &g->bands[id - 1];
}

static int make_cells(struct grid_band *b, size_t need)
{
        size_t capacity = b->capacity ? b->capacity : 4;
        struct grid_cell *cells;

        while (capacity < need)
                capacity *= 2;
        if (capacity == b->capacity)
                return 0;
        cells = reallocarray(b->cells, capacity, sizeof(*cells));
        if (!cells)
                return -ENOMEM;
        b->cells = cells;
        b->capacity = capacity;
        return 0;
}

/* The newest census's row becomes a cell of the newest column; columns since the band's last cell get zeros. */
static int put_cell(struct grid *g, struct grid_band *b)
{
        size_t column = g->n - 1;

        if (!b->n)
                b->first = column;
        if (make_cells(b, column - b->first + 1) < 0)
                return -ENOMEM;
        g->cells += column + 1 - b->first - b->n;
        while (b->first + b->n < column)
                b->cells[b->n++] = (struct grid_cell){ 0 };
        b->cells[b->n++] = (struct grid_cell){ b->bytes, b->bytes, b->bytes, b->bytes };
        return 0;
}

/* ----------------------------------------------------------------- censuses */

static double seconds(uint64_t ns)
{
        return (double)ns / 1e9;
}

/* What the bands held from the census before to this one. */
static void hold_until(struct grid *g, uint64_t time_ns)
{
        if (!g->censuses || time_ns <= g->newest_ns)
                return;
        for (uint32_t i = 0; i < g->n_bands; i++) {
                if (g->bands[i].census == g->newest)
                        stats_hold(&g->bands[i].stats, seconds(time_ns - g->newest_ns), g->bands[i].bytes);
        }
        g->gap_ns = time_ns - g->newest_ns;
}

static int gather_rows(struct grid *g, const Hw__Census *c)
{
        for (size_t i = 0; i < c->n_band && i < c->n_bytes; i++) {
                struct grid_band *b;

                if (!c->band[i] || c->band[i] > LIMIT_BANDS)
                        continue;
                b = band_entry(g, c->band[i]);
                if (!b)
                        return -ENOMEM;
                if (b->census != c->number)
                        b->bytes = 0;
                b->census = c->number;
                b->bytes += (double)c->bytes[i];
        }
        return 0;
}

int grid_take(struct grid *g, const Hw__Census *c)
{
        if (!c->has_number || c->number <= g->newest || c->time_ns < g->newest_ns || c->unfinished)
                return 0;
        hold_until(g, c->time_ns);
        if (make_column(g) < 0 || gather_rows(g, c) < 0)
                return -ENOMEM;
        g->columns[g->n++] = (struct grid_column){ .time_ns = c->time_ns, .censuses = 1 };
        g->newest = c->number;
        g->newest_ns = c->time_ns;
        g->censuses++;
        for (uint32_t i = 0; i < g->n_bands; i++) {
                struct grid_band *b = &g->bands[i];

                if (b->census != c->number)
                        continue;
                stats_add(&b->stats, seconds(c->time_ns), b->bytes);
                if (put_cell(g, b) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* ------------------------------------------------------------------ reading */

const struct grid_band *grid_band(const struct grid *g, uint32_t id)
{
        return id && id <= g->n_bands && g->bands[id - 1].n ? &g->bands[id - 1] : NULL;
}

struct band_stats grid_stats(const struct grid *g, const struct grid_band *b)
{
        struct band_stats s = b->stats;

        if (b->census == g->newest)
                stats_hold(&s, seconds(g->gap_ns), b->bytes);
        return s;
}

int grid_points(const struct grid *g, const struct grid_band *b, struct past *ret_past)
{
        for (size_t i = 0; i < b->n; i++) {
                const struct grid_column *column = &g->columns[b->first + i];
                const struct grid_cell *c = &b->cells[i];
                struct past_point p = { .time_ns = column->time_ns, .width_ns = column->width_ns,
                                        .count = column->censuses, .min = c->min, .max = c->max, .mean = c->mean,
                                        .last = c->last };

                if (past_append(ret_past, &p) < 0)
                        return -ENOMEM;
        }
        return 0;
}

void grid_clear(struct grid *g)
{
        struct grid empty = { .max_columns = g->max_columns, .max_cells = g->max_cells,
                              .keep_recent = g->keep_recent };

        for (uint32_t i = 0; i < g->cap_bands; i++)
                free(g->bands[i].cells);
        free(g->bands);
        free(g->columns);
        *g = empty;
}
