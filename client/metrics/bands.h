/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bands.h - which bands of a census are shown: the largest, and one sum of all others.
 *
 * A series that comes and goes with each census is useless in a database. So a band that was shown counts as a quarter
 * larger than it is when the largest are chosen: it keeps its place until another is clearly larger. What is shown and
 * the rest add up to the census, including rows that the daemon left out.
 */
#ifndef HW_CLIENT_METRICS_BANDS_H
#define HW_CLIENT_METRICS_BANDS_H

#include "client/metrics/metric.h"

#define BANDS_MOST 200

struct bands_shown {
        const struct world_band *bands[BANDS_MOST]; /* largest first */
        size_t n;
        uint64_t other_bytes;
};

/* For the scope's target; chosen_bands remembers them for the next time. False: it has no census. */
bool bands_choose(struct bands_shown *shown, const struct metric_scope *s);

#endif
