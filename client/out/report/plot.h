/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plot.h - one run as a picture: its bands stacked over time, live data, heap and RSS as lines, notes.
 *
 * plot_gather.c collects the run, plot_choose.c decides which bands are drawn and in which order, plot_draw.c draws
 * with cairo, plot_write.c has the formats. Sizes and places are in points (1/72 inch), y downwards.
 */
#pragma once

#include <cairo.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "client/out/convert/spool.h"
#include "client/world/history/past.h"
#include "client/world/state/world.h"

#define PLOT_BANDS   60    /* most that are drawn, besides (other) */
#define PLOT_COLUMNS 4096u /* most censuses that are drawn: of more, the largest of each few */
#define PLOT_NOTES   200u  /* kept; further ones are counted */
#define PLOT_LINES   3     /* live, heap, RSS */

/* ------------------------------------------------------------------ options */

enum plot_sort { SORT_SIZE, SORT_STDDEV, SORT_NAME };
enum plot_theme { THEME_LIGHT, THEME_DARK, THEME_PRINT };

struct plot_options {
        uint32_t bands;   /* how many of the largest; all others are one */
        double threshold; /* percent of the sum of all censuses; smaller bands are among the others */
        int sort;         /* enum plot_sort */
        int theme;        /* enum plot_theme */
        double width, height;
        bool small_title, no_notes, traces; /* traces: each band as a line of its own, not stacked */
        bool bars;                          /* stacked, each column by itself */
        bool lines[PLOT_LINES];             /* which are drawn, when known; none: live, or all without censuses */
        bool lines_given;
        const char *order;     /* file with scales and order of another plot; NULL: none */
        uint64_t y_axis_bytes; /* the top of the y axis; 0: from what is drawn */
};

/* --------------------------------------------------------------------- data */

struct plot_note {
        uint64_t time_ns;
        char *text;
        bool marker; /* its text takes precedence over those of messages */
};

struct plot_data {
        struct spool spool;
        struct past lines[PLOT_LINES];
        struct plot_note notes[PLOT_NOTES];
        size_t n_notes;
        uint64_t notes_left_out;
        uint64_t last_ns; /* of what is drawn */
};

/* 0 or -errno. */
int plot_data_init(struct plot_data *d);
void plot_data_done(struct plot_data *d);

/* Takes an update of the run. 0 or -errno. */
int plot_data_add(struct plot_data *d, const Hw__Update *update);

/* ------------------------------------------------------------------- choice */

enum plot_unit { PLOT_BYTES, PLOT_SECONDS, PLOT_NUMBERS };

#define PLOT_UNKNOWN UINT64_MAX /* a line has no point there; in a stack it is 0 */

struct plot_band {
        uint32_t id; /* 0: all others */
        char *label;
        uint64_t peak_bytes; /* in the census with the most bytes, as shown in the key */
        uint64_t *bytes;     /* of each column */
};

struct plot_chart {
        struct plot_band bands[PLOT_BANDS + 1]; /* lowest first */
        size_t n_bands;
        uint64_t *times_ns; /* of columns, rising */
        size_t n_columns;
        bool lines[PLOT_LINES]; /* that are drawn */
        double integral;        /* byte seconds under all censuses */
        uint64_t peak_ns, peak_bytes;
        uint64_t x_ns, y_bytes; /* scales: the ends of the axes */
        uint64_t from_ns;       /* where the x axis begins */
        enum plot_unit unit;    /* PLOT_BYTES, or what all `bytes` are in, `scale` of it each */
        double scale;
};

/* 0, -ENODATA when there is neither a census nor a line, or -errno. */
int plot_choose(struct plot_chart *c, struct plot_data *d, const struct world_target *t, const struct plot_options *o);
void plot_chart_done(struct plot_chart *c);

/* Scales and order for another plot (--order). 0 or -errno. */
int plot_save_order(const struct plot_chart *c, const char *path);

/* ------------------------------------------------------------------ picture */

/* A text and the room it takes, for checks that no two overlap. */
struct plot_text {
        double x, y, width, height;
};

struct plot_picture {
        const struct plot_options *options;
        const struct plot_data *data;
        const struct plot_chart *chart;
        const struct world_target *t;
        const char *title; /* NULL: of `t` */
        struct plot_text texts[512];
        size_t n_texts;
        double left, top, right, bottom; /* of the axes */
};

/* Draws everything; afterwards the picture says what was drawn where. */
void plot_draw(struct plot_picture *p, cairo_t *cr);

/* Whether it is one of svg, png, pdf, eps and ps; and the picture in such a format, 0 or -errno. */
bool plot_is_format(const char *name);
int plot_write(struct plot_picture *p, const char *format, FILE *to);

/* theme.c: colours. A band's fill differs from its neighbours' in hue, lightness and, in print, hatching. */

struct colour {
        double red, green, blue;
};

struct theme {
        struct colour paper, ink, soft, grid, other, note;
        struct colour lines[3];
        bool hatched;
};

const struct theme *theme_of(int theme);

void theme_use(cairo_t *cr, struct colour c);

/* Of the n-th band, lowest first. */
struct colour theme_band(const struct theme *t, size_t n);

/* Hatches the clipped part of a box with the n-th of several patterns; the first is none. */
void theme_hatch(cairo_t *cr, size_t n, double x, double y, double width, double height);
