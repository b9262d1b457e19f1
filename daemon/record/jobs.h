/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * jobs.h - the queue of jobs for the recorder's thread.
 *
 * A job is a stretch of events in the buffer that they were read into
 * (read_buffer.h), so the reading thread copies nothing. The newest one stays
 * with that thread as long as further events continue it, so that one job is
 * handed over for a whole buffer, not for each batch. A full queue refuses jobs.
 * Waking the writing thread for every job would cost too much: it sleeps until
 * enough of them wait, until one is urgent, or until the next tick.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/record/assembler.h"
#include "daemon/record/recording.h"
#include "proto/eventlog/recording/run_dir.h"

struct read_buffer;
struct shared_run;

enum job_kind {
        JOB_EVENTS,
        JOB_DEFINITIONS, /* of events that were left out; the bytes are owned */
        JOB_GO_ON,       /* the run's first: an earlier recording of it is continued */
        JOB_SEAL,        /* write everything before it now */
        JOB_END,         /* of the run */
        JOB_OUTCOME      /* how a run ended, after its JOB_END; a struct recorded_outcome, owned; no `run` */
};

/* Which run, and how it ended. */
struct recorded_outcome {
        struct shared_run *run; /* held; its name is known when it has been written; NULL: it is of another daemon */
        uint64_t begin_ns;      /* then, by which it is named */
        struct run_end end;
        char target[RUN_TARGET_MAX + 1];
};

struct job {
        struct job *next;
        struct shared_run *run;
        enum job_kind kind;
        struct event_span span;
        struct read_buffer *buffer; /* holds its bytes; NULL: they are owned */
        uint64_t wall_ns;
        uint64_t lost_bytes; /* left out before it */
        uint32_t lost_pieces;
        bool ends_span;    /* must not be extended: see assembler_events */
        bool marked;       /* JOB_END: the run had an end marker */
        bool same_stream;  /* JOB_GO_ON: offsets go on, too */
        uint64_t sequence; /* set when it is handed over */
};

struct jobs {
        pthread_mutex_t lock; /* guards what follows */
        pthread_cond_t more;
        pthread_cond_t done; /* for jobs_wait */
        struct job *first, *last, *spare;
        size_t n_spare;
        size_t n, bytes;           /* waiting, with the room for the open job */
        uint64_t added;            /* sequence of the newest job that was handed over */
        uint64_t written;          /* sequence of the newest finished job */
        unsigned waiting;          /* threads in jobs_wait */
        bool asleep, wanted, stop; /* wanted: work that must not wait for the next tick */

        struct job *open; /* of the reading thread alone, with room for a whole buffer; NULL: none */
};

void jobs_init(struct jobs *q);
void jobs_done(struct jobs *q);

/* ------------------------------------------------------------ reading thread */

/* Takes ownership of the bytes or buffer. False: the queue is full, or out of memory; the caller still owns them. */
bool jobs_add(struct jobs *q, const struct job *job);

/*
 * Adds events that continue those of the newest job in its buffer, which stays as it is kept: the caller has ensured
 * that it is kept so far (read_buffer_extend), without keeping it once more. False: they do not, jobs_add is needed.
 */
bool jobs_continue(struct jobs *q, const struct job *job);

/* Whether the queue is at most half full: then recording resumes after a gap. */
bool jobs_has_room(struct jobs *q);

/* To be called every second: wakes the writing thread. Returns how many wait, with the newest that is done. */
size_t jobs_tick(struct jobs *q, uint64_t *ret_done);

/* Waiting jobs are still done; then jobs_sleep returns false. */
void jobs_stop(struct jobs *q);

uint64_t jobs_added(struct jobs *q);
uint64_t jobs_written(struct jobs *q);

/* Any other thread: waits until the job with this sequence is finished, or until a time of the monotonic clock. */
void jobs_wait(struct jobs *q, uint64_t sequence, uint64_t until_ns);

/* ------------------------------------------------------------ writing thread */

/* The next job; NULL: none waits. */
struct job *jobs_next(struct jobs *q);

/* The job is done: frees it and its bytes. */
void jobs_did(struct jobs *q, struct job *job);

/* Sleeps until there is something to do, at most `seconds`. False: no more jobs follow. */
bool jobs_sleep(struct jobs *q, unsigned seconds);

/*
 * How a recording hands data over to the recorder's thread. Nothing here waits for the disk.
 */

struct recorder;
struct recording;

/* A run, shared by both threads; the last one to release it frees it. */

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
