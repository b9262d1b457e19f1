/* SPDX-License-Identifier: BSD-3-Clause */
/* quantities.h - the numbers of a run that are compared: one table, which bounds (bounds.h) and all outputs use. */
#ifndef HW_CLIENT_DIFF_QUANTITIES_H
#define HW_CLIENT_DIFF_QUANTITIES_H

#include "client/diff/meter.h"

enum quantity_unit { UNIT_BYTES, UNIT_RATE /* bytes per s */, UNIT_NS, UNIT_COUNT, UNIT_SHARE /* 0..1 */ };

struct quantity {
        const char *name;  /* "peak(live)": with the series' name in the rules' language, where there is one */
        const char *title; /* for people */
        enum quantity_unit unit;
        double (*of)(const struct run_meter *m, const struct quantity *q, struct noise *noise); /* NaN: unknown */
        unsigned which;                                                                         /* gauge or flow */
        double quantile;
};

extern const struct quantity quantities[];
extern const size_t n_quantities;

/* Whether it can be below 0. */
bool quantity_is_signed(const struct quantity *q);

/* By name; NULL when there is none. */
const struct quantity *quantity_find(const char *name, size_t n);

/* "1.20 MiB", "+3.5 ms": with `change` it has a sign. Not finite: "?". Returns `out`. */
char *quantity_text(char *out, size_t size, enum quantity_unit unit, double value, bool change);

#define QUANTITY_TEXT 64u

#endif
