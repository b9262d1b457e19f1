/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * histogram.h - pauses in the fine cells of a message (docs/PROTOCOL.md, "Histogram of pauses") as a classic histogram:
 * cumulative counts below fixed bounds.
 *
 * A cell counts below a bound when all of it is: a count is at most those of the one cell that the bound cuts too
 * small, and a cell is at most 1/32 of its values wide.
 */
#ifndef HW_CLIENT_METRICS_HISTOGRAM_H
#define HW_CLIENT_METRICS_HISTOGRAM_H

#include "heapwatch/wire.h"

#define HISTOGRAM_BOUNDS 17

extern const double histogram_bounds[HISTOGRAM_BOUNDS]; /* seconds, rising */

/* Fills the counts of pauses up to each bound; returns the count of all. */
double histogram_of_pauses(double counts[HISTOGRAM_BOUNDS], const Hw__Generation *g);

#endif
