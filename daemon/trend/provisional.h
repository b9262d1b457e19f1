/* SPDX-License-Identifier: BSD-3-Clause */
/* provisional.h - what is known before a verdict is possible: the line through the few points so far. */
#ifndef HW_DAEMON_TREND_PROVISIONAL_H
#define HW_DAEMON_TREND_PROVISIONAL_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/trend/ladder.h"

struct trend_provisional {
        bool known;
        double slope, slope_low, slope_high; /* per s */
        uint64_t span_ns;
};

/* Of the newest buckets of the lowest level that has a line, whose narrowest ones are resolution_ns wide. */
struct trend_provisional provisional_line(const struct ladder *ladder, uint64_t resolution_ns);

/* Of a series that is steady as yet: the line of its newest buckets if they rise to new highs, else not known. */
struct trend_provisional provisional_rise(const struct ladder *ladder, uint64_t resolution_ns);

#endif
