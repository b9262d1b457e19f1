/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * history.h - ranges of a series, exact to the second at their newer end.
 *
 * A moment of judging is a multiple of HISTORY_STEP_NS, the width of the finest
 * level, so later samples can be recognized and left out: the answer depends
 * only on samples before it, however far the stream is ahead. The older end is
 * that of a cell of the level that reaches that far back, so a range may be a
 * little longer than requested.
 */
#ifndef HW_DAEMON_RULES_HISTORY_H
#define HW_DAEMON_RULES_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/model/bands.h"
#include "daemon/model/series.h"

#define HISTORY_STEP_NS UINT64_C(1000000000)

/* Merge of all samples in a range. False when there are none. */
bool history_span(const struct series *s, struct time_range range, struct trend_cell *ret);

/* The cell with the newest sample before before_ns; with the oldest sample of a range. */
bool history_newest(const struct series *s, uint64_t before_ns, struct trend_cell *ret);
bool history_oldest(const struct series *s, struct time_range range, struct trend_cell *ret);

/* Area under the values, each held until the next, in unit * s. NaN without samples. */
double history_integral(const struct series *s, struct time_range range);

/*
 * The same for a band (NULL: none) and its history, whose points become wider as the run goes on; newest: the newest
 * that ends before.
 */
bool history_band_span(const struct band *band, struct time_range range, struct trend_cell *ret);
bool history_band_newest(const struct band *band, uint64_t before_ns, struct trend_cell *ret);
bool history_band_oldest(const struct band *band, struct time_range range, struct trend_cell *ret);
double history_band_integral(const struct band *band, struct time_range range);

#endif
