/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - event time of a run: its range, blocks, watermark, and the mapping to Unix time. Private to the model. */
#ifndef HW_DAEMON_MODEL_CLOCK_H
#define HW_DAEMON_MODEL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "heapwatch/eventlog.h"

struct model;

struct clock {
        uint64_t first_ns, newest_ns;           /* of all events; first is UINT64_MAX before the first */
        uint64_t block_offset, block_size;      /* of the newest block in the stream; size 0: none */
        uint64_t block_begin_ns, block_span_ns; /* times that its events can have */
        uint64_t global_end_ns;                 /* newest end_time of the buffer without capability; UNKNOWN_U64 */
        uint64_t watermark_ns;                  /* all events before it have arrived; 0: not known */
        uint64_t blocks;                        /* block markers of that buffer or of the busiest capability */
        uint64_t anomalies;
        uint64_t sure_begin_ns, sure_width_ns; /* see clock_sure */
};

void clock_clear(struct clock *c);

/* BLOCK_MARKER */
void clock_block(struct model *m, const struct hw_event *e);

/* WALL_CLOCK_TIME */
void clock_wall(struct model *m, const struct hw_event *e);

/*
 * Takes an event's time in. A time that its block cannot hold is counted and
 * moved to the block's nearest end: returns true, with it in *ret_time_ns.
 */
bool clock_see(struct clock *c, const struct hw_event *e, uint64_t *ret_time_ns);

/*
 * Whether clock_see would change nothing: the time lies in the newest block,
 * whose end is known as a time of the run already, and is not the run's first.
 * One comparison for nearly every event.
 */
static inline bool clock_sure(const struct clock *c, uint64_t time_ns)
{
        return time_ns - c->sure_begin_ns < c->sure_width_ns;
}

#endif
