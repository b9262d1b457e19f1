/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chart.h - lines over time with axes in human units: as braille dots on a
 * canvas (ASCII where there is no UTF-8).
 *
 * A chart borrows its pasts and texts; it owns nothing.
 */
#pragma once

#include "client/console/draw/canvas.h"
#include "client/console/draw/widgets.h"

enum { CHART_LINES = 6, CHART_MARKS = 512 };

struct chart_line {
        const char *name;
        const struct past *past;
        enum spark_mode mode; /* no rate */
        enum tint tint;
        double newest; /* said without a cursor; NAN: its newest point */
};

/* A strong mark stands out; the others are only there for the cursor to find. */
struct chart_mark {
        uint64_t time_ns;
        const char *text;
        bool strong;
};

struct chart {
        enum unit unit;
        struct time_range range; /* event time, end included */
        uint64_t start_wall_ns;  /* Unix time of event time 0: axis labels are the time of day; 0: event time */
        bool from_zero;          /* the axis begins at 0 */
        bool stacked;            /* lines are areas, each on those before it */
        bool no_legend;          /* its row stays empty */
        struct chart_line lines[CHART_LINES]; /* the first is drawn on top */
        size_t n_lines;
        const char *limit_name; /* NULL: no limit */
        double limit;
        const struct past *ticks; /* each point is a small mark under the axis; NULL: none */
        struct chart_mark marks[CHART_MARKS];
        size_t n_marks;
        bool has_cursor;
        uint64_t cursor_ns;
};

void chart_line(struct chart *c, const char *name, const struct past *past, enum spark_mode mode, enum tint tint);
void chart_mark(struct chart *c, uint64_t time_ns, const char *text, bool strong);

/* Rows and columns of the axes around the plot. */
enum { CHART_LEFT = 11, CHART_ABOVE = 1, CHART_BELOW = 3, CHART_RIGHT = 1 };

/* The part of `area` that spans the range. */
struct area chart_plot(struct area area);
void chart_draw(struct canvas *canvas, struct area area, const struct chart *c);

/* What is before a line's name where there are several and no colours. */
const char *chart_sign(size_t line, bool ascii);

/* The newest value of a line at or before a time; false when there is none. */
bool chart_value(const struct chart_line *line, uint64_t time_ns, double *ret_value);

/* The mark nearest to a time within `reach_ns`; NULL when there is none. */
const struct chart_mark *chart_mark_at(const struct chart *c, uint64_t time_ns, uint64_t reach_ns);

/* The ends of an axis: multiples of a round step. (chart.c) */
struct chart_axis {
        double low, high, step;
};
struct chart_axis chart_axis(enum unit unit, double low, double high, int steps);

/* A round distance between time marks, for at most `most` of them in a span. */
uint64_t chart_time_step(uint64_t span_ns, int most);

/* The first time mark at or after `from_ns`, for marks that fall on round times of day. */
uint64_t chart_first_time(const struct chart *c, uint64_t step_ns);

/* "14:02:30", or "2m 30s" of event time. */
char *chart_time_text(char *out, size_t size, const struct chart *c, uint64_t time_ns);
