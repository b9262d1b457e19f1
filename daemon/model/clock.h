/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - event time of a run: its range, blocks, watermark, and the mapping to Unix time. Private to the model. */
#ifndef HW_MODEL_CLOCK_H
#define HW_MODEL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "heapwatch/eventlog.h"

struct model;

struct clock {
        uint64_t first_ns, newest_ns;           /* of all events; first is UINT64_MAX before the first */
        uint64_t block_offset, block_size;      /* of the newest block in the stream; size 0: none */
        uint64_t block_begin_ns, block_span_ns; /* times that its events can have */
        uint64_t global_end_ns;                 /* newest end_time of the buffer without capability; UNKNOWN_U64 */
        uint64_t settled_ns;                    /* as the sink was last told */
        uint64_t blocks;                        /* block markers of that buffer or of the busiest capability */
        uint64_t anomalies;
};

void clock_clear(struct clock *c);

/* BLOCK_MARKER */
void clock_block(struct model *m, const struct hw_event *e);

/* WALL_CLOCK_TIME */
void clock_wall(struct model *m, const struct hw_event *e);

/* Counts an event whose time its block cannot hold, and moves it to the block's nearest end. */
void clock_correct(struct clock *c, struct hw_event *e);

/* Whether the event's time is outside the range of the block that it stands in. */
static inline bool clock_doubts(const struct clock *c, const struct hw_event *e)
{
        return e->offset - c->block_offset < c->block_size && e->time_ns - c->block_begin_ns > c->block_span_ns;
}

static inline void clock_see(struct clock *c, uint64_t time_ns)
{
        if (time_ns > c->newest_ns)
                c->newest_ns = time_ns;
        if (time_ns < c->first_ns)
                c->first_ns = time_ns;
}

#endif
