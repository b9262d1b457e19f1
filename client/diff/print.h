/* SPDX-License-Identifier: BSD-3-Clause */
/* print.h - a comparison for people and for programs. */
#ifndef HW_CLIENT_DIFF_PRINT_H
#define HW_CLIENT_DIFF_PRINT_H

#include <stdio.h>

#include "client/diff/bounds.h"

struct json_out;

struct result {
        struct comparison comparison;
        struct bounds bounds;
        size_t shown; /* rows of each kind in text */
        bool strict;  /* a bound that is undecided is a failure */
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

#endif
