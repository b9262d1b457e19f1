/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * canvas.c - cells.
 *
 * DESIGN: a cell holds its character as UTF-8, so that the terminal and plain
 * text need no conversion. Combining marks join the cell before them, as many
 * as fit.
 */
#include "client/console/draw/canvas.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/utf8.h"

#define CUT_MARK "…"

struct canvas *canvas_new(int height, int width, bool ascii)
{
        struct canvas *c = calloc(1, sizeof(*c));

        if (!c)
                return NULL;
        c->height = height < 1 ? 1 : height > CANVAS_MAX ? CANVAS_MAX : height;
        c->width = width < 1 ? 1 : width > CANVAS_MAX ? CANVAS_MAX : width;
        c->ascii = ascii;
        c->cells = calloc((size_t)c->height * (size_t)c->width, sizeof(*c->cells));
        if (!c->cells) {
                free(c);
                return NULL;
        }
        for (size_t i = 0; i < (size_t)c->height * (size_t)c->width; i++)
                c->cells[i].text[0] = ' ';
        return c;
}

void canvas_destroy(struct canvas **c)
{
        if (!*c)
                return;
        free((*c)->cells);
        free(*c);
        *c = NULL;
}

struct area canvas_area(const struct canvas *c)
{
        return (struct area){ .height = c->height, .width = c->width };
}

struct area area_below(struct area area, int rows)
{
        area.row += rows;
        area.height -= rows;
        return area;
}

static struct screen_cell *cell_at(const struct canvas *c, int row, int column)
{
        return &c->cells[(size_t)row * (size_t)c->width + (size_t)column];
}

const struct screen_cell *canvas_cell(const struct canvas *c, int row, int column)
{
        return cell_at(c, row, column);
}

/* ------------------------------------------------------------------- words */

/* "23 h", "24.7 MiB": a line does not end between a number and its unit. `at` is after the blank. */
static bool splits_number(const char *text, size_t at)
{
        size_t word = at - 1;

        while (word > 0 && text[word - 1] != ' ')
                word--;
        while (text[word] == '(' || text[word] == '+' || text[word] == '-')
                word++;
        return text[word] >= '0' && text[word] <= '9' && isalnum((unsigned char)text[at]);
}

size_t text_wrap(const char *text, int width)
{
        size_t at = 0, word = 0;
        int columns = 0;

        while (text[at]) {
                struct glyph g = glyph_next(text + at, false);

                if (columns + g.columns > width)
                        return word ? word : at ? at : g.length;
                columns += g.columns;
                at += g.length;
                if (text[at - 1] == ' ' && !(word && splits_number(text, at)))
                        word = at;
        }
        return at;
}

/* ----------------------------------------------------------------- drawing */

static void set_cell(struct screen_cell *cell, const char *text, enum tint tint)
{
        size_t n = strlen(text);

        memset(cell->text, 0, sizeof(cell->text));
        memcpy(cell->text, text, n < sizeof(cell->text) ? n : sizeof(cell->text) - 1);
        cell->tint = (uint8_t)tint;
}

/* Columns from `column` on, within the area and the canvas, at most `width`. */
static int clip_room(const struct canvas *c, struct area area, int row, int column, int width)
{
        int most = area.width - column;

        if (row < 0 || row >= area.height || area.row + row < 0 || area.row + row >= c->height || column < 0)
                return 0;
        if (area.column + column + most > c->width)
                most = c->width - area.column - column;
        return width < most ? width : most;
}

static int draw_text(struct canvas *c, int row, int column, int width, enum tint tint, const char *text)
{
        int used = 0;

        while (*text) {
                struct glyph g = glyph_next(text, c->ascii);

                if (used + g.columns > width)
                        break;
                if (g.columns == 0 && used > 0 && !c->ascii) {
                        struct screen_cell *cell = cell_at(c, row, column + used - 1);
                        size_t n_before = strlen(cell->text), n = strlen(g.bytes);

                        if (n_before + n < sizeof(cell->text))
                                memcpy(cell->text + n_before, g.bytes, n + 1);
                }
                if (g.columns > 0)
                        set_cell(cell_at(c, row, column + used), g.bytes, tint);
                if (g.columns == 2)
                        set_cell(cell_at(c, row, column + used + 1), "", tint);
                used += g.columns;
                text += g.length;
        }
        return used;
}

/* The cell shows that a text was cut. */
static bool is_cut_mark(const struct canvas *c, int row, int column)
{
        return !strcmp(canvas_cell(c, row, column)->text, glyph_next(CUT_MARK, c->ascii).bytes);
}

int canvas_put(struct canvas *c, struct area area, int row, int column, int width, enum tint tint, const char *text)
{
        int most = clip_room(c, area, row, column, width);
        bool cut;
        int used;

        if (most <= 0)
                return 0;
        cut = text_columns(text) > most;
        used = draw_text(c, area.row + row, area.column + column, cut ? most - 1 : most, tint, text);
        if (cut && !(used > 0 && is_cut_mark(c, area.row + row, area.column + column + used - 1)))
                used += draw_text(c, area.row + row, area.column + column + used, 1, tint, CUT_MARK);
        return used;
}

int canvas_put_right(struct canvas *c, struct area area, int row, int column, int width, enum tint tint,
                     const char *text)
{
        int columns = text_columns(text);

        if (columns < width)
                return canvas_put(c, area, row, column + width - columns, columns, tint, text);
        return canvas_put(c, area, row, column, width, tint, text);
}

int canvas_put_end(struct canvas *c, struct area area, int row, int column, int width, enum tint tint, const char *text)
{
        if (text_columns(text) <= width)
                return canvas_put(c, area, row, column, width, tint, text);
        (void)canvas_put(c, area, row, column, 1, TINT_DIM, CUT_MARK);
        return 1 + canvas_put(c, area, row, column + 1, width - 1, tint, text_end(text, width - 1));
}

void canvas_rule(struct canvas *c, struct area area, int row, int column, int width, enum tint tint, const char *glyph)
{
        int most = clip_room(c, area, row, column, width);

        for (int i = 0; i < most; i++)
                (void)draw_text(c, area.row + row, area.column + column + i, 1, tint, glyph);
}

void canvas_tint_row(struct canvas *c, struct area area, int row, enum tint tint)
{
        int most = clip_room(c, area, row, 0, area.width);

        for (int i = 0; i < most; i++)
                cell_at(c, area.row + row, area.column + i)->tint = (uint8_t)tint;
}

char *canvas_row_text(const struct canvas *c, int row)
{
        char *text = malloc((size_t)c->width * sizeof(c->cells[0].text) + 1);
        size_t n = 0, end = 0;

        if (!text)
                return NULL;
        for (int i = 0; i < c->width; i++) {
                const char *cell = cell_at(c, row, i)->text;
                size_t length = strlen(cell);

                memcpy(text + n, cell, length);
                n += length;
                if (length && strcmp(cell, " "))
                        end = n;
        }
        text[end] = '\0';
        return text;
}

int canvas_print(FILE *to, const struct canvas *c, int from)
{
        for (int row = from; row < c->height; row++) {
                char *text = canvas_row_text(c, row);
                int r;

                if (!text)
                        return -ENOMEM;
                errno = 0;
                r = fprintf(to, "%s\n", text);
                free(text);
                if (r < 0)
                        return errno ? -errno : -EIO;
        }
        return 0;
}
