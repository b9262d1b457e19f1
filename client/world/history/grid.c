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
 *
 * There are millions of cells. As many censuses are in each as in its column's, the newest at the same time; and while
 * a column is one census, one number says all. So a cell is 8 bytes until columns are merged, and then 32.
 *
 * Statistics are co-moments, not a sum of squares, which would lose digits.
 */
#include "client/world/history/history.h"
#include "proto/base/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"

#define GRID_LEAST_COLUMNS 16 /* never merged below that for lack of cells */

/* -------------------------------------------------------------------- cells */

enum { MEAN, MIN, MAX, LAST, NUMBERS };

/* Numbers of a cell. */
static size_t cell_width(const struct grid *g)
{
        return g->thinned ? NUMBERS : 1;
}

struct cell grid_cell(const struct grid *g, const struct grid_band *b, size_t column)
{
        const struct cell *total = &g->columns.points[column].cell;
        struct cell c = { .n = total->n, .last_ns = total->last_ns }; /* it had no row there */

        if (b == &g->total)
                return *total;
        if (column < b->first || column >= b->first + b->n)
                return c;
        const double *numbers = b->cells + (column - b->first) * cell_width(g);
        c.mean = numbers[MEAN];
        c.min = numbers[g->thinned ? MIN : MEAN];
        c.max = numbers[g->thinned ? MAX : MEAN];
        c.last = numbers[g->thinned ? LAST : MEAN];
        return c;
}

/* The i-th of the band's own. */
static void set_cell(const struct grid *g, struct grid_band *b, size_t i, const struct cell *c)
{
        double *numbers = b->cells + i * cell_width(g);

        numbers[MEAN] = c->mean;
        if (!g->thinned)
                return;
        numbers[MIN] = c->min;
        numbers[MAX] = c->max;
        numbers[LAST] = c->last;
}

/* ------------------------------------------------------------------ merging */

/* Makes room for all numbers of each cell, in place. False: out of memory, and nothing is changed but the room. */
static bool widen_cells(struct grid *g)
{
        for (uint32_t i = 0; i < g->n_bands; i++) {
                struct grid_band *b = &g->bands[i];
                double *cells = b->capacity ? reallocarray(b->cells, b->capacity, NUMBERS * sizeof(*cells)) : NULL;

                if (b->capacity && !cells)
                        return false;
                b->cells = cells;
        }
        for (uint32_t i = 0; i < g->n_bands; i++)
                for (size_t k = g->bands[i].n; k-- > 0;) {
                        const double value = g->bands[i].cells[k];
                        for (unsigned number = 0; number < NUMBERS; number++)
                                g->bands[i].cells[k * NUMBERS + number] = value;
                }
        g->thinned = true;
        return true;
}

static size_t new_place(size_t i, struct past_pairs x)
{
        return i < x.from ? i : i < x.from + x.n ? x.from + (i - x.from) / 2 : i - x.n / 2;
}

static void merge_band(const struct grid *g, struct grid_band *b, struct past_pairs x)
{
        size_t end = b->first + b->n, first = new_place(b->first, x), n = 0;

        for (size_t i = b->first; i < end; n++) {
                bool pair = i >= x.from && i < x.from + x.n;
                size_t left = pair ? i - (i - x.from) % 2 : i;
                struct cell c = grid_cell(g, b, left), right;

                if (pair) {
                        right = grid_cell(g, b, left + 1);
                        cell_merge(&c, &right);
                }
                set_cell(g, b, n, &c);
                i = left + (pair ? 2 : 1);
        }
        b->first = first;
        b->n = n;
}

static bool merge_columns(struct grid *g, struct past_pairs x)
{
        if (!g->thinned && !widen_cells(g))
                return false;
        g->cells = 0;
        for (uint32_t i = 0; i < g->n_bands; i++) {
                if (g->bands[i].n)
                        merge_band(g, &g->bands[i], x);
                g->cells += g->bands[i].n;
        }
        past_merge(&g->columns, x);
        return true;
}

void grid_limit(struct grid *g, size_t max)
{
        while (g->columns.n > max && g->columns.n > 1 &&
               merge_columns(g, (struct past_pairs){ 0, g->columns.n & ~(size_t)1 }))
                ;
}

