/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bounds.h - "no worse than": by how much a quantity of the first side may exceed that of the second, and whether it
 * does. For every quantity, more is worse.
 *
 *     peak(live) 5%, p99(gc_pause) 10%, allocated 20MiB, mean(band:ARR_WORDS) 5%
 *
 * The decision looks at the interval: BROKEN when all of it is beyond the bound, KEPT when all of it is within,
 * otherwise UNDECIDED, also when there is no interval or one side does not have the number.
 */
#ifndef HW_CLIENT_DIFF_BOUNDS_H
#define HW_CLIENT_DIFF_BOUNDS_H

#include "client/diff/compare.h"

struct error;

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

#endif
