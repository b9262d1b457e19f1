/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * band_now.h - the newest samples of all bands, before they go into windows and
 * ladders: a census gives every band a sample of the same time.
 *
 * An interval is a sequence of censuses in order of time that crosses no
 * boundary of a minute or of a slice of band_windows.h. Times and counts belong
 * to the interval; what differs from band to band is one cache line per band,
 * so that a sample costs a few additions. Sums are about the first value: they
 * keep their precision at any level.
 */
#ifndef HW_DAEMON_TREND_BAND_NOW_H
#define HW_DAEMON_TREND_BAND_NOW_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/trend/band_windows.h"

struct band_interval {
        uint64_t begin_ns; /* time of the first sample */
        uint64_t end_ns;   /* of the interval; exclusive */
        uint64_t newest_ns;
        double t_sum, tt_sum; /* of seconds since begin_ns, and of their squares */
        uint32_t n;           /* samples of each band; 0: not begun */
};

struct band_now {
        double first;               /* value at begin_ns */
        double sum, vv_sum, tv_sum; /* of deviations from it: themselves, squared, times seconds since begin_ns */
        double min, max;
        double last; /* newest value, also of intervals before; NaN: none yet */
        double area; /* under the lines between samples, unit x s */
};

/* Whether a sample of this time belongs to the interval. */
static inline bool band_interval_accepts(const struct band_interval *s, uint64_t time_ns)
{
        return s->n > 0 && time_ns >= s->newest_ns && time_ns < s->end_ns;
}

/* An interval without samples; the first will come at begin_ns. */
void band_interval_begin(struct band_interval *s, uint64_t begin_ns, uint64_t resolution_ns);

/* For a band that has no sample yet. */
void band_now_init(struct band_now *now);

/* Gives bands[i] the value values[i], for all i < n. `gap_s`: seconds since the previous sample. */
void band_now_add(struct band_interval *s, struct band_now *bands, const double *values, uint32_t n, uint64_t time_ns,
                  double gap_s);

/* The samples of an interval, which are of one slice. s->n > 0. */
struct band_samples band_now_samples(const struct band_interval *s, const struct band_now *now);

/* Their sum. */
double band_now_sum(const struct band_interval *s, const struct band_now *now);

#endif
