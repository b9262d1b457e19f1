/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table_draw.c - a table on a canvas: a heading, rows, and what can be clicked.
 *
 * DESIGN: widths do not depend on the rows, so nothing jumps as numbers change.
 * Columns are added by rank as long as they fit; those with a negative width
 * share the spare columns.
 */
#include "client/console/table/table.h"

#include <string.h>

enum { GAP = 2, MOST_COLUMNS = 40, TEXT = 2048 };

struct layout {
        int widths[MOST_COLUMNS]; /* 0: left out */
        int total;
};

static int least_width(const struct column *column)
{
        return column->width < 0 ? -column->width : column->width;
}

/* Adds the columns of a rank that fit, all of rank 0. Returns the next greater rank, 0: none. */
static int add_columns(const struct table_class *class, const struct scene *s, struct layout *l, int rank, int width)
{
        int next = 0;

        for (size_t i = 0; i < class->n_columns && i < MOST_COLUMNS; i++) {
                const struct column *column = &class->columns[i];

                if (!column_applies(column, s))
                        continue;
                if (column->rank > rank && (!next || column->rank < next))
                        next = column->rank;
                if (column->rank != rank || (rank && l->total + least_width(column) + GAP > width))
                        continue;
                l->widths[i] = least_width(column);
                l->total += l->widths[i] + GAP;
        }
        return next;
}

static struct layout lay_out(const struct table_class *class, const struct scene *s, int width)
{
        struct layout l = { .total = 0 };

        for (int rank = add_columns(class, s, &l, 0, width); rank; rank = add_columns(class, s, &l, rank, width))
                continue;
        if (l.total < width) {
                int spare = width - l.total;
                int n = 0;

                for (size_t i = 0; i < class->n_columns; i++)
                        n += l.widths[i] && class->columns[i].width < 0;
                for (size_t i = 0; i < class->n_columns && n > 0; i++) {
                        if (!l.widths[i] || class->columns[i].width >= 0)
                                continue;
                        l.widths[i] += spare / n;
                        spare -= spare / n;
                        n--;
                }
        }
        return l;
}

/* Texts and drawings are left-aligned, numbers right-aligned. */
static bool at_left(const struct column *column)
{
        return column_unit(column) == UNIT_TEXT || column->draw;
}

static void draw_heading(struct canvas *canvas, struct area area, struct table *t, const struct layout *l,
                         struct hits *hits)
{
        const struct column *sorted = table_sorted_by(t);
        int at = 1;

        canvas_tint_row(canvas, area, 0, TINT_HEADING);
        for (size_t i = 0; i < t->class->n_columns; i++) {
                const struct column *column = &t->class->columns[i];
                enum tint tint = column == sorted ? TINT_HEADING_STRONG : TINT_HEADING;
                struct area part = { area.row, area.column + at, 1, l->widths[i] };
                int end = at + l->widths[i]; /* after the title: the arrow's place, between columns */

                if (!l->widths[i])
                        continue;
                if (at_left(column))
                        end = at + canvas_put(canvas, area, 0, at, l->widths[i], tint, column->title);
                else
                        (void)canvas_put_right(canvas, area, 0, at, l->widths[i], tint, column->title);
                if (column == sorted)
                        (void)canvas_put(canvas, area, 0, end, 1, tint, table_rises(t) ? "↑" : "↓");
                hits_add(hits, part, (struct hit){ .what = HIT_COLUMN, .table = t, .index = i });
                at += l->widths[i] + GAP;
        }
}

static void draw_cell(struct canvas *canvas, struct area area, int row, int at, int width, const struct scene *s,
                      const struct table *t, const struct column *column, const void *data)
{
        char text[TEXT];
        struct value v;
        enum tint tint = column->tint ? column->tint(s, data) : TINT_PLAIN;

        if (column->draw) {
                column->draw(canvas, area, row, at, width, s, data);
                return;
        }
        v = column_value(column, s, data);
        if (column->text)
                (void)column->text(text, sizeof(text), s, data);
        else {
                const enum unit unit = column_unit(column);
                const double greatest = t->class->single ? v.number : unit == UNIT_SLOPE ? t->slopes : t->rates;

                if (unit == UNIT_SLOPE || unit == UNIT_RATE)
                        (void)value_show_rate(text, sizeof(text), unit, rate_unit(greatest), v);
                else
                        (void)value_show(text, sizeof(text), unit, v);
        }
        if (v.is == VALUE_NONE || v.provisional)
                tint = TINT_DIM;
        if (column->by_end)
                (void)canvas_put_end(canvas, area, row, at, width, tint, text);
        else if (at_left(column))
                (void)canvas_put(canvas, area, row, at, width, tint, text);
        else
                (void)canvas_put_right(canvas, area, row, at, width, tint, text);
}

static void draw_row(struct canvas *canvas, struct area area, int row, const struct scene *s, const struct table *t,
                     const struct layout *l, const void *data)
{
        int at = 1;

        for (size_t i = 0; i < t->class->n_columns; i++) {
                if (!l->widths[i])
                        continue;
                draw_cell(canvas, area, row, at, l->widths[i], s, t, &t->class->columns[i], data);
                at += l->widths[i] + GAP;
        }
        if (t->class->tint && t->class->tint(s, data) != TINT_PLAIN)
                canvas_tint_row(canvas, area, row, t->class->tint(s, data));
}

/* A scroll bar at the right edge. */
static void draw_position(struct canvas *canvas, struct area area, const struct table *t)
{
        int page = area.height - 1;
        int from, height;

        if (t->n <= (size_t)page || page < 2)
                return;
        height = (int)((size_t)page * (size_t)page / t->n);
        if (height < 1)
                height = 1;
        from = (int)((double)t->first / (double)(t->n - (size_t)page) * (page - height) + 0.5);
        for (int i = 0; i < height; i++)
                (void)canvas_put(canvas, area, 1 + from + i, area.width - 1, 1, TINT_DIM, "▐");
}

void table_draw(struct canvas *canvas, struct area area, struct table *t, const struct scene *s, struct hits *hits,
                bool marked)
{
        struct layout l = lay_out(t->class, s, area.width - 1);

        draw_heading(canvas, area, t, &l, hits);
        t->page = area.height > 1 ? area.height - 1 : 1;
        table_settle(t);
        if (!t->n) {
                (void)canvas_put(canvas, area, 1, 1, area.width - 2, TINT_DIM,
                                 t->n_all              ? "nothing matches the filter"
                                 : t->class->why_empty ? t->class->why_empty(s)
                                                       : t->class->empty);
                return;
        }
        for (int row = 1; row < area.height && t->first + (size_t)row - 1 < t->n; row++) {
                size_t i = t->first + (size_t)row - 1;
                struct area part = { area.row + row, area.column, 1, area.width };

                draw_row(canvas, area, row, s, t, &l, t->rows[i].data);
                if (marked && i == t->at)
                        canvas_tint_row(canvas, area, row, TINT_SELECTED);
                hits_add(hits, part, (struct hit){ .what = HIT_ROW, .table = t, .index = i });
        }
        draw_position(canvas, area, t);
}
