/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rate.h - rates of memory in one unit per column and per sentence, chosen by magnitude, so that numbers beside each
 * other can be compared by eye: "54.4 KiB/min (40.6 KiB/min to 69.1 KiB/min)".
 *
 * The unit has the shortest of second, minute and hour in which the rate is 1 KiB or more, else the hour. A single rate
 * in its own unit is hw_rate_text (heapwatch/text.h). The page's units.ts does the same.
 */
#pragma once

#include <stddef.h>

#include "heapwatch/text.h"

struct rate_unit {
        double bytes_per_s; /* one of this unit */
        const char *name;   /* static: "KiB/min" */
};

/* The unit for rates of this magnitude: the first one of a sentence, the greatest of a column. NaN counts as 0. */
struct rate_unit rate_unit(double bytes_per_s);

/*
 * The unit for a rate and the ends of its interval. One that is surely not 0 has its own, in which it also stands alone
 * elsewhere; its ends are of its magnitude. Of a wider interval the unit is that of the greatest magnitude.
 */
struct rate_unit rate_unit_within(double bytes_per_s, double low, double high);

/* The greatest magnitude of a column so far (0 at first), with one more rate; one that is not finite is ignored. */
double rate_greater(double magnitude, double bytes_per_s);

/*
 * "-1.23 MiB/s", "0.012 MiB/s": three significant digits, two below 1, at most four decimals; less is "~0 MiB/s". Not
 * finite: "?". Returns `out`.
 */
char *rate_text(char *out, size_t size, struct rate_unit unit, double bytes_per_s);

#define RATE_WITHIN_MAX (3 * HW_NUMBER_MAX + 8)

/*
 * "766 KiB/s (698 KiB/s to 833 KiB/s)": a rate with its interval, if the ends of that differ as printed. What is below
 * a thousandth of the interval's width is "~0 KiB/s": its digits would mean nothing. Returns `out`.
 */
char *rate_within_text(char out[RATE_WITHIN_MAX], struct rate_unit unit, double bytes_per_s, double low, double high);

/* "+3.1/s", "+12/min": of what is counted, in the shortest of second, minute and hour in which it is 1 or more. */
#define COUNT_RATE_MAX 48
char *count_rate_text(char out[COUNT_RATE_MAX], double per_s);
