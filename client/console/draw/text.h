/* SPDX-License-Identifier: BSD-3-Clause */
/* text.h - numbers as people read them, and text from outside made safe for a terminal. */
#ifndef HW_CLIENT_CONSOLE_DRAW_TEXT_H
#define HW_CLIENT_CONSOLE_DRAW_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/rate.h"

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

/* Text from outside made safe into `out`. */
char *safe_text(char *out, size_t size, const char *text);

#endif
