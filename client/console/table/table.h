/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table.h - rows in columns: sorted by any of them, searched, filtered,
 * scrolled, one row selected.
 *
 * A table_class says what the rows are; a table is the state of one on the
 * screen. A row is selected by its id, so it stays selected when rows move,
 * come and go. Rows are borrowed from the world until the next table_fill.
 */
#pragma once

#include "client/console/draw/canvas.h"
#include "client/console/table/value.h"
#include "proto/cli/pattern/pattern.h"
#include "proto/base/error.h"

struct console; /* what a table belongs to; only passed on to its rows and to what opens them */
struct table;

struct table_class {
        const char *name;                                /* in JSON and file names: "bands" */
        const char *empty;                               /* shown when there are no rows */
        const char *(*why_empty)(const struct scene *s); /* the same where it depends on the scene; NULL: `empty` */
        const struct column *columns;
        size_t n_columns;
        size_t sort; /* column to sort by initially; SIZE_MAX: as the rows come */
        bool single; /* its rows are not compared by size: each rate has its own unit */
        bool log;    /* the newest comes last: the selection begins and stays there as rows come */
        void (*rows)(const struct console *c, struct table *t);    /* calls table_add for each */
        void (*open)(struct console *c, const void *row);          /* Enter, double click; may be NULL */
        enum tint (*tint)(const struct scene *s, const void *row); /* of a whole row; NULL: none */
};

struct table_row {
        uint64_t id;
        const void *data;
        struct value key; /* what it is sorted by */
        size_t place;     /* order in which it came */
};

#define TABLE_TEXT 128 /* bytes of a search or filter */

struct table {
        const struct table_class *class;
        const struct column *searched; /* NULL: none of its columns is */
        const struct scene *scene;     /* of the newest table_fill */
        struct table_row *rows;
        size_t n, capacity;
        size_t n_all; /* before the filter */
        size_t sort;  /* column; SIZE_MAX: as the rows come */
        bool reversed;
        uint64_t selected; /* id */
        bool has_selected;
        size_t at;    /* place of the selected row, or where it was if it is no longer there */
        size_t first; /* first row on the screen */
        int page;     /* rows on the screen */
        char search[TABLE_TEXT];
        char filter[TABLE_TEXT]; /* text, or /regular expression/, whose last slash may be missing */
        struct pattern *pattern; /* of a filter between slashes */
        bool follows_end;        /* a log whose last row is selected: it stays so as rows come */
        bool out_of_memory;      /* rows are missing */
        double slopes, rates; /* greatest magnitudes in columns of UNIT_SLOPE and UNIT_RATE, which share a unit each */
};

void table_init(struct table *t, const struct table_class *class);
void table_done(struct table *t);

/* For table_class.rows. */
void table_add(struct table *t, uint64_t id, const void *data);

/* Collects the rows again, filters and sorts them, and finds the selected one. */
void table_fill(struct table *t, const struct console *c, const struct scene *s);

/* Keeps the selected row within the rows and on the screen. */
void table_settle(struct table *t);

/* The selected row's data, or NULL. After table_fill. */
const void *table_selected(const struct table *t);
void table_select(struct table *t, size_t at);

/* Sorts by a column; if it already does, reverses the order. */
void table_sort(struct table *t, size_t column);
const struct column *table_sorted_by(const struct table *t); /* NULL: as the rows come */
bool table_rises(const struct table *t);                     /* the smallest comes first */

/* Selects the next (by > 0) or previous row whose text contains `search`; with `here` the selected row counts, too. */
bool table_find(struct table *t, int by, bool here);

/* Sets the filter, a text or /regular expression/. False, with the reason in `error`: the previous one stays. */
bool table_set_filter(struct table *t, const char *text, struct error *error);

/* Keys that move, sort and open. True when it was one of them. (table_keys.c) */
bool table_key(struct table *t, const struct scene *s, struct console *c, int key);

/*
 * Draws heading and rows into the area; what can be clicked goes to `hits` (NULL: nothing can). `marked`: the selected
 * row is highlighted. (table_draw.c)
 */
void table_draw(struct canvas *canvas, struct area area, struct table *t, const struct scene *s, struct hits *hits,
                bool marked);

/* All rows: as text of `width` columns, as CSV, as JSON array of objects. 0 or -errno. (table_print.c) */
int table_print(FILE *to, struct table *t, const struct scene *s, int width, bool ascii);
void table_csv(FILE *to, const struct scene *s, const struct table *t);
void table_json(struct json_out *j, const struct scene *s, const struct table *t);

/*
 * figures.c: label and value of each number outside a table, whose row is `data` (NULL: nothing is drawn), in as many
 * columns as fit. Returns the rows used.
 */
int figures_draw(struct canvas *canvas, struct area area, int row, const struct scene *s, const struct column *figures,
                 size_t n, const void *data);
int figures_rows(size_t n, int width);
