/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handover.h - what a recording gives to the recorder's thread. None of this
 * waits for the disk.
 */
#ifndef HW_DAEMON_RECORD_HANDOVER_H
#define HW_DAEMON_RECORD_HANDOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/record/state.h"
#include "proto/recording/frame.h"

struct recorder;

/* A run as both threads see it; the one that lets go of it last frees it. */
struct shared_run;

/* Takes over the header. NULL when out of memory. */
struct shared_run *recorder_run_begin(struct recorder *r, const char *target, uint64_t wall_ns, uint8_t *header,
                                      size_t size);

/* Nothing more comes; what waits is still written. */
void recorder_run_end(struct recorder *r, struct shared_run *run);

enum job_kind { JOB_BLOCKS, JOB_DEFINITIONS, JOB_END };

/* Takes over the blocks. False: the queue is full, or out of memory; they are freed. */
bool recorder_enqueue(struct recorder *r, struct shared_run *run, enum job_kind kind, uint32_t segment,
                      const struct frame_head *head, uint8_t *blocks);

/* Sequence number of the newest job: see recorder_written. */
uint64_t recorder_added(struct recorder *r);

/* Adds to `ret` what the thread knows: of the run, unless it is NULL, and of the disk. */
void recorder_state(struct recorder *r, const struct shared_run *run, struct recording_state *ret);

uint64_t recorder_segment_bytes(const struct recorder *r); /* of eventlog; a longer segment is followed by another */
bool recorder_keeps_arguments(const struct recorder *r);

#endif
