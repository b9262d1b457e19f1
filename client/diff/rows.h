/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rows.h - what a run has many of, by a name that means the same in another run: bands, ticky counters, cost centres.
 *
 * A band's name is its label, with module and source where the log gives them, and without the version of its package
 * ("containers-0.6.7:Data.Map.Internal.Bin" is one of containers, whichever build it comes from); of a cost-centre
 * stack it is the whole path. Numbers that a compiler gives to symbols of one build are no part of a name. An info
 * table that the log does not name has only its address, which another build does not share: its bytes go into one row
 * that is not matched with anything. Rows of one name are one row.
 */
#ifndef HW_CLIENT_DIFF_ROWS_H
#define HW_CLIENT_DIFF_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapwatch/wire.h"
#include "proto/base/idtable.h"

enum row_kind {
        ROW_BAND,   /* bytes: mean and peak over censuses */
        ROW_TICKY,  /* bytes allocated by a counter's code */
        ROW_CENTRE, /* ticks of the time profile in a cost centre itself */
        ROW_KINDS
};

struct row {
        enum row_kind kind;
        char *name;   /* owned; key of the row, for people */
        bool unnamed; /* bands that cannot be matched */
        double now;   /* in the census that is taken in */
        double sum;   /* over censuses; else what was added up */
        double peak;  /* of a census */
};

/* All bytes 0: empty. */
struct rows {
        struct row *items;
        uint32_t n, room;
        struct idtable index;
        uint64_t seed;
        uint64_t censuses;
        uint32_t *bands; /* row + 1 by band id - 1 */
        uint32_t n_bands;
};

void rows_done(struct rows *r);

/* Bands, from messages of the run in their order. 0 or -ENOMEM. */
int rows_define(struct rows *r, const Hw__Bands *bands);
int rows_census(struct rows *r, const Hw__Census *census);

/* What a whole run has added up at its end. 0 or -ENOMEM. */
int rows_ticky(struct rows *r, const Hw__TickyCounter *counter);
int rows_stack(struct rows *r, const Hw__Stack *stack);

/* Of a band its mean over the censuses, which may be none (NaN); else what was added up. */
double row_value(const struct rows *r, const struct row *row);

#endif
