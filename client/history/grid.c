/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * grid.c - censuses as columns.
 *
 *      columns   0      1      2      3     the first two merged:       0'     1'     2'
 *      band A    a0     a1     a2     a3                                a0a1   a2     a3
 *      band B           b1     b2                                       0 b1   b2
 *
 * DESIGN: each band has cells from its first to its newest row only, because most of
 * thousands of bands are short-lived. The rows of one census are gathered first (a
 * hostile message may name a band twice), then become cells.
 */
#include "client/history/grid.h"
#include "proto/base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"

#define GRID_LEAST_COLUMNS 16 /* never merged below that for lack of cells */

/* ------------------------------------------------------------------ merging */

static struct grid_cell merge_cells(struct grid_cell a, uint64_t n_a, struct grid_cell b, uint64_t n_b)
{
        struct grid_cell c = { .min = a.min < b.min ? a.min : b.min,
                               .max = a.max > b.max ? a.max : b.max,
                               .last = b.last };

        c.mean = a.mean + (b.mean - a.mean) * ((double)n_b / (double)(n_a + n_b));
        return c;
}

/* Columns from .. from + m - 1 (m even) are to be merged in pairs. */
struct merge {
        size_t from, m;
};

static size_t new_place(size_t i, struct merge x)
{
        return i < x.from ? i : i < x.from + x.m ? x.from + (i - x.from) / 2 : i - x.m / 2;
}

/* Whether column i is one of a pair; the pair's first column. */
static bool in_pair(size_t i, struct merge x, size_t *ret_left)
{
        bool pair = i >= x.from && i < x.from + x.m;

        *ret_left = pair ? i - (i - x.from) % 2 : i;
        return pair;
}

