/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stats.h - what eventlog2html's users know of a band, over a whole run:
 * integrated size, mean, standard deviation, and a least-squares line.
 *
 * Exact, however much is thinned for display: running moments (Welford 1962;
 * the co-moment form of Chan, Golub, LeVeque 1979), not a sum of squares, which
 * would lose digits. A census without a row of the band counts as 0 in mean and
 * deviation, and not at all in the line: that is eventlog2html's definition
 * (its Eventlog.Total). docs/WEB.md has the formulas.
 */
#ifndef HW_CLIENT_HISTORY_STATS_H
#define HW_CLIENT_HISTORY_STATS_H

#include <stdbool.h>
#include <stdint.h>

struct band_stats {
        uint64_t samples;      /* censuses with a row */
        double t_mean, v_mean; /* s, bytes */
        double m_tt, m_tv, m_vv;
        double t_max, v_min, v_max;
        double sum;        /* bytes */
        double integrated; /* B s, up to the newest census */
};

void stats_add(struct band_stats *s, double t_s, double bytes);

/* The band held `bytes` for that long. */
void stats_hold(struct band_stats *s, double seconds, double bytes);

/* Over `censuses` of the run. */
double stats_mean(const struct band_stats *s, uint64_t censuses);
double stats_deviation(const struct band_stats *s, uint64_t censuses);

/* A line through the band's own samples. False when there is none: fewer than two samples, or all equal. */
struct stats_line {
        double intercept, slope, fit;      /* of v / v_max on t / t_max; fit is R² */
        double intercept_bytes, slope_bps; /* the same line in bytes and seconds */
};
bool stats_line(const struct band_stats *s, struct stats_line *ret_line);

#endif
