/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * histogram.h - pauses in the fine cells of a message (docs/PROTOCOL.md, "Histogram of pauses") as a classic histogram:
 * cumulative counts below fixed bounds.
 *
 * A cell counts as below a bound if all of it is: a count is too small by at most the pauses in the one cell that the
 * bound cuts, and a cell's width is at most 1/32 of its values.
 */
#ifndef HW_CLIENT_METRICS_HISTOGRAM_H
#define HW_CLIENT_METRICS_HISTOGRAM_H

#include "heapwatch/wire.h"

#define HISTOGRAM_BOUNDS 17

extern const double histogram_bounds[HISTOGRAM_BOUNDS]; /* seconds, rising */

/* Fills the counts of pauses up to each bound; returns the count of all. */
double histogram_of_pauses(double counts[HISTOGRAM_BOUNDS], const Hw__Generation *g);

#endif
