/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * value.h - one number or text on the screen, and columns: what it is called,
 * what it means and how it is obtained.
 *
 * A column is described once; heading and text on the screen, the order of
 * rows, the help, CSV and JSON all come from that.
 */
#pragma once

#include <stdio.h>

#include "client/console/draw/canvas.h"
#include "client/console/draw/widgets.h"
#include "client/world/state/world.h"
#include "proto/base/json_out.h"

struct scene; /* what columns get their values from; only passed on here */

/* A value may be absent: it is shown as UNKNOWN_TEXT and comes last in any order. */
struct value {
        enum { VALUE_NONE, VALUE_NUMBER, VALUE_TEXT } is;
        double number;
        const char *text;                    /* borrowed; may contain anything: made safe when shown */
        bool provisional;                    /* from too little data: shown with a ~, absent in files */
        uint64_t start_wall_ns, now_wall_ns; /* UNIT_WHEN: Unix time of event time 0, and now; 0: time of the run */
};

static const struct value no_value = { .is = VALUE_NONE };

struct value value_number(bool known, double number);
struct value value_text(const char *text); /* NULL or "": none */

struct column {
        const char *title; /* heading, or label before the value */
        enum fact fact;    /* of the target that is the row: value, unit, and what of name and help is not here */
        const char *name;  /* in CSV and JSON, with its unit: "live_bytes" */
        const char *help;  /* one sentence */
        enum unit unit;
        int width;                            /* columns; negative: at least that many, and a share of the spare ones */
        int rank;                             /* in a narrow table the lowest ranks are shown first; 0: always shown */
        bool rising;                          /* sorted by it, the smallest comes first */
        bool hidden;                          /* only in CSV, JSON and help */
        bool searched;                        /* what search and filter look at; of one column of a table */
        bool by_end;                          /* a text that is too long loses its beginning */
        bool (*shown)(const struct scene *s); /* whether it applies to these rows at all; NULL: it does */
        struct value (*order)(const struct scene *s, const void *row); /* what rows are sorted by; NULL: the value */
        /* In place of the value in its unit; NULL: none. Returns `out`. */
        char *(*text)(char *out, size_t size, const struct scene *s, const void *row);
        /* `row`: what the table's or view's rows are. NULL: the fact. */
        struct value (*value)(const struct scene *s, const void *row);
        enum tint (*tint)(const struct scene *s, const void *row); /* NULL: plain */
        /* A drawing in place of the text; its value is for sorting, CSV and JSON. NULL: none. */
        void (*draw)(struct canvas *c, struct area area, int row, int column, int width, const struct scene *s,
                     const void *data);
};

static inline bool column_applies(const struct column *c, const struct scene *s)
{
        return !c->hidden && (!c->shown || c->shown(s));
}

/* A function of a column that is one expression of the scene `s` and the `row`. */
#define COLUMN_FUNCTION(type, function, expression)                                                                    \
        static type function(const struct scene *s, const void *row)                                                   \
        {                                                                                                              \
                (void)s;                                                                                               \
                (void)row;                                                                                             \
                return expression;                                                                                     \
        }
#define COLUMN_VALUE(function, expression) COLUMN_FUNCTION(struct value, function, expression)
#define COLUMN_TINT(function, expression)  COLUMN_FUNCTION(enum tint, function, expression)

/* What a table's `row` is, for these expressions: function(row)->member. */
#define ROWS_ARE(type, function)                                                                                       \
        static const type *function(const void *row)                                                                   \
        {                                                                                                              \
                return row;                                                                                            \
        }

/* The value for people, safe for a terminal. Returns `out`. */
char *value_show(char *out, size_t size, enum unit unit, struct value v);

/* The same for a rate, in the unit that its neighbours use. */
char *value_show_rate(char *out, size_t size, enum unit unit, struct rate_unit in, struct value v);

/* The value as a CSV field (nothing when absent) and as JSON (null when absent): plain numbers. */
void value_csv(FILE *to, struct value v);
void value_json(struct json_out *j, struct value v);

/* Of a column, whether they are its own or its fact's. The help is a phrase, made in `out`; "" when there is none. */
struct value column_value(const struct column *c, const struct scene *s, const void *row);
const char *column_name(const struct column *c);
enum unit column_unit(const struct column *c);
char *column_help(char *out, size_t size, const struct column *c);

/* Less than, equal, greater: texts without regard to case. Absent values are equal to each other only. */
int value_compare(struct value a, struct value b);
