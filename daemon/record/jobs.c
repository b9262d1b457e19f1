/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one list under one lock, which is held for a few instructions. Events that follow those of the newest waiting
 * job in memory are joined to that job: a decoder delivers a piece in several batches. Jobs are reused, because memory
 * that one thread allocates and another frees is expensive.
 */
#include "daemon/record/jobs.h"

#include <stdlib.h>
#include <time.h>

#include "daemon/buffer/read_buffer.h"
#include "daemon/record/limits.h"

void jobs_init(struct jobs *q)
{
        pthread_condattr_t monotonic;

        *q = (struct jobs){ .first = NULL };
        pthread_mutex_init(&q->lock, NULL);
        pthread_condattr_init(&monotonic);
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
        pthread_cond_init(&q->more, &monotonic);
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
        while ((job = q->spare)) {
                q->spare = job->next;
                free(job);
        }
        pthread_cond_destroy(&q->more);
        pthread_mutex_destroy(&q->lock);
}

/* ----------------------------------------------------------- reading thread */

static void wake(struct jobs *q)
{
        q->wanted = true;
        if (q->asleep)
                pthread_cond_signal(&q->more);
        q->asleep = false;
}

/* Definitions have a reserve, and a job without events always fits. */
static bool fits(const struct jobs *q, const struct job *job)
{
        if (job->kind == JOB_GO_ON || job->kind == JOB_SEAL || job->kind == JOB_END)
                return true;
        const size_t more = job->kind == JOB_DEFINITIONS ? QUEUE_RESERVE_BYTES : 0;
        return q->bytes + job->span.size <= QUEUE_BYTES + more && q->n < QUEUE_JOBS;
}

static bool joins(const struct job *last, const struct job *job)
{
        return last && job->kind == JOB_EVENTS && last->kind == JOB_EVENTS && last->run == job->run && job->buffer &&
               last->buffer == job->buffer && last->span.bytes + last->span.size == job->span.bytes &&
               last->span.offset + last->span.size == job->span.offset && job->lost_pieces == 0 && !last->ends_span;
}

static void join(struct job *last, const struct job *job)
{
        last->span.size += job->span.size;
        last->wall_ns = job->wall_ns;
        last->ends_span = job->ends_span;
        read_buffer_release(job->buffer); /* the last job already holds it */
}

static bool append(struct jobs *q, const struct job *job)
{
        struct job *copy = q->spare;

        if (copy) {
                q->spare = copy->next;
                q->n_spare--;
        } else if (!(copy = malloc(sizeof(*copy)))) {
                return false;
        }
        *copy = *job;
        copy->next = NULL;
        copy->sequence = ++q->added;
        if (q->last)
                q->last->next = copy;
        else
                q->first = copy;
        q->last = copy;
        q->n++;
        return true;
}

bool jobs_add(struct jobs *q, const struct job *job)
{
        pthread_mutex_lock(&q->lock);
        bool taken = fits(q, job), joined = taken && joins(q->last, job);
        if (joined)
                join(q->last, job);
        else
                taken = taken && append(q, job);
        if (taken) {
                q->bytes += job->span.size;
                if (q->bytes >= WAKE_BYTES || q->n >= WAKE_JOBS || job->kind != JOB_EVENTS)
                        wake(q);
        }
        pthread_mutex_unlock(&q->lock);
        return taken;
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
        wake(q);
        const size_t waiting = q->n;
        *ret_done = q->written;
        pthread_mutex_unlock(&q->lock);
        return waiting;
}

void jobs_stop(struct jobs *q)
{
        pthread_mutex_lock(&q->lock);
        q->stop = true;
        wake(q);
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
