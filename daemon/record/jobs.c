/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one list under one lock, which is held for a few instructions. Events that follow those of the open job in
 * memory are joined to it without the lock: room for a whole buffer was reserved when it was opened. Jobs are reused,
 * because memory that one thread allocates and another frees is expensive.
 */
#include "daemon/record/jobs.h"

#include <stdlib.h>
#include <time.h>

#include "daemon/source/buffer/read_buffer.h"
#include "daemon/record/limits.h"

void jobs_init(struct jobs *q)
{
        pthread_condattr_t monotonic;

        *q = (struct jobs){ .first = NULL };
        pthread_mutex_init(&q->lock, NULL);
        pthread_condattr_init(&monotonic);
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
        pthread_cond_init(&q->more, &monotonic);
        pthread_cond_init(&q->done, &monotonic);
        pthread_condattr_destroy(&monotonic);
}

static void let_go(struct job *job)
{
        if (job->buffer)
                read_buffer_release(job->buffer);
        else
                free((void *)job->span.bytes);
}

void jobs_done(struct jobs *q)
{
        struct job *job;

        while ((job = jobs_next(q))) {
                let_go(job);
                free(job);
        }
        if (q->open)
                let_go(q->open);
        free(q->open);
        while ((job = q->spare)) {
                q->spare = job->next;
                free(job);
        }
        pthread_cond_destroy(&q->done);
        pthread_cond_destroy(&q->more);
        pthread_mutex_destroy(&q->lock);
}

/* ----------------------------------------------------------- reading thread */

static void wake_writer(struct jobs *q)
{
        q->wanted = true;
        if (q->asleep)
                pthread_cond_signal(&q->more);
        q->asleep = false;
}

/* What a job needs in the queue: that of events in a buffer is opened, and may come to fill the buffer. */
static size_t room_of(const struct job *job)
{
        return job->kind == JOB_EVENTS && job->buffer ? READ_PIECES_BYTES : job->span.size;
}

/* Definitions have a reserve, and a job without events always fits. */
static bool is_fitting(const struct jobs *q, const struct job *job)
{
        if (job->kind == JOB_GO_ON || job->kind == JOB_SEAL || job->kind == JOB_END || job->kind == JOB_OUTCOME)
                return true;
        const size_t more = job->kind == JOB_DEFINITIONS ? QUEUE_RESERVE_BYTES : 0;
        return q->bytes + room_of(job) <= QUEUE_BYTES + more && q->n < QUEUE_JOBS;
}

static struct job *copy_of(struct jobs *q, const struct job *job)
{
        struct job *copy = q->spare;

        if (copy) {
                q->spare = copy->next;
                q->n_spare--;
        } else if (!(copy = malloc(sizeof(*copy)))) {
                return NULL;
        }
        *copy = *job;
        copy->next = NULL;
        q->n++;
        q->bytes += room_of(job);
        return copy;
}

static void hand_over(struct jobs *q, struct job *job)
{
        q->bytes -= room_of(job) - job->span.size;
        job->sequence = ++q->added;
        if (q->last)
                q->last->next = job;
        else
                q->first = job;
        q->last = job;
        if (q->bytes >= WAKE_BYTES || q->n >= WAKE_JOBS || job->kind != JOB_EVENTS)
                wake_writer(q);
}

static void hand_over_open(struct jobs *q)
{
        if (q->open)
                hand_over(q, q->open);
        q->open = NULL;
}

bool jobs_add(struct jobs *q, const struct job *job)
{
        pthread_mutex_lock(&q->lock);
        hand_over_open(q);
        struct job *copy = is_fitting(q, job) ? copy_of(q, job) : NULL;
        if (copy && job->kind == JOB_EVENTS && job->buffer)
                q->open = copy;
        else if (copy)
                hand_over(q, copy);
        pthread_mutex_unlock(&q->lock);
        return copy != NULL;
}

bool jobs_continue(struct jobs *q, const struct job *job)
{
        struct job *open = q->open;

        if (!open || open->run != job->run || open->buffer != job->buffer || open->ends_span || job->lost_pieces ||
            open->span.bytes + open->span.size != job->span.bytes ||
            open->span.offset + open->span.size != job->span.offset)
                return false;
        open->span.size += job->span.size;
        open->wall_ns = job->wall_ns;
        open->ends_span = job->ends_span;
        return true;
}

bool jobs_has_room(struct jobs *q)
{
        pthread_mutex_lock(&q->lock);
        bool room = q->bytes <= QUEUE_BYTES / 2 && q->n <= QUEUE_JOBS / 2;
        pthread_mutex_unlock(&q->lock);
        return room;
}

size_t jobs_tick(struct jobs *q, uint64_t *ret_done)
{
        pthread_mutex_lock(&q->lock);
        hand_over_open(q);
        wake_writer(q);
        const size_t waiting = q->n;
        *ret_done = q->written;
        pthread_mutex_unlock(&q->lock);
        return waiting;
}

void jobs_stop(struct jobs *q)
{
        pthread_mutex_lock(&q->lock);
        hand_over_open(q);
        q->stop = true;
        wake_writer(q);
        pthread_mutex_unlock(&q->lock);
}

uint64_t jobs_added(struct jobs *q)
{
        pthread_mutex_lock(&q->lock);
        uint64_t added = q->added;
        pthread_mutex_unlock(&q->lock);
        return added;
}

uint64_t jobs_written(struct jobs *q)
{
        pthread_mutex_lock(&q->lock);
        uint64_t written = q->written;
        pthread_mutex_unlock(&q->lock);
        return written;
}

void jobs_wait(struct jobs *q, uint64_t sequence, uint64_t until_ns)
{
        const struct timespec until = { .tv_sec = (time_t)(until_ns / 1000000000u),
                                        .tv_nsec = (long)(until_ns % 1000000000u) };

        pthread_mutex_lock(&q->lock);
        q->waiting++;
        while (q->written < sequence && pthread_cond_timedwait(&q->done, &q->lock, &until) == 0)
                ;
        q->waiting--;
        pthread_mutex_unlock(&q->lock);
}

/* ----------------------------------------------------------- writing thread */

struct job *jobs_next(struct jobs *q)
{
        pthread_mutex_lock(&q->lock);
        struct job *job = q->first;
        if (job && !(q->first = job->next))
                q->last = NULL;
        pthread_mutex_unlock(&q->lock);
        return job;
}

void jobs_did(struct jobs *q, struct job *job)
{
        let_go(job);
        pthread_mutex_lock(&q->lock);
        q->n--;
        q->bytes -= job->span.size;
        q->written = job->sequence;
        if (q->waiting)
                pthread_cond_broadcast(&q->done);
        const bool spare = q->n_spare < SPARE_JOBS;
        if (spare) {
                job->next = q->spare;
                q->spare = job;
                q->n_spare++;
        }
        pthread_mutex_unlock(&q->lock);
        if (!spare)
                free(job);
}

bool jobs_sleep(struct jobs *q, unsigned seconds)
{
        struct timespec until;

        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += (time_t)seconds;
        pthread_mutex_lock(&q->lock);
        q->asleep = true;
        while (!q->wanted && !q->stop && pthread_cond_timedwait(&q->more, &q->lock, &until) == 0)
                ;
        q->asleep = q->wanted = false;
        bool goes_on = !q->stop || q->first;
        pthread_mutex_unlock(&q->lock);
        return goes_on;
}
