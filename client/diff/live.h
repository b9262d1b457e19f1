/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * live.h - a run that a daemon knows, as one side of a comparison: the same numbers as of its log, from the
 * daemon's state and history.
 *
 * Peaks, totals, counts and the longest pause are exact. Means over time, and the noise of everything, are of the
 * history's points, which get wider with age; quantiles of pauses are within 1/64. Bands are not measured: the
 * page has them itself, and a daemon has thousands.
 */
#ifndef HW_CLIENT_DIFF_LIVE_H
#define HW_CLIENT_DIFF_LIVE_H

#include "client/diff/side.h"

struct error;

/* Waits for the daemon, a few seconds for each answer. False with a message. */
bool side_read_live(struct side *s, const char *endpoint, const char *target, struct error *error);

#endif
