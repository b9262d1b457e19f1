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

int figures_draw(struct canvas *canvas, struct area area, int row, const struct scene *s, const struct column *figures,
                 size_t n, const void *data)
{
        int rows = figures_rows(n, area.width);

        for (size_t i = 0; i < n && data; i++) {
                const struct column *f = &figures[i];
                const struct value v = column_value(f, s, data);
                const int at = 1 + (int)i / rows * FIGURE, y = row + (int)i % rows;
                char text[TEXT];

                (void)canvas_put(canvas, area, y, at, LABEL, TINT_DIM, f->title);
                (void)canvas_put_right(canvas, area, y, at + LABEL, VALUE,
                                       v.is == VALUE_NONE ? TINT_DIM
                                       : f->tint          ? f->tint(s, data)
                                                          : TINT_STRONG,
                                       value_show(text, sizeof(text), column_unit(f), v));
        }
        return rows;
}
