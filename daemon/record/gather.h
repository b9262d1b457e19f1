/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather.h - the stretches of one run, gathered into frames: so many bytes, or
 * so long, and then they are due. The writing thread's; waits for nothing.
 */
#ifndef HW_DAEMON_RECORD_GATHER_H
#define HW_DAEMON_RECORD_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/record/assembler.h"
#include "proto/recording/frame.h"

struct gather {
        struct assembler assembler;
        uint64_t segment_max_bytes;
        uint32_t ordinal; /* of the next frame */
        uint32_t segment;
        uint64_t segment_bytes, segment_begin_ns;
        uint64_t wall_ns;  /* Unix time at which the newest byte was read */
        uint64_t since_ns; /* by the monotonic clock: since then something waits; 0: nothing does */
        uint64_t definition_bytes;
        uint64_t lost_bytes; /* before the next frame */
        uint32_t lost_pieces;
};

/* A frame of blocks, or of definitions (`segment` is 0); borrowed for the call. */
typedef void gather_frame(void *ctx, uint32_t segment, const struct frame_head *head, const uint8_t *blocks);

/* False: out of memory. */
bool gather_init(struct gather *g, const struct hw_eventlog *log, bool keep_arguments, uint64_t segment_bytes);
void gather_done(struct gather *g);

void gather_events(struct gather *g, const struct event_span *s, uint64_t wall_ns, uint64_t mono_ns);
void gather_definitions(struct gather *g, const struct event_span *s, uint64_t wall_ns, uint64_t mono_ns);

/* Something was left out behind all that was given; what waits has been taken. */
void gather_gap(struct gather *g, uint64_t bytes, uint32_t pieces);

/* The run is over; `marked`: with an end marker. */
void gather_end(struct gather *g, bool marked);

/* Bytes that wait. */
size_t gather_waiting(const struct gather *g);

/* All that waits. What belongs to every cut-out comes first: it must not be missing in what comes behind it. */
void gather_frames(struct gather *g, gather_frame *each, void *ctx);

#endif