static void merge_band(const struct grid *g, struct grid_band *b, struct merge x)
{
        struct grid_cell zero = { 0 };
        size_t end = b->first + b->n, first = new_place(b->first, x), n = 0, left;

        for (size_t i = b->first; i < end; n++) {
                bool pair = in_pair(i, x, &left);
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

static void merge_columns(struct grid *g, struct merge x)
{
        size_t n = 0, left;

        g->cells = 0;
        if (g->total.n)
                merge_band(g, &g->total, x);
        for (uint32_t i = 0; i < g->n_bands; i++) {
                if (g->bands[i].n)
                        merge_band(g, &g->bands[i], x);
                g->cells += g->bands[i].n;
        }
        for (size_t i = 0; i < g->n;) {
                bool pair = in_pair(i, x, &left);
                struct grid_column c = g->columns[i];

                if (pair) {
                        c.width_ns = g->columns[i + 1].time_ns + g->columns[i + 1].width_ns - c.time_ns;
                        c.censuses += g->columns[i + 1].censuses;
                }
                g->columns[n++] = c;
                i += pair ? 2 : 1;
        }
        g->n = n;
        g->thinned = true;
}

static struct merge all_columns(const struct grid *g)
{
        return (struct merge){ .from = 0, .m = g->n & ~(size_t)1 };
}

/*
 * The older half of the longest row of columns with equally many censuses. So every width has about the same number
 * of columns, each width twice the one after it: the past gets coarser with age.
 */
static struct merge fading_columns(const struct grid *g)
{
        size_t best = 0, length = 0;

        for (size_t i = 0, run = 0; i < g->n; i++) {
                run = i > 0 && g->columns[i].censuses == g->columns[i - 1].censuses ? run + 1 : 1;
                if (run > length) {
                        length = run;
                        best = i + 1 - run;
                }
        }
        if (length < 2)
                return (struct merge){ .from = 0, .m = 2 };
        return (struct merge){ .from = best, .m = length < 4 ? 2 : length / 2 & ~(size_t)1 };
}

void grid_limit(struct grid *g, size_t max)
{
        while (g->n > max && g->n > 1)
                merge_columns(g, all_columns(g));
}

static bool is_full(const struct grid *g)
{
        return g->n >= 2 && (g->n >= g->max_columns || (g->cells > g->max_cells && g->n > GRID_LEAST_COLUMNS));
}

/* Makes sure that a census of this time can go into the newest column: a new one, or one that is not full yet. */
static int make_column(struct grid *g, uint64_t time_ns)
{
        if (is_full(g) && g->keep_recent) {
                merge_columns(g, fading_columns(g));
        } else if (is_full(g)) {
                merge_columns(g, all_columns(g));
                g->per_column *= 2;
        }
        if (g->n > 0 && g->columns[g->n - 1].censuses < g->per_column)
                return 0;
        if (!ARRAY_RESERVE(g->columns, g->capacity, g->n + 1))
                return -ENOMEM;
        if (!g->per_column)
                g->per_column = 1;
        g->columns[g->n++] = (struct grid_column){ .time_ns = time_ns };
        return 0;
}

/* -------------------------------------------------------------------- bands */

/* The band of a valid id; NULL when out of memory. */
static struct grid_band *band_entry(struct grid *g, uint32_t id)
{
        if (!ARRAY_RESERVE_ZEROED(g->bands, g->cap_bands, id))
                return NULL;
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

/*
 * The newest census's row goes into the newest column, which held `before` censuses until now. Columns since the
 * band's last cell get zeros; a band without a row only matters where it had one in this column before.
 */
static int put_cell(struct grid *g, struct grid_band *b, uint64_t before)
{
        size_t column = g->n - 1;
        bool has_row = b->census == g->newest;
        double v = has_row ? b->bytes : 0;
        struct grid_cell cell = { v, v, v, v }, zero = { 0 };

        if (b->n && b->first + b->n - 1 == column) {
                b->cells[b->n - 1] = merge_cells(b->cells[b->n - 1], before, cell, 1);
                return 0;
        }
        if (!has_row)
                return 0;
        if (!b->n)
                b->first = column;
        if (make_cells(b, column - b->first + 1) < 0)
                return -ENOMEM;
        if (b != &g->total)
                g->cells += column + 1 - b->first - b->n;
        while (b->first + b->n < column)
                b->cells[b->n++] = zero;
        b->cells[b->n++] = before ? merge_cells(zero, before, cell, 1) : cell;
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

/* Daemons send the total; it is not less than the rows, of which some may have been left out. */
static void take_total(struct grid *g, const Hw__Census *c)
{
        double sum = 0;

        for (size_t i = 0; i < c->n_band && i < c->n_bytes; i++)
                sum += (double)c->bytes[i];
        g->total.census = c->number;
        g->total.bytes = c->has_total_bytes ? (double)c->total_bytes : sum;
}

int grid_take(struct grid *g, const Hw__Census *c)
{
        struct grid_column *column;
        uint64_t before;

        if (!c->has_number || c->number <= g->newest || c->time_ns < g->newest_ns || c->unfinished)
                return 0;
        hold_until(g, c->time_ns);
        if (make_column(g, c->time_ns) < 0 || gather_rows(g, c) < 0)
                return -ENOMEM;
        column = &g->columns[g->n - 1];
        before = column->censuses++;
        column->width_ns = c->time_ns - column->time_ns;
        take_total(g, c);
        g->newest = c->number;
        g->newest_ns = c->time_ns;
        g->censuses++;
        if (put_cell(g, &g->total, before) < 0)
                return -ENOMEM;
        for (uint32_t i = 0; i < g->n_bands; i++) {
                struct grid_band *b = &g->bands[i];

                if (b->census == c->number)
                        stats_add(&b->stats, seconds(c->time_ns), b->bytes);
                if (put_cell(g, b, before) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* ------------------------------------------------------------------ reading */

const struct grid_band *grid_band(const struct grid *g, uint32_t id)
{
        if (!id)
                return g->total.n ? &g->total : NULL;
        return id <= g->n_bands && g->bands[id - 1].n ? &g->bands[id - 1] : NULL;
}

struct band_stats grid_stats(const struct grid *g, const struct grid_band *b)
{
        struct band_stats s = b->stats;

        if (b->census == g->newest)
                stats_hold(&s, seconds(g->gap_ns), b->bytes);
        return s;
}

static int put_points(const struct grid *g, const struct grid_band *b, size_t from, size_t end, struct past *ret_past)
{
        for (size_t i = from; i < end; i++) {
                const struct grid_column *column = &g->columns[i];
                struct grid_cell zero = { 0 };
                const struct grid_cell *c = i >= b->first && i < b->first + b->n ? &b->cells[i - b->first] : &zero;
                struct past_point p = { .time_ns = column->time_ns,
                                        .width_ns = column->width_ns,
                                        .last_ns = column->time_ns + column->width_ns,
                                        .count = column->censuses,
                                        .min = c->min,
                                        .max = c->max,
                                        .mean = c->mean,
                                        .last = c->last };

                if (past_append(ret_past, &p) < 0)
                        return -ENOMEM;
        }
        return 0;
}

int grid_points(const struct grid *g, const struct grid_band *b, struct past *ret_past)
{
        return put_points(g, b, b->first, b->first + b->n, ret_past);
}

int grid_whole_points(const struct grid *g, const struct grid_band *b, struct past *ret_past)
{
        return put_points(g, b, 0, g->n, ret_past);
}

static bool copy_band(const struct grid_band *from, struct grid_band *to)
{
        *to = *from;
        to->capacity = from->n;
        to->cells = from->n ? malloc(from->n * sizeof(*to->cells)) : NULL;
        if (from->n && !to->cells)
                return false;
        if (from->n)
                memcpy(to->cells, from->cells, from->n * sizeof(*to->cells));
        return true;
}

int grid_copy(const struct grid *g, struct grid *ret)
{
        bool ok;

        *ret = *g;
        ret->columns = g->n ? malloc(g->n * sizeof(*ret->columns)) : NULL;
        ret->bands = g->n_bands ? calloc(g->n_bands, sizeof(*ret->bands)) : NULL;
        ret->capacity = g->n;
        ret->cap_bands = ret->bands ? g->n_bands : 0;
        ok = copy_band(&g->total, &ret->total) && (ret->columns || !g->n) && (ret->bands || !g->n_bands);
        if (ok && g->n)
                memcpy(ret->columns, g->columns, g->n * sizeof(*ret->columns));
        for (uint32_t i = 0; ok && i < g->n_bands; i++)
                ok = copy_band(&g->bands[i], &ret->bands[i]);
        if (ok)
                return 0;
        grid_clear(ret);
        return -ENOMEM;
}

void grid_clear(struct grid *g)
{
        struct grid empty = { .max_columns = g->max_columns, .max_cells = g->max_cells, .keep_recent = g->keep_recent };

        for (uint32_t i = 0; i < g->cap_bands; i++)
                free(g->bands[i].cells);
        free(g->bands);
        free(g->total.cells);
        free(g->columns);
        *g = empty;
}
