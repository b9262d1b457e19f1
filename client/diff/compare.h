/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compare.h - compares two sides: every quantity, and every row that either side has (a full outer join by name).
 * What a side does not have is unknown, except that a band without a row in a heap profile holds 0 bytes.
 */
#ifndef HW_CLIENT_DIFF_COMPARE_H
#define HW_CLIENT_DIFF_COMPARE_H

#include "client/diff/shift.h"
#include "client/diff/side.h"

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

#endif
