/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recorder.h - the flight recorder: the streams of all targets, kept on disk
 * within a budget.
 *
 *     pipeline ─events─▶ recording: blocks in memory ─frames─▶ queue ─▶ thread: zstd, files, budget
 *
 * The thread that reads never waits: what the queue does not take is left out,
 * a whole frame at a time, and counted. A recording belongs to the reading
 * thread; what the other one tells of it is read by recording_state.
 */
#ifndef HW_DAEMON_RECORD_RECORDER_H
#define HW_DAEMON_RECORD_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/record/budget.h"
#include "daemon/record/state.h"
#include "heapwatch/eventlog.h"
#include "proto/base/error.h"

struct recorder;
struct recording;

struct recorder_options {
        const char *directory; /* absolute; made when it is not there, 0700 */
        struct budget budget;
        bool keep_arguments; /* of the programs; their environment never is */
};

/* Starts the thread. NULL with a sentence: the directory cannot be used, or others may enter it. */
struct recorder *recorder_new(const struct recorder_options *options, struct error *error);

/* Writes what waits, for STOP_S at most, and ends the thread. All recordings must be destroyed before. */
void recorder_destroy(struct recorder **r);

/* Frames numbered up to this are on disk, or lost and counted. */
uint64_t recorder_written(struct recorder *r);

const char *recorder_directory(const struct recorder *r);

/* Of one target: one run after the other. NULL when out of memory. */
struct recording *recording_new(struct recorder *r, const char *target);
void recording_destroy(struct recording **r);

/* A run begins, as the decoder has just said. */
void recording_begin(struct recording *r, const struct hw_eventlog *log, uint64_t wall_ns);

void recording_events(struct recording *r, const struct hw_eventlog *log, const struct hw_event *events, size_t n,
                      uint64_t wall_ns);

/* Bytes were read, or a second has passed: what is old enough goes to the disk. */
void recording_tick(struct recording *r, uint64_t wall_ns);

/* The run is over; `marked`: with an end marker. */
void recording_end(struct recording *r, bool marked, uint64_t wall_ns);

/* All that came so far goes to the disk now. Returns the number to wait for: recorder_written. */
uint64_t recording_seal(struct recording *r, uint64_t wall_ns);

void recording_state(struct recording *r, struct recording_state *ret);

#endif
