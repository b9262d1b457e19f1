/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recording.h - the recording of one target, used by the reading thread: tells
 * the recorder where in memory its events are.
 *
 * recording_state also has what the writing thread reports.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/buffer/read_buffer.h"
#include "heapwatch/eventlog.h"
#include "proto/eventlog/recording/run_end.h"

/* The state of one target's recording. */

/* What an earlier daemon process counted of a run. */
struct recording_counts {
        uint64_t bytes, lost_bytes, lost_frames;
};

struct recording_state {
        bool recording;      /* a run is being recorded */
        bool paused;         /* the disk takes nothing, or not all of it */
        bool first_paused;   /* of all targets that are; when its pause is over another one is */
        size_t paused_runs;  /* of the daemon, this one included */
        char detail[256];    /* why recording is paused, even when no run is being recorded; "": it is not */
        uint64_t bytes;      /* of eventlog in this run so far */
        uint64_t lost_bytes; /* how many of these were left out */
        uint64_t lost_frames;
        uint64_t disk_bytes; /* of all recordings of the daemon, as last measured */
};

struct recorder;
struct recording;

/* For one target, run after run. NULL when out of memory. */
struct recording *recording_new(struct recorder *r, const char *target);
void recording_destroy(struct recording **r);

/* A run begins, as the decoder has just reported. */
void recording_begin(struct recording *r, const struct hw_eventlog *log, uint64_t wall_ns);

/*
 * The previous run goes on, in its recording: with the same stream, whose offsets go on too and may repeat what is
 * recorded already, or with another one.
 */
void recording_resume(struct recording *r, const struct hw_eventlog *log, bool same_stream, uint64_t wall_ns);

/*
 * Which recording is that of the current run, or of the previous one: under which target, and when it began; 0: there
 * is none. recording_recall makes it so again in the next process of the daemon, with what this one counted.
 */
const char *recording_target(const struct recording *r);
uint64_t recording_begin_ns(const struct recording *r);
void recording_recall(struct recording *r, const char *target, uint64_t begin_ns, struct recording_counts counts);

/* Of the previous run alone: how it ended may become known while the next one is recorded. NULL: out of memory. */
struct recording *recording_leave(const struct recording *r);

/* Records what the decoder has delivered from `piece`, which is kept (read_buffer_keep), and from its own copies. */
void recording_events(struct recording *r, const struct hw_eventlog *log, const struct read_piece *piece,
                      const struct hw_event *events, size_t n, uint64_t wall_ns);

/* To be called every second: what is old enough is written to disk. */
void recording_tick(struct recording *r);

/* The run is over; `marked`: it had an end marker. */
void recording_end(struct recording *r, bool marked);

/* That the current run goes on, how it ends, or how the previous one has ended, as far as is known now. */
void recording_outcome(struct recording *r, const struct run_end *end);

/* Makes the recorder write everything so far. Returns the number to wait for: recorder_written. */
uint64_t recording_seal(struct recording *r);

void recording_state(struct recording *r, struct recording_state *ret);
