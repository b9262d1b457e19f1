/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rise.h - a line through the last samples of a run that is over, where no early warning (early_rise.h) stands.
 *
 * A program may die of its limit within seconds, long before a verdict can be reached. What its samples show is then
 * described, not judged: from where to where, how straight, and between which two samples it began.
 */
#ifndef HW_DAEMON_TREND_RISE_H
#define HW_DAEMON_TREND_RISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RISE_POINTS_MIN 4u  /* samples on the line */
#define RISE_FIT_MIN    0.8 /* R^2 of that line: below it is no rise */
#define RISE_BYTES_MIN  1048576.0

struct rise_point {
        uint64_t time_ns;
        double bytes;
};

struct rise_line {
        uint64_t began_after_ns, began_by_ns; /* it began between these two samples; equal: at the first one */
        uint64_t to_ns;                       /* its highest sample */
        double from_bytes, to_bytes;
        double slope; /* bytes per s, least squares */
        double fit;   /* R^2 of the line */
        unsigned points;
};

/*
 * The rise that ends at the highest of n samples in order of time. False: there is none, or it had ended long before
 * end_ns.
 */
bool rise_find(const struct rise_point *points, size_t n, uint64_t end_ns, struct rise_line *ret);

#endif
