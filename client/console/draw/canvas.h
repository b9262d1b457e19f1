/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * canvas.h - a grid of character cells to draw on.
 *
 * The same drawing serves the screen (screen.c copies cells to the terminal)
 * and plain text (plain.c prints the lines), and tests inspect it directly. It
 * knows nothing of terminals. Text given to it must already be free of control
 * characters (hw_terminal_text); what is not printable becomes '?'.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "proto/base/time.h"

/* What a cell means; screen.c makes colours of it. */
enum tint {
        TINT_PLAIN,
        TINT_STRONG, /* titles, names */
        TINT_DIM,    /* units, rules, secondary text */
        TINT_GOOD,
        TINT_WARN,
        TINT_BAD,
        TINT_GRAPH,
        TINT_SELECTED,
        TINT_HEADING,        /* bars: headings of columns, the tabs */
        TINT_HEADING_STRONG, /* the column sorted by */
        TINT_HEADING_KEY,    /* a key within a bar */
        TINT_KEY,            /* a key elsewhere */
        TINT_LINE_1,         /* lines of a chart */
        TINT_LINE_2,
        TINT_LINE_3,
        TINT_LINE_4,
        TINT_MARK,  /* notes in a chart */
        TINT_FAINT, /* lines behind a chart */
        TINTS
};

struct screen_cell {
        char text[15]; /* one character with its combining marks, UTF-8; "" = right half of a wide one */
        uint8_t tint;
};

struct canvas {
        int height, width;
        bool ascii;                /* everything is drawn with ASCII */
        bool mono;                 /* tints are not shown as colours, so lines differ by shape; initially false */
        struct screen_cell *cells; /* height * width */
};

/* A rectangle to draw in; rows and columns of the calls below are relative to it. */
struct area {
        int row, column, height, width;
};

#define CANVAS_MAX 2000 /* rows and columns are at most this */

/* NULL when out of memory. Blank. */
struct canvas *canvas_new(int height, int width, bool ascii);
void canvas_destroy(struct canvas **c);

/* The whole canvas. */
struct area canvas_area(const struct canvas *c);

/* `area` without its first `rows` rows. */
struct area area_below(struct area area, int rows);

const struct screen_cell *canvas_cell(const struct canvas *c, int row, int column);

/*
 * Draws text into at most `width` columns from `column`; text that is too long
 * ends in an ellipsis. Nothing is drawn outside the area. Returns the columns
 * used.
 */
int canvas_put(struct canvas *c, struct area area, int row, int column, int width, enum tint tint, const char *text);

/* The same, ending at the right edge of those columns. */
int canvas_put_right(struct canvas *c, struct area area, int row, int column, int width, enum tint tint,
                     const char *text);

/* As canvas_put, but text that is too long loses its beginning: the end of paths and qualified names matters most. */
int canvas_put_end(struct canvas *c, struct area area, int row, int column, int width, enum tint tint,
                   const char *text);

/* Draws a line of `glyph` (one column wide). */
void canvas_rule(struct canvas *c, struct area area, int row, int column, int width, enum tint tint, const char *glyph);

/* Gives a whole row a tint. */
void canvas_tint_row(struct canvas *c, struct area area, int row, enum tint tint);

/* One row as text without trailing blanks; to free(). NULL when out of memory. */
char *canvas_row_text(const struct canvas *c, int row);

/* Prints the rows from row `from` on. 0 or -errno. */
int canvas_print(FILE *to, const struct canvas *c, int from);

/* Bytes of `text` that fit in a line of at most `width` columns, broken between words if possible. */
size_t text_wrap(const char *text, int width);

/* hits.c: what can be clicked: filled while drawing, looked up by a click. */

enum { HITS_MAX = 1024 };

enum hit_what { HIT_NONE, HIT_TAB, HIT_COLUMN, HIT_ROW, HIT_TIME };

struct table;

struct hit {
        enum hit_what what;
        size_t index;        /* of the tab, column or row */
        struct table *table; /* of the column or row */
        struct area area;
        struct time_range range; /* HIT_TIME: what the area spans */
};

struct hits {
        struct hit list[HITS_MAX];
        size_t n;
};

/* Makes the area clickable, unless `h` is NULL (in a report). Areas beyond HITS_MAX are not clickable. */
void hits_add(struct hits *h, struct area area, struct hit hit);

/* What was drawn last at a place; NULL when nothing can be clicked there. */
const struct hit *hits_at(const struct hits *h, int row, int column);
