/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meter.h - what a census costs: the pause of the collection it was part of.
 *
 * From the log itself: the census' beginning (event 162) lies between the
 * beginning and the end of its collection (9, 10). The three may come in any
 * order, since each capability's buffer is written on its own. Pure.
 */
#ifndef HW_AGENT_METER_H
#define HW_AGENT_METER_H

#include <stdint.h>

#include "agent/limits.h"

#define METER_KEPT 16 /* collections and censuses that may wait for each other */

struct meter {
        uint64_t gc_begin[AGENT_CAPABILITIES]; /* 0: none is open */
        struct {
                uint64_t begin, end;
        } collections[METER_KEPT];
        uint64_t censuses[METER_KEPT]; /* without a collection so far; 0: none */
        unsigned next_collection, next_census;
        uint64_t pause_ns; /* of the newest census whose pause is known; 0: none is */
        uint64_t known;    /* censuses whose pause is known */
        uint64_t taken;    /* censuses seen */
};

void meter_gc_begin(struct meter *m, unsigned capability, uint64_t at_ns);
void meter_gc_end(struct meter *m, unsigned capability, uint64_t at_ns);
void meter_census(struct meter *m, uint64_t at_ns);

/*
 * The time from one census to the next: at least wanted_ns, and long enough for
 * a pause of pause_ns (0: not known) to be at most the share `budget` of it.
 */
int64_t meter_interval(int64_t wanted_ns, uint64_t pause_ns, double budget);

#endif
