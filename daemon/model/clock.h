/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - event time of a run: its range, blocks, watermark, and the mapping to Unix time. Private to the model. */
#ifndef HW_DAEMON_MODEL_CLOCK_H
#define HW_DAEMON_MODEL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "heapwatch/eventlog.h"

struct model;

struct clock {
        uint64_t first_ns, newest_ns;           /* see clock_see; first is UINT64_MAX before the first event */
        bool observed;                          /* an event that is no definition has come */
        uint64_t block_offset, block_size;      /* of the stream's newest block; size 0: none */
        uint64_t block_begin_ns, block_span_ns; /* times that its events can have */
        uint64_t global_end_ns;                 /* newest end_time of the buffer without a capability; UNKNOWN_U64 */
        uint64_t watermark_ns;                  /* all earlier events have arrived; 0: not known */
        uint64_t blocks;                        /* most block markers of any one capability */
        uint64_t anomalies;
        uint64_t sure_begin_ns, sure_width_ns; /* see clock_sure */
};

void clock_clear(struct clock *c);

/*
 * Of a program that is watched from outside there is one buffer and no capability; in all other logs the size of the
 * heap is in a capability's.
 */
bool clock_is_from_outside(const struct model *m);

/* BLOCK_MARKER */
void clock_block(struct model *m, const struct hw_event *e);

/* WALL_CLOCK_TIME */
void clock_wall(struct model *m, const struct hw_event *e);

/*
 * Takes in an event's time. The run is known from where the first block begins that has more than definitions; until
 * it comes, from the first definition. A time outside of its block is counted as an anomaly and moved to the block's
 * nearest end: returns true, with that end in *ret_time_ns.
 */
bool clock_see(struct clock *c, const struct hw_event *e, uint64_t *ret_time_ns);

/*
 * Whether clock_see would change nothing: the time is within the newest block, whose start and end have already been
 * taken in. One comparison for nearly every event.
 */
static inline bool clock_sure(const struct clock *c, uint64_t time_ns)
{
        return time_ns - c->sure_begin_ns < c->sure_width_ns;
}

#endif