/* Makes sure that a census of this time can go into the newest column: a new one, or one that is not full yet. */
static int make_column(struct grid *g, uint64_t time_ns)
{
        struct past *p = &g->columns;
        const struct point column = { .time_ns = time_ns };
        const bool many_cells = g->cells > g->max_cells && p->n > GRID_LEAST_COLUMNS;

        if (p->n >= 2 && (p->n >= p->max || many_cells)) {
                if (!merge_columns(g, past_pairs(p)))
                        return -ENOMEM;
                p->per_point *= p->fades ? 1 : 2;
        }
        if (p->n > 0 && p->points[p->n - 1].cell.n < p->per_point)
                return 0;
        if (!p->per_point)
                p->per_point = 1;
        return past_append(p, &column);
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

static int make_cells(const struct grid *g, struct grid_band *b, size_t need)
{
        size_t capacity = b->capacity ? b->capacity : 4;
        double *cells;

        while (capacity < need)
                capacity *= 2;
        if (capacity == b->capacity)
                return 0;
        cells = reallocarray(b->cells, capacity, cell_width(g) * sizeof(*cells));
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
        size_t column = g->columns.n - 1;
        bool has_row = b->census == g->newest;
        struct cell cell = { .n = before };

        if (b->n && b->first + b->n - 1 == column) {
                cell = grid_cell(g, b, column);
                cell.n = before;
                cell_add(&cell, g->newest_ns, has_row ? b->bytes : 0);
                set_cell(g, b, b->n - 1, &cell);
                return 0;
        }
        if (!has_row)
                return 0;
        if (!b->n)
                b->first = column;
        if (make_cells(g, b, column - b->first + 1) < 0)
                return -ENOMEM;
        g->cells += column + 1 - b->first - b->n;
        for (; b->first + b->n < column; b->n++)
                set_cell(g, b, b->n, &(struct cell){ .mean = 0 });
        cell_add(&cell, g->newest_ns, b->bytes);
        set_cell(g, b, b->n++, &cell);
        return 0;
}

/* ----------------------------------------------------------------- censuses */

static void hold_bytes(struct band_stats *s, uint64_t ns, double bytes)
{
        s->integrated += (double)ns / 1e9 * bytes;
}

/* What the bands held from the census before to this one. */
static void hold_until(struct grid *g, uint64_t time_ns)
{
        if (!g->censuses || time_ns <= g->newest_ns)
                return;
        for (uint32_t i = 0; i < g->n_bands; i++) {
                if (g->bands[i].census == g->newest)
                        hold_bytes(&g->bands[i].stats, time_ns - g->newest_ns, g->bands[i].bytes);
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

int grid_add(struct grid *g, const Hw__Census *c)
{
        struct point *column;
        uint64_t before;

        if (!c->has_number || c->number <= g->newest || c->time_ns < g->newest_ns || c->unfinished)
                return 0;
        hold_until(g, c->time_ns);
        if (make_column(g, c->time_ns) < 0 || gather_rows(g, c) < 0)
                return -ENOMEM;
        /* Daemons send the total; it is not less than the rows, of which some may have been left out. */
        double sum = 0;

        for (size_t i = 0; i < c->n_band && i < c->n_bytes; i++)
                sum += (double)c->bytes[i];
        g->total.census = c->number;
        g->total.bytes = c->has_total_bytes ? (double)c->total_bytes : sum;
        column = &g->columns.points[g->columns.n - 1];
        before = column->cell.n;
        cell_add(&column->cell, c->time_ns, g->total.bytes);
        column->width_ns = c->time_ns - column->time_ns;
        g->newest = c->number;
        g->newest_ns = c->time_ns;
        g->censuses++;
        for (uint32_t i = 0; i < g->n_bands; i++) {
                struct grid_band *b = &g->bands[i];

                if (b->census == c->number)
                        trend_cell_add(&b->stats.rows, c->time_ns, b->bytes);
                if (put_cell(g, b, before) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* ------------------------------------------------------------------ reading */

const struct grid_band *grid_band(const struct grid *g, uint32_t id)
{
        if (!id)
                return g->columns.n ? &g->total : NULL;
        return id <= g->n_bands && g->bands[id - 1].n ? &g->bands[id - 1] : NULL;
}

struct band_stats grid_stats(const struct grid *g, const struct grid_band *b)
{
        struct band_stats s = b->stats;

        if (b->census == g->newest)
                hold_bytes(&s, g->gap_ns, b->bytes);
        return s;
}

double stats_sum(const struct band_stats *s)
{
        return s->rows.cell.mean * (double)s->rows.cell.n;
}

double stats_mean(const struct band_stats *s, uint64_t censuses)
{
        return censuses ? stats_sum(s) / (double)censuses : 0;
}

/* The censuses without a row are n - m zeros: the sum of squares about the mean of all is m_vv + m v² (1 - m / n). */
double stats_deviation(const struct band_stats *s, uint64_t censuses)
{
        double m = (double)s->rows.cell.n, n = (double)censuses, v = s->rows.cell.mean;

        return censuses ? sqrt((s->rows.m_vv + m * v * v * (1 - m / n)) / n) : 0;
}

bool stats_line(const struct band_stats *s, struct stats_line *ret_line)
{
        const struct trend_cell *c = &s->rows;
        double slope = trend_cell_slope(c), t_max = (double)c->cell.last_ns / 1e9;

        if (isnan(slope) || !(c->cell.max > c->cell.min))
                return false;
        ret_line->slope_bps = slope;
        ret_line->intercept_bytes = c->cell.mean - slope * c->t_mean;
        ret_line->slope = slope * t_max / c->cell.max;
        ret_line->intercept = ret_line->intercept_bytes / c->cell.max;
        ret_line->fit = fmin(1, trend_cell_fit(c)); /* rounding may exceed 1 */
        return true;
}

static int put_points(const struct grid *g, const struct grid_band *b, size_t from, size_t end, struct past *ret_past)
{
        for (size_t i = from; i < end; i++) {
                struct point p = g->columns.points[i];

                p.cell = grid_cell(g, b, i);
                if (past_append(ret_past, &p) < 0)
                        return -ENOMEM;
        }
        return 0;
}

int grid_points(const struct grid *g, const struct grid_band *b, struct past *ret_past)
{
        return b == &g->total ? grid_whole_points(g, b, ret_past)
                              : put_points(g, b, b->first, b->first + b->n, ret_past);
}

int grid_whole_points(const struct grid *g, const struct grid_band *b, struct past *ret_past)
{
        return put_points(g, b, 0, g->columns.n, ret_past);
}

void grid_clear(struct grid *g)
{
        struct grid empty = { .columns = { .max = g->columns.max, .fades = g->columns.fades },
                              .max_cells = g->max_cells };

        for (uint32_t i = 0; i < g->cap_bands; i++)
                free(g->bands[i].cells);
        free(g->bands);
        past_done(&g->columns);
        *g = empty;
}
