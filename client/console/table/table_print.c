/* SPDX-License-Identifier: BSD-3-Clause */
/* table_print.c - all rows of a table, for scripts: as drawn, as CSV, as JSON. */
#include <errno.h>

#include "client/console/table/table.h"

enum { CHUNK = 500 };

/* Drawn piece by piece, so that a canvas stays small however many rows there are. */
int table_print(FILE *to, struct table *t, const struct scene *s, int width, bool ascii)
{
        size_t first = t->first;
        int r = 0;

        for (size_t done = 0; r == 0 && (done == 0 || done < t->n); done += CHUNK) {
                size_t rows = t->n - done < CHUNK ? t->n - done : CHUNK;
                struct canvas *canvas = canvas_new((int)rows + 1 + !t->n, width, ascii);

                if (!canvas)
                        return -ENOMEM;
                t->at = t->first = done;
                table_draw(canvas, canvas_area(canvas), t, s, NULL, false);
                r = canvas_print(to, canvas, done ? 1 : 0);
                canvas_destroy(&canvas);
        }
        t->at = t->first = first;
        return r;
}

void table_csv(FILE *to, const struct scene *s, const struct table *t)
{
        const struct table_class *class = t->class;

        for (size_t i = 0; i < class->n_columns; i++)
                (void)fprintf(to, "%s%s", i ? "," : "", column_name(&class->columns[i]));
        (void)fputs("\n", to);
        for (size_t row = 0; row < t->n; row++) {
                for (size_t i = 0; i < class->n_columns; i++) {
                        (void)fputs(i ? "," : "", to);
                        value_csv(to, column_value(&class->columns[i], s, t->rows[row].data));
                }
                (void)fputs("\n", to);
        }
}

void table_json(struct json_out *j, const struct scene *s, const struct table *t)
{
        const struct table_class *class = t->class;

        json_open(j, '[');
        for (size_t row = 0; row < t->n; row++) {
                json_open(j, '{');
                for (size_t i = 0; i < class->n_columns; i++) {
                        json_key(j, column_name(&class->columns[i]));
                        value_json(j, column_value(&class->columns[i], s, t->rows[row].data));
                }
                json_close(j, '}');
        }
        json_close(j, ']');
}
