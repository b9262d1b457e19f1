/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one queue under one lock. The reading thread appends jobs and never
 * waits for more than that lock, which is held for a few instructions; the
 * writing thread takes them, one at a time.
 */
#include "daemon/record/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/record/handover.h"
#include "daemon/record/limits.h"
#include "daemon/record/run_writer.h"
#include "proto/base/clock.h"
#include "proto/base/private_directory.h"
#include "proto/recording/run_dir.h"

/* What both threads know of a run; guarded by the recorder's lock, but for the writer. */
struct shared_run {
        unsigned holders;
        struct run_writer *writer; /* the writing thread's */
        uint64_t lost_bytes, lost_frames;
        bool paused;
        char detail[256];
};

struct job {
        struct job *next;
        enum job_kind kind;
        struct shared_run *run;
        uint32_t segment;
        struct frame_head head;
        uint8_t *blocks; /* owned */
        uint64_t sequence;
};

struct recorder {
        char directory[RECORDED_PATH_MAX];
        struct budget budget;
        bool keep_arguments;
        uint64_t segment_bytes; /* of eventlog in one segment */
        pthread_t thread;
        bool started;

        pthread_mutex_t lock; /* guards what follows */
        pthread_cond_t more;
        struct job *first, **last;
        size_t jobs, bytes; /* that wait, the one in work included */
        uint64_t added;     /* sequence of the newest job */
        uint64_t written;   /* of the newest one done */
        bool stop;
        uint64_t disk_bytes;

        /* the writing thread's own */
        struct frame_packer *packer;
        uint64_t retry_ns; /* nothing is written before this; 0: all is well */
        uint64_t look_ns;  /* the budget is looked at again */
        char trouble[256];
};

#define RETRY_NS (10 * UINT64_C(1000000000)) /* after a failure */
#define LOOK_NS  (10 * UINT64_C(1000000000)) /* between two looks at the budget */
#define STOP_S   5

static void run_release(struct recorder *r, struct shared_run *run)
{
        pthread_mutex_lock(&r->lock);
        bool last = --run->holders == 0;
        pthread_mutex_unlock(&r->lock);
        if (!last)
                return;
        run_writer_destroy(&run->writer);
        free(run);
}

/* ----------------------------------------------------------- writing thread */

/* Once when it goes wrong, once when it is well again. */
static void say(struct recorder *r, const char *trouble)
{
        if (trouble[0] && !r->trouble[0])
                log_warning("recording=%s paused: %s; targets are watched as before, and it is tried again every 10 s",
                            r->directory, trouble);
        else if (!trouble[0] && r->trouble[0])
                log_info("recording=%s goes on", r->directory);
        snprintf(r->trouble, sizeof(r->trouble), "%s", trouble);
}

static void look_at_budget(struct recorder *r)
{
        struct budget_use use;
        char trouble[128];

        r->look_ns = clock_mono_ns() + LOOK_NS;
        if (budget_enforce(r->directory, &r->budget, clock_wall_ns(), &use) != 0)
                return;
        if (use.removed)
                log_debug("recording=%s removed %llu old segments", r->directory, (unsigned long long)use.removed);
        pthread_mutex_lock(&r->lock);
        r->disk_bytes = use.bytes;
        pthread_mutex_unlock(&r->lock);
        if (!use.no_room)
                return;
        snprintf(trouble, sizeof(trouble), "less than %llu MiB are free on the disk",
                 (unsigned long long)(r->budget.free_bytes >> 20));
        say(r, trouble);
        r->retry_ns = r->look_ns;
}

/* What became of a frame, for those who ask. */
static void report(struct recorder *r, const struct job *job, bool good, const char *detail)
{
        struct shared_run *run = job->run;

        pthread_mutex_lock(&r->lock);
        run->paused = !good;
        snprintf(run->detail, sizeof(run->detail), "%s", good ? "" : detail);
        if (!good && job->kind == JOB_BLOCKS) {
                run->lost_bytes += job->head.raw;
                run->lost_frames++;
        }
        pthread_mutex_unlock(&r->lock);
}

