/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meter.h - what a census costs: the pause of the collection it was part of; and how much is alive.
 *
 * From the log itself: the census' beginning (event 162) lies between the
 * beginning and the end of its collection (9, 10), which the program waits for since the capabilities were told to stop
 * (11, 12). They may come in any order, since each capability's buffer is written on its own. Pure.
 */
#ifndef HW_AGENT_METER_H
#define HW_AGENT_METER_H

#include <stdint.h>

#include "agent/limits.h"

#define METER_KEPT 16 /* collections and censuses that may wait for each other */

struct meter {
        uint64_t gc_request[AGENT_CAPABILITIES]; /* of the collection that has not begun; 0: none is known */
        uint64_t gc_begin[AGENT_CAPABILITIES];   /* 0: none is open */
        struct {
                uint64_t begin, end;
        } collections[METER_KEPT];
        uint64_t censuses[METER_KEPT]; /* without a collection so far; 0: none */
        unsigned next_collection, next_census;
        uint64_t pause_ns;       /* of the newest census whose pause is known; 0: none is */
        uint64_t known;          /* censuses whose pause is known */
        uint64_t taken;          /* censuses seen */
        uint64_t live_bytes;     /* newest */
        uint64_t lives;          /* how often it was told */
        uint64_t promoted_bytes; /* out of the nursery since then, and since before it */
        uint64_t promoted_before_bytes;
};

void meter_gc_request(struct meter *m, unsigned capability, uint64_t at_ns);
void meter_gc_begin(struct meter *m, unsigned capability, uint64_t at_ns);
void meter_gc_end(struct meter *m, unsigned capability, uint64_t at_ns);
void meter_census(struct meter *m, uint64_t at_ns);

/* What a collection of that generation copied; what survives the nursery is copied twice on its way to the oldest. */
void meter_copied(struct meter *m, unsigned generation, uint64_t bytes);

/* Live data after a collection of the oldest generation. */
void meter_live(struct meter *m, uint64_t bytes);

#endif
