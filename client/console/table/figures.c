/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * figures.c - label and value of numbers outside tables, in as many columns as
 * fit, read downwards. Their places depend only on the width, so nothing jumps.
 */
#include "client/console/table/table.h"

enum { LABEL = 19, VALUE = 14, GAP = 4, FIGURE = LABEL + VALUE + GAP, TEXT = 256 };

int figures_rows(size_t n, int width)
{
        int fitting = (width - 2 + GAP) / FIGURE;

        int columns = fitting < 1 ? 1 : fitting;

        return ((int)n + columns - 1) / columns;
}

static void draw_figure(struct canvas *canvas, struct area area, int row, int at, const struct scene *s,
                        const struct column *f, const void *data)
{
        struct value v = column_value(f, s, data);
        enum tint tint = v.is == VALUE_NONE ? TINT_DIM : f->tint ? f->tint(s, data) : TINT_STRONG;
        char text[TEXT];

        (void)canvas_put(canvas, area, row, at, LABEL, TINT_DIM, f->title);
        (void)canvas_put_right(canvas, area, row, at + LABEL, VALUE, tint,
                               value_show(text, sizeof(text), column_unit(f), v));
}

int figures_draw(struct canvas *canvas, struct area area, int row, const struct scene *s, const struct column *figures,
                 size_t n, const void *data)
{
        int rows = figures_rows(n, area.width);

        for (size_t i = 0; i < n && data; i++)
                draw_figure(canvas, area, row + (int)i % rows, 1 + (int)i / rows * FIGURE, s, &figures[i], data);
        return rows;
}
