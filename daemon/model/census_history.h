/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * census_history.h - the totals of all censuses of a run, at the widths at which bands keep their histories.
 *
 * Bands appear after the run begins and start with the same width, so a cell here is never narrower than a band's and
 * begins where one of the band's cells begins: what a band held at the last census of a cell is the `last` of its
 * newest cell within. So a total and all its bands can be given for exactly the same censuses.
 */
#ifndef HW_DAEMON_MODEL_CENSUS_HISTORY_H
#define HW_DAEMON_MODEL_CENSUS_HISTORY_H

#include "proto/base/fold.h"
#include "daemon/model/bands.h"

struct census_cell {
        uint64_t n; /* censuses; 0: the other fields mean nothing */
        uint64_t first_ns, last_ns;
        double min, max, sum;
        double last; /* at last_ns */
};

/* All bytes 0 is an empty one. Must not be copied: the fold points into it. */
struct census_history {
        struct fold fold;
        struct census_cell cells[BAND_POINTS];
};

void census_history_add(struct census_history *h, uint64_t time_ns, double total);

/* Cell i and where it begins; NULL when it is empty. */
const struct census_cell *census_history_at(const struct census_history *h, uint32_t i, uint64_t *ret_time_ns);

#endif
