/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * widgets.h - small drawings: sparklines and section titles. What is unknown is
 * blank in a drawing and "–" as a number.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/console/draw/canvas.h"
#include "client/world/history/past.h"
#include "proto/base/rate.h"
#include "proto/base/utf8.h"

/* text.c: numbers as people read them, and text from outside made safe for a terminal. */

#define SHORT_TEXT   128
#define UNKNOWN_TEXT "–"

enum unit {
        UNIT_TEXT,
        UNIT_BYTES,
        UNIT_CHANGE,   /* bytes with a sign */
        UNIT_RATE,     /* bytes per second */
        UNIT_SLOPE,    /* the same with a sign */
        UNIT_INTEGRAL, /* bytes times seconds */
        UNIT_NS,
        UNIT_WHEN,  /* a moment: event time in ns; shown in the clock of the view */
        UNIT_SHARE, /* 0..1 */
        UNIT_COUNT,
        UNIT_RATIO /* a plain number, two decimals */
};

/* A number in its unit; returns `out`. */
char *unit_text(char *out, size_t size, enum unit unit, double number);

/* A rate (UNIT_RATE, UNIT_SLOPE) in the unit that its neighbours use; returns `out`. */
char *rate_in_unit(char *out, size_t size, enum unit unit, struct rate_unit in, double bytes_per_s);

/* Numbers as text, UNKNOWN_TEXT when unknown. Each returns `out` (of SHORT_TEXT bytes). */
char *duration_or_unknown(char *out, bool known, uint64_t ns);
char *share_or_unknown(char *out, bool known, double share);

/* "42 s", "1m 30s": an age that counts up; whole seconds. */
char *age_text(char *out, size_t size, uint64_t ns);

/*
 * "14:02:30": local time of day of Unix nanoseconds; "Sa 14:02" or "21 Nov" when `now_wall_ns` is a day or more later;
 * "" when there is none.
 */
char *time_of_day(char *out, size_t size, uint64_t wall_ns, uint64_t now_wall_ns);

#define SPARK_MAX 256 /* columns of the widest sparkline */

/* How samples become columns. */
enum spark_mode {
        SPARK_GAUGE,  /* greatest of a column; holds until the next point */
        SPARK_EVENTS, /* greatest of a column; blank without samples */
        SPARK_RATE    /* growth of a cumulative series, which between two points grows evenly */
};

/*
 * Columns of a series over a range, its end included: values[i] is valid where known[i]. A point of many samples
 * counts twice: with its last sample at that sample's time, and with its greatest, if that is another one, in the
 * middle of its interval. Of events only the greatest counts. A rate is known between the first and the newest point.
 * `width` is at most SPARK_MAX.
 */
void spark_sample(const struct past *past, struct time_range range, enum spark_mode mode, int width, double *values,
                  bool *known);

/*
 * Draws a series over a range as blocks of eight heights, in at most SPARK_MAX columns. The axis spans the values, but
 * at least a tenth of the greatest: noise around a constant looks flat.
 */
void draw_spark(struct canvas *c, struct area area, int row, int column, int width, const struct past *past,
                struct time_range range, enum spark_mode mode);

/* Heights start at 0, the greatest is a full block. Blank where unknown. */
void draw_bars(struct canvas *c, struct area area, int row, int column, int width, const double *values,
               const bool *known);

/*
 * Draws text from outside into at most `most` lines of `width` columns from `column`, broken between words; what is
 * left over is cut. Without a canvas it only counts the lines, which it returns; those below the area are not drawn.
 */
int draw_lines(struct canvas *c, struct area area, int row, int column, int width, int most, enum tint tint,
               const char *text);

/* "Title ───── right" over the whole width. */
void draw_title(struct canvas *c, struct area area, int row, const char *title, const char *right);
