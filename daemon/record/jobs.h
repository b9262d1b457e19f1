/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * jobs.h - what waits for the recorder's thread.
 *
 * A job is a stretch of events where they were read to (read_buffer.h), so the
 * reading thread copies nothing. What the jobs.has no room for is not taken.
 * Jobs are not worth a thread's waking each: the writing one sleeps until enough
 * of them wait, until one must not, or until the next tick.
 */
#ifndef HW_DAEMON_RECORD_JOBS_H
#define HW_DAEMON_RECORD_JOBS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/record/assembler.h"

struct read_buffer;
struct shared_run;

enum job_kind {
        JOB_EVENTS,
        JOB_DEFINITIONS, /* of events that were left out; the bytes are owned */
        JOB_SEAL,        /* all before it is to be written now */
        JOB_END          /* of the run */
};

struct job {
        struct job *next;
        struct shared_run *run;
        enum job_kind kind;
        struct event_span span;
        struct read_buffer *buffer; /* that has its bytes; NULL: they are owned */
        uint64_t wall_ns;
        uint64_t lost_bytes; /* left out before it */
        uint32_t lost_pieces;
        bool ends_span;    /* nothing may be joined to it: see assembler_events */
        bool marked;       /* JOB_END: the run had an end marker */
        uint64_t sequence; /* set when it is taken */
};

struct jobs {
        pthread_mutex_t lock; /* guards what follows */
        pthread_cond_t more;
        struct job *first, *last, *spare;
        size_t n_spare;
        size_t n, bytes;           /* that wait */
        uint64_t added;            /* sequence of the newest job */
        uint64_t written;          /* of the newest one done */
        bool asleep, wanted, stop; /* wanted: there is something that must not wait for the next tick */
};

void jobs_init(struct jobs *q);
void jobs_done(struct jobs *q);

/* ------------------------------------------------------------ reading thread */

/* Takes over the job, and what it owns or keeps. False: there is no room for it, `job` is as it was. */
bool jobs_add(struct jobs *q, const struct job *job);

/* Whether there is so much room again that what was left out is worth going on with. */
bool jobs_has_room(struct jobs *q);

/* A second has passed. */
void jobs_tick(struct jobs *q);

/* What waits is still to be done, and then jobs_sleep returns false. */
void jobs_stop(struct jobs *q);

uint64_t jobs_added(struct jobs *q);
uint64_t jobs_written(struct jobs *q);

/* ------------------------------------------------------------ writing thread */

/* The next job; NULL: none waits. */
struct job *jobs_next(struct jobs *q);

/* It is done: frees it and what it has. */
void jobs_did(struct jobs *q, struct job *job);

/* Until there is something to do, or for so many seconds. False: nothing more comes. */
bool jobs_sleep(struct jobs *q, unsigned seconds);

#endif