static void write_blocks(struct recorder *r, const struct job *job)
{
        struct run_writer *w = job->run->writer;
        struct error error = { "" };
        bool definitions = job->kind == JOB_DEFINITIONS, good = false;

        if (r->retry_ns && clock_mono_ns() < r->retry_ns) {
                run_writer_skip(w, &job->head, job->blocks, definitions);
                snprintf(error.text, sizeof(error.text), "%s", r->trouble);
        } else {
                good = definitions ? run_writer_definitions(w, r->packer, &job->head, job->blocks, &error)
                                   : run_writer_blocks(w, r->packer, job->segment, &job->head, job->blocks, &error);
                r->retry_ns = good ? 0 : clock_mono_ns() + RETRY_NS;
                say(r, good ? "" : error.text);
        }
        report(r, job, good, error.text);
}

static void do_job(struct recorder *r, struct job *job)
{
        if (job->kind != JOB_END)
                write_blocks(r, job);
        else
                run_release(r, job->run);
        free(job->blocks);
        if (clock_mono_ns() >= r->look_ns)
                look_at_budget(r);
}

/* The next job; NULL: none for now, or none any more. */
static struct job *wait_for_job(struct recorder *r)
{
        struct timespec until;

        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += (time_t)(LOOK_NS / 1000000000u);
        pthread_mutex_lock(&r->lock);
        while (!r->first && !r->stop && pthread_cond_timedwait(&r->more, &r->lock, &until) == 0)
                ;
        struct job *job = r->first;
        if (job && !(r->first = job->next))
                r->last = &r->first;
        pthread_mutex_unlock(&r->lock);
        return job;
}

static void job_done(struct recorder *r, struct job *job)
{
        pthread_mutex_lock(&r->lock);
        r->jobs--;
        r->bytes -= job->head.raw;
        r->written = job->sequence;
        pthread_mutex_unlock(&r->lock);
        free(job);
}

static bool is_stopping(struct recorder *r)
{
        pthread_mutex_lock(&r->lock);
        bool stop = r->stop && !r->first;
        pthread_mutex_unlock(&r->lock);
        return stop;
}

static void *write_all(void *ctx)
{
        struct recorder *r = ctx;
        struct job *job;

        look_at_budget(r);
        while (!is_stopping(r)) {
                if ((job = wait_for_job(r))) {
                        do_job(r, job);
                        job_done(r, job);
                } else if (clock_mono_ns() >= r->look_ns) {
                        look_at_budget(r);
                }
        }
        return NULL;
}

/* ----------------------------------------------------------- reading thread */

bool recorder_enqueue(struct recorder *r, struct shared_run *run, enum job_kind kind, uint32_t segment,
                      const struct frame_head *head, uint8_t *blocks)
{
        struct job *job = malloc(sizeof(*job));
        bool taken;

        if (!job) {
                free(blocks);
                return false;
        }
        *job = (struct job){ .kind = kind, .run = run, .segment = segment, .head = *head, .blocks = blocks };
        pthread_mutex_lock(&r->lock);
        taken = kind == JOB_END || (r->bytes + head->raw <= QUEUE_BYTES && r->jobs < QUEUE_JOBS);
        if (taken) {
                job->sequence = ++r->added;
                *r->last = job;
                r->last = &job->next;
                r->jobs++;
                r->bytes += head->raw;
                pthread_cond_signal(&r->more);
        }
        pthread_mutex_unlock(&r->lock);
        if (!taken) {
                free(blocks);
                free(job);
        }
        return taken;
}

struct shared_run *recorder_run_begin(struct recorder *r, const char *target, uint64_t wall_ns, uint8_t *header,
                                      size_t size)
{
        struct shared_run *run = calloc(1, sizeof(*run));

        if (!run) {
                free(header);
                return NULL;
        }
        run->writer = run_writer_new(r->directory, target, wall_ns, header, size);
        if (!run->writer) {
                free(run);
                return NULL;
        }
        run->holders = 2;
        return run;
}

void recorder_run_end(struct recorder *r, struct shared_run *run)
{
        const struct frame_head none = { 0 };

        if (!recorder_enqueue(r, run, JOB_END, 0, &none, NULL))
                run_release(r, run); /* out of memory: its files stay open until the daemon ends */
        run_release(r, run);
}

