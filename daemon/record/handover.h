/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handover.h - how a recording hands data over to the recorder's thread. Nothing here waits for the disk.
 */
#ifndef HW_DAEMON_RECORD_HANDOVER_H
#define HW_DAEMON_RECORD_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/record/jobs.h"
#include "daemon/record/state.h"
#include "heapwatch/eventlog.h"

struct recorder;
struct recording;

/* A run, shared by both threads; the last one to release it frees it. */
struct shared_run;

/* A run begins, as the decoder has just reported. NULL when out of memory. */
struct shared_run *recorder_run_begin(struct recorder *r, const char *target, const struct hw_eventlog *log,
                                      uint64_t wall_ns);

/* The Unix time by which its recording is named, so far as the thread knows. */
uint64_t recorder_run_begin_ns(struct shared_run *run);

/*
 * No more data follows; what waits is still written. `how`: losses since the newest job, and how the run ended. The
 * caller keeps its hold on the run, for recorder_state.
 */
void recorder_run_end(struct recorder *r, struct shared_run *run, const struct job *how);

/* A further hold on a run that has ended; each is to be released. NULL is allowed in both. */
struct shared_run *recorder_run_hold(struct shared_run *run);
void recorder_run_release(struct shared_run *run);

struct jobs *recorder_jobs(struct recorder *r);

/* To be called every second. */
void recorder_tick(struct recorder *r);

/* Reading thread: recording of a target was paused or not, and is now. Of those that are, one is the first. */
void recorder_count_pause(struct recorder *r, const struct recording *of, bool was, bool now);
bool recorder_first_paused(const struct recorder *r, const struct recording *of, size_t *ret_all);

/* The queue has refused events. */
void recorder_full(struct recorder *r);

/*
 * Adds to `ret`, which has what the reading thread knows, what the writing thread knows about the disk and about the
 * run; NULL: of none.
 */
void recorder_state(struct recorder *r, struct shared_run *run, struct recording_state *ret);

#endif
