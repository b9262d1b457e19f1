/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.c - running moments of one band. */
#include "client/history/stats.h"

#include <math.h>

void stats_add(struct band_stats *s, double t_s, double bytes)
{
        double dt = t_s - s->t_mean, dv = bytes - s->v_mean, n;

        if (!s->samples || t_s > s->t_max)
                s->t_max = t_s;
        if (!s->samples || bytes > s->v_max)
                s->v_max = bytes;
        if (!s->samples || bytes < s->v_min)
                s->v_min = bytes;
        n = (double)++s->samples;
        s->t_mean += dt / n;
        s->v_mean += dv / n;
        s->m_tt += dt * (t_s - s->t_mean);
        s->m_tv += dt * (bytes - s->v_mean);
        s->m_vv += dv * (bytes - s->v_mean);
        s->sum += bytes;
}

void stats_hold(struct band_stats *s, double seconds, double bytes)
{
        if (seconds > 0)
                s->integrated += seconds * bytes;
}

double stats_mean(const struct band_stats *s, uint64_t censuses)
{
        return censuses ? s->sum / (double)censuses : 0;
}

/* The censuses without a row are n - m zeros: the sum of squares about the mean of all is m_vv + m v² (1 - m / n). */
double stats_deviation(const struct band_stats *s, uint64_t censuses)
{
        double m = (double)s->samples, n = (double)censuses;

        if (!censuses)
                return 0;
        return sqrt((s->m_vv + m * s->v_mean * s->v_mean * (1 - m / n)) / n);
}

bool stats_line(const struct band_stats *s, struct stats_line *ret_line)
{
        double slope;

        if (s->samples < 2 || !(s->v_max > s->v_min) || !(s->m_tt > 0) || !(s->t_max > 0))
                return false;
        slope = s->m_tv / s->m_tt;
        ret_line->slope_bps = slope;
        ret_line->intercept_bytes = s->v_mean - slope * s->t_mean;
        ret_line->slope = slope * s->t_max / s->v_max;
        ret_line->intercept = ret_line->intercept_bytes / s->v_max;
        ret_line->fit = fmin(1, s->m_tv * s->m_tv / (s->m_tt * s->m_vv)); /* rounding may exceed 1 */
        return true;
}