void recorder_state(struct recorder *r, const struct shared_run *run, struct recording_state *ret)
{
        pthread_mutex_lock(&r->lock);
        ret->disk_bytes = r->disk_bytes;
        if (run) {
                ret->paused = run->paused;
                ret->lost_bytes += run->lost_bytes;
                ret->lost_frames += run->lost_frames;
                memcpy(ret->detail, run->detail, sizeof(ret->detail));
        }
        pthread_mutex_unlock(&r->lock);
}

uint64_t recorder_added(struct recorder *r)
{
        pthread_mutex_lock(&r->lock);
        uint64_t added = r->added;
        pthread_mutex_unlock(&r->lock);
        return added;
}

uint64_t recorder_segment_bytes(const struct recorder *r)
{
        return r->segment_bytes;
}

bool recorder_keeps_arguments(const struct recorder *r)
{
        return r->keep_arguments;
}

/* ------------------------------------------------------------------- whole */

/* Small enough that removing one does not take much of a small budget away. */
static uint64_t segment_size(const struct budget *b)
{
        uint64_t least = SEGMENT_BYTES;

        if (b->total_bytes && b->total_bytes / 8 < least)
                least = b->total_bytes / 8;
        if (b->target_bytes && b->target_bytes / 8 < least)
                least = b->target_bytes / 8;
        return least;
}

static bool check_directory(const char *path, struct error *error)
{
        int fd = private_directory_open(path, true, error);

        if (fd < 0)
                return false;
        (void)close(fd);
        return access(path, R_OK | W_OK | X_OK) == 0 || error_set(error, "%s: %s", path, strerror(errno));
}

static bool start_thread(struct recorder *r)
{
        sigset_t all, before;

        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the thread with the loop */
        r->started = pthread_create(&r->thread, NULL, write_all, r) == 0;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        return r->started;
}

struct recorder *recorder_new(const struct recorder_options *options, struct error *error)
{
        pthread_condattr_t attributes;
        struct recorder *r;

        if (!check_directory(options->directory, error))
                return NULL;
        r = calloc(1, sizeof(*r));
        if (!r) {
                error_set(error, "out of memory");
                return NULL;
        }
        snprintf(r->directory, sizeof(r->directory), "%s", options->directory);
        r->budget = options->budget;
        r->keep_arguments = options->keep_arguments;
        r->segment_bytes = segment_size(&options->budget);
        r->last = &r->first;
        pthread_mutex_init(&r->lock, NULL);
        pthread_condattr_init(&attributes);
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        pthread_cond_init(&r->more, &attributes);
        pthread_condattr_destroy(&attributes);
        r->packer = frame_packer_new();
        if (!r->packer || !start_thread(r)) {
                error_set(error, "the recorder cannot start its thread: out of memory");
                recorder_destroy(&r);
        }
        return r;
}

/* False: the disk hangs. */
static bool stop_thread(struct recorder *r)
{
        struct timespec until;

        pthread_mutex_lock(&r->lock);
        r->stop = true;
        pthread_cond_signal(&r->more);
        pthread_mutex_unlock(&r->lock);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += STOP_S;
        return pthread_timedjoin_np(r->thread, NULL, &until) == 0;
}

void recorder_destroy(struct recorder **rp)
{
        struct recorder *r = *rp;

        *rp = NULL;
        if (!r)
                return;
        if (r->started && !stop_thread(r)) {
                log_warning("recording=%s the disk has not taken the rest within %d s: it is lost", r->directory,
                            STOP_S);
                return; /* the thread still uses it */
        }
        pthread_cond_destroy(&r->more);
        pthread_mutex_destroy(&r->lock);
        frame_packer_destroy(&r->packer);
        free(r);
}

uint64_t recorder_written(struct recorder *r)
{
        pthread_mutex_lock(&r->lock);
        uint64_t written = r->written;
        pthread_mutex_unlock(&r->lock);
        return written;
}

const char *recorder_directory(const struct recorder *r)
{
        return r->directory;
}
