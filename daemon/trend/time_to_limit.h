/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * time_to_limit.h - when growth meets the limit, as an interval.
 *
 * The early end assumes the highest level, the steepest slope and, when growth
 * accelerates, that it goes on doing so; the late end the opposite.
 */
#ifndef HW_DAEMON_TREND_TIME_TO_LIMIT_H
#define HW_DAEMON_TREND_TIME_TO_LIMIT_H

#include "daemon/trend/windows.h"

/* Running average of the series over about 64 minutes: what fills a limit is the average, not the floor. */
struct recent_average {
        double sum;    /* weighted */
        double weight; /* 0 .. 1: how much of the 64 minutes has been seen */
};

/* Takes in the mean of one closed minute. */
void recent_average_add(struct recent_average *a, double mean);

struct time_to_limit {
        double early_s; /* seconds from the window's end; 0: may be there already; NaN: not foreseeable */
        double late_s;  /* NaN: may never come */
};

/*
 * When the growth of window `index` (with a result) meets `limit` bytes.
 * resolution_s: length of a minute, in seconds.
 */
struct time_to_limit time_to_limit(const struct windows *w, unsigned index, const struct recent_average *average,
                                   double limit, double resolution_s);

#endif
