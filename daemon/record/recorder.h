/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recorder.h - the flight recorder: the streams of all targets, kept on disk
 * within a budget.
 *
 *     pipeline ─▶ recording: where events lie ─stretches─▶ queue ─▶ thread: blocks, zstd, files, budget
 *
 * The reading thread never blocks and copies nothing: when the queue is full, events are left out until a later block
 * begins, and counted. This file is the thread; the recording of one target is recording.h.
 */
#ifndef HW_DAEMON_RECORD_RECORDER_H
#define HW_DAEMON_RECORD_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/record/pause.h"
#include "proto/base/error.h"

/*
 * Keeps a directory of recordings within its limits of size and age:
 * removes the oldest segments first. Without free disk space nothing is removed,
 * and nothing is to be recorded.
 *
 * Stateless: each call walks the directory, so what others removed or added is
 * seen. The newest segment of a run that is being written stays, and what
 * somebody has pinned (pin.h). A run that is over is removed with its last
 * segment. May wait for the disk.
 */

/* 0: no limit. */
struct budget {
        uint64_t total_bytes;
        uint64_t target_bytes; /* of each target */
        uint64_t age_ns;
        uint64_t free_bytes; /* to be left free on the disk */
};

struct budget_use {
        uint64_t bytes;   /* of the recordings now */
        uint64_t removed; /* segments, in this call */
        bool no_room;     /* less than free_bytes is free on the disk */
};

/* Returns 0 or -errno: the directory cannot be read. */
int budget_enforce(const char *directory, const struct budget *budget, uint64_t wall_ns, struct budget_use *ret_use);

struct recorder;

struct recorder_options {
        const char *directory; /* absolute; created if missing, 0700 */
        struct budget budget;
        bool keep_arguments; /* of the programs; their environment is never kept */
};

/* Starts the thread. NULL with a sentence when the directory cannot be used or others have access to it. */
struct recorder *recorder_new(const struct recorder_options *options, struct error *error);

/* Writes what is queued, for its part of STOP_S, and ends the thread. All recordings must have been destroyed. */
void recorder_destroy(struct recorder **r);

/* Everything sealed with a number up to this one (recording_seal) is on disk, or lost and counted. */
uint64_t recorder_written(struct recorder *r);

/* Waits for that, or until a time of the monotonic clock. Any thread but the one that reads. */
void recorder_wait(struct recorder *r, uint64_t number, uint64_t until_ns);

/* Whether nothing is recorded at present; then `why` has the reason. */
bool recorder_is_paused(struct recorder *r, char why[PAUSE_DETAIL_BYTES]);

const char *recorder_directory(const struct recorder *r);

#endif
