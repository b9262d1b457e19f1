/* SPDX-License-Identifier: BSD-3-Clause */
/* print.h - a comparison for people and for programs. */
#pragma once

#include <stdio.h>

#include "client/past/diff/meter.h"
#include "client/past/diff/side.h"

/*
 * compare.c: compares two sides: every quantity, and every row that either side has (a full outer join by name).
 * What a side does not have is unknown, except that a band without a row in a heap profile holds 0 bytes.
 */

struct change {
        double a, b;        /* medians over the runs of a side; NaN: unknown */
        struct shift shift; /* a - b */
};

struct row_change {
        enum row_kind kind;
        const char *name; /* borrowed from a run's row */
        bool unnamed;
        struct change value, peak; /* peak: of bands */
};

struct comparison {
        const struct side *a, *b;  /* borrowed */
        struct change *quantities; /* by quantity */
        struct row_change *rows;   /* by kind, then by how much they changed */
        size_t n_rows;
        bool bands_differ; /* the heap profiles differ in kind, so no bands are matched */
        bool by_census;    /* means of bands are over censuses, since one of the runs has no other */
};

/* The runs of both sides, the new ones first; NULL after the last. */
const struct side_run *comparison_run(const struct comparison *c, size_t i);

/* 0 or -ENOMEM. comparison_done() either way. */
int compare_sides(const struct side *a, const struct side *b, struct comparison *ret);
void comparison_done(struct comparison *c);

/* Whether both sides have the row, and differ in it. */
bool row_differs(const struct row_change *row);

/* The change as a share of b: 0.05 is 5 % more; NaN when b is 0 or unknown. */
double change_share(const struct change *c, double by);

/*
 * bounds.c: "no worse than": by how much a quantity of the first side may exceed that of the second, and whether it
 * does. For every quantity, more is worse.
 *
 *     peak(live) 5%, p99(gc_pause) 10%, allocated 20MiB, mean(band:ARR_WORDS) 5%
 *
 * The decision looks at the interval: BROKEN when all of it is beyond the bound, KEPT when all of it is within,
 * otherwise UNDECIDED, also when there is no interval or one side does not have the number.
 */

struct bound {
        char *text;                      /* owned; as it was written */
        const struct quantity *quantity; /* NULL: of a band */
        char *band;                      /* owned */
        bool peak;                       /* of a band; otherwise its mean */
        bool relative;
        double most; /* share of b, or in the quantity's unit */
};

struct bounds {
        struct bound *items;
        size_t n;
};

/* Adds those of a list. False with a message in `error`. */
bool bounds_parse(struct bounds *b, const char *text, struct error *error);
void bounds_done(struct bounds *b);

enum decision { BOUND_KEPT, BOUND_UNDECIDED, BOUND_BROKEN };

struct judgement {
        enum decision decision;
        enum quantity_unit unit;
        const struct change *change; /* NULL: no such band on either side */
        double most;                 /* in the unit; NaN: a share of an unknown number */
};

struct judgement bound_judge(const struct bound *b, const struct comparison *c);
const char *decision_word(enum decision d); /* "kept", "undecided", "broken" */

struct result {
        struct comparison comparison;
        struct bounds bounds;
        size_t shown; /* rows of each kind in text */
};

void print_text(FILE *to, const struct result *r);
void print_json(FILE *to, const struct result *r); /* one object on one line; all rows */
/* The same, without bounds. False: out of memory. */
bool compare_json(struct json_out *j, const struct side *baseline, const struct side *new_side);

/* Reasons to trust a comparison less: calls `say` with a sentence for each, which is valid until it returns. */
void list_cautions(const struct comparison *c, void (*say)(void *ctx, const char *text), void *ctx);
#define CAUTION_MAX 512u

/* How many bounds have a decision. */
size_t result_count(const struct result *r, enum decision d);

#define CELL_MAX 96u

/* "+13.8 %", or the amount where the baseline is 0 or unknown. "?": unknown. */
char *change_text(char *out, size_t size, const struct change *c, enum quantity_unit unit, double by);

/* "+10.1 % to +16.2 %"; empty without an interval. */
char *interval_text(char *out, size_t size, const struct change *c, enum quantity_unit unit);

/* "more", "less", "same" (the interval holds 0), or "" without an interval. */
const char *change_word(const struct change *c);

/* What intervals are based on, in a sentence; empty when there is none. */
char *basis_text(char *out, size_t size, const struct comparison *c);

/* "peak(live) 5%: broken, +13.8 % (+10.1 % to +16.2 %)". */
char *judgement_text(char *out, size_t size, const struct bound *b, const struct comparison *c);

/* "3 runs of 2 logs of app" */
char *side_text(char *out, size_t size, const struct side *s);

extern const char *const row_titles[ROW_KINDS];
enum quantity_unit row_unit(enum row_kind kind);
