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
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"

/*
 * pause.c: whether recording is paused, and why: the disk refuses what is
 * written (full, read-only, gone), or it is so slow that the queue is full.
 *
 * Both threads report what they see; the beginning and the end of a pause are
 * one line each in the log, whatever happens in between.
 */

#define PAUSE_DETAIL_BYTES 256u

struct pause {
        const char *directory; /* for the log; borrowed */
        pthread_mutex_t lock;  /* guards what follows */
        char disk[PAUSE_DETAIL_BYTES];
        const char *slow;              /* why the disk counts as slow; NULL: it does not */
        uint64_t refused_ns;           /* when the queue last refused events; 0: never */
        uint64_t done;                 /* jobs, at the last look */
        uint64_t moved_ns;             /* when that number last changed, or nothing waited */
        char said[PAUSE_DETAIL_BYTES]; /* the reason that was logged last; "": none since it resumed */
};

void pause_init(struct pause *p, const char *directory);
void pause_done(struct pause *p);

/* Writing thread: why the disk does not take what is written; "": it does. */
void pause_disk(struct pause *p, const char *trouble);

/* Reading thread, by the monotonic clock: the queue has refused events. */
void pause_refused(struct pause *p, uint64_t now_ns);

/* Reading thread, every second: `waiting` jobs, `done` so far. */
void pause_update(struct pause *p, size_t waiting, uint64_t done, uint64_t now_ns);

/* Whether the disk refuses what is written; false while it is only slow. */
bool pause_is_by_disk(struct pause *p);

/* Whether recording is paused; then `out` has the reason, else "". */
bool pause_reason(struct pause *p, char out[PAUSE_DETAIL_BYTES]);

/*
 * Keeps a directory of recordings within its limits of size and age:
 * removes the oldest segments first. Without free disk space nothing is removed,
 * and nothing is to be recorded.
 *
 * Stateless: each call walks the directory, so what others removed or added is
 * seen. The newest segment of a run that is being written stays, and what
 * somebody has pinned (pin.c). A run that is over is removed with its last
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
void recorder_wait(void *recorder, uint64_t number, uint64_t until_ns);

/* Whether nothing is recorded at present; then `why` has the reason. */
bool recorder_is_paused(struct recorder *r, char why[PAUSE_DETAIL_BYTES]);

const char *recorder_directory(const struct recorder *r);
