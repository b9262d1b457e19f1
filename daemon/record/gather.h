/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather.h - collects the stretches of one run into frames; the caller decides by size and age when they are written.
 * Used by the writing thread only; never blocks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/record/assembler.h"
#include "proto/eventlog/recording/frame.h"

struct gather {
        struct assembler assembler;
        uint64_t segment_max_bytes;
        uint32_t ordinal; /* of the next frame */
        uint32_t segment;
        uint64_t segment_bytes, segment_begin_ns;
        uint64_t wall_ns;  /* Unix time at which the newest byte was read */
        uint64_t since_ns; /* monotonic: since when data has been waiting; 0: none is */
        uint64_t definition_bytes;
        uint64_t lost_bytes; /* before the next frame */
        uint32_t lost_pieces;
        bool goes_on;             /* an earlier recording of the stream, which ends at: */
        uint64_t recorded_offset; /* what comes before it again is left out */
};

/* Where the recording of a run ends that is continued. */
struct recorded_end {
        uint32_t ordinal; /* of its last frame, or the one after it whose definitions are there; 0: there is none */
        uint32_t segment;
        uint64_t offset; /* in the stream, after the last frame */
        uint64_t definition_bytes;
};

/* A frame of blocks, or of definitions (`segment` is 0); borrowed for the call. */
typedef void gather_frame(void *ctx, uint32_t segment, const struct frame_head *head, const uint8_t *blocks);

/* `spare` is that of all runs of the thread, and borrowed until gather_done. False: out of memory. */
bool gather_init(struct gather *g, const struct hw_eventlog *log, bool keep_arguments, uint64_t segment_bytes,
                 struct blocks_spare *spare);
void gather_done(struct gather *g);

/*
 * Before anything is gathered: a recording of the run is continued, by the same stream at some offset or, otherwise,
 * after a gap of unknown size. False: it has no room for more.
 */
bool gather_resume(struct gather *g, const struct recorded_end *end, bool same_stream);

void gather_events(struct gather *g, const struct event_span *s, uint64_t wall_ns, uint64_t mono_ns);
void gather_definitions(struct gather *g, const struct event_span *s, uint64_t wall_ns, uint64_t mono_ns);

/* Something was left out here; everything before it must have been taken (gather_frames). */
void gather_gap(struct gather *g, uint64_t bytes, uint32_t pieces);

/* The run is over; `marked`: with an end marker. */
void gather_end(struct gather *g, bool marked);

/* Bytes waiting to be taken. */
size_t gather_waiting(const struct gather *g);

/* Hands over everything that waits. Definitions come first: the blocks after them may refer to them. */
void gather_frames(struct gather *g, gather_frame *each, void *ctx);
