/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * damages.h - the newest LIMIT_DAMAGES damages of a target's stream, and how many there were in all.
 */
#ifndef HW_DAEMON_TARGET_DAMAGES_H
#define HW_DAEMON_TARGET_DAMAGES_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/publish/limits.h"
#include "heapwatch/eventlog.h"

struct damages {
        struct hw_eventlog_damage places[LIMIT_DAMAGES]; /* by age */
        size_t n;
        uint64_t all;
};

void damages_add(struct damages *d, const struct hw_eventlog_damage *place);

/* A damage that was reported before its end was known has grown: `newest` is its current extent. */
void damages_measure(struct damages *d, const struct hw_eventlog_damage *newest);

#endif
