/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rows.h - bands, ticky counters and cost centres of a run, by a name that means the same in another run.
 *
 * Names are those of client/world/state/band_name.h. Rows with the same name are merged.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "heapwatch/wire.h"
#include "proto/base/idtable.h"

enum row_kind {
        ROW_BAND,   /* bytes: mean over time and peak of the censuses */
        ROW_TICKY,  /* bytes allocated by a counter's code */
        ROW_CENTRE, /* ticks of the time profile in a cost centre itself */
        ROW_KINDS
};

struct row {
        enum row_kind kind;
        char *name;   /* owned; key of the row, for people */
        bool unnamed; /* bands that cannot be matched */
        double now;   /* in the current census */
        double last;  /* in the one before */
        double area;  /* bytes times ns, in straight lines between censuses */
        double sum;   /* over censuses; of other kinds the total */
        double peak;  /* of a census */
};

/* All bytes 0: empty. */
struct rows {
        struct row *items;
        uint32_t n, room;
        struct idtable index;
        uint64_t seed;
        uint64_t censuses;
        uint64_t last_ns, span_ns; /* time of the newest one; from the first to it */
        bool by_census;            /* bands have sums over censuses alone */
        uint32_t *bands;           /* row + 1 by band id - 1 */
        uint32_t n_bands;
};

void rows_done(struct rows *r);

/* Bands, from the messages of the run in order. 0 or -ENOMEM. */
int rows_define(struct rows *r, const Hw__Bands *bands);
int rows_census(struct rows *r, const Hw__Census *census);

/* What a band had in so many censuses together, and in one of them at most. 0 or -ENOMEM. */
int rows_band(struct rows *r, const char *name, double sum, double peak);

/* Totals at the end of a whole run. 0 or -ENOMEM. */
int rows_ticky(struct rows *r, const Hw__TickyCounter *counter);
int rows_stack(struct rows *r, const Hw__Stack *stack);

/* A band's mean over time, or over censuses, NaN without one; of other kinds the total. */
double row_value(const struct rows *r, const struct row *row, bool by_census);
