/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the thread takes one job after the other (jobs.h) and collects the events of each run into frames (gather.h).
 * Whenever the queue is empty, and at least once a second, it writes what is old enough, so that a power cut loses a
 * few seconds at most.
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
#include "daemon/record/gather.h"
#include "daemon/record/handover.h"
#include "daemon/record/limits.h"
#include "daemon/record/run_writer.h"
#include "proto/base/clock.h"
#include "proto/base/private_directory.h"
#include "proto/recording/run_dir.h"

struct shared_run {
        pthread_mutex_t lock; /* guards what follows */
        unsigned holders;
        uint64_t lost_bytes, lost_frames;
        bool paused;
        char detail[256];

        /* used by the writing thread only, once the first job has been added */
        struct shared_run *next; /* in the list of runs with events not yet written */
        bool listed;
        struct gather gather;
        struct run_writer *writer;
};

struct recorder {
        char directory[RECORDED_PATH_MAX];
        struct budget budget;
        bool keep_arguments;
        uint64_t segment_bytes; /* of eventlog in one segment */
        pthread_t thread;
        bool started;
        struct jobs jobs;

        pthread_mutex_t lock; /* guards what follows */
        uint64_t disk_bytes;

        /* used by the writing thread only */
        struct frame_packer *packer;
        struct shared_run *runs; /* runs with events not yet written */
        size_t gathered;         /* bytes of all of them, not yet written */
        uint64_t retry_ns;       /* nothing is written before this; 0: no failure */
        uint64_t look_ns;        /* when to enforce the budget next */
        uint64_t tidy_ns;        /* when to look for old events next */
        char trouble[256];
};

#define RETRY_NS (10 * UINT64_C(1000000000)) /* after a failure */
#define LOOK_S   10                          /* between two checks of the budget */
#define STOP_S   5

static void run_release(struct shared_run *run)
{
        pthread_mutex_lock(&run->lock);
        bool last = --run->holders == 0;
        pthread_mutex_unlock(&run->lock);
        if (!last)
                return;
        run_writer_destroy(&run->writer);
        gather_done(&run->gather);
        pthread_mutex_destroy(&run->lock);
        free(run);
}

/* ----------------------------------------------------------- writing thread */

/* Logs the beginning and the end of a failure. */
static void say(struct recorder *r, const char *trouble)
{
        if (trouble[0] && !r->trouble[0])
                log_warning("recording=%s paused: %s; targets are watched as before; trying again every 10 s",
                            r->directory, trouble);
        else if (!trouble[0] && r->trouble[0])
                log_info("recording=%s resumed", r->directory);
        snprintf(r->trouble, sizeof(r->trouble), "%s", trouble);
}

static void look_at_budget(struct recorder *r)
{
        struct budget_use use;
        char trouble[128];

        r->look_ns = clock_mono_ns() + LOOK_S * UINT64_C(1000000000);
        if (budget_enforce(r->directory, &r->budget, clock_wall_ns(), &use) != 0)
                return;
        if (use.removed)
                log_debug("recording=%s removed %llu old segments", r->directory, (unsigned long long)use.removed);
        pthread_mutex_lock(&r->lock);
        r->disk_bytes = use.bytes;
        pthread_mutex_unlock(&r->lock);
        if (!use.no_room)
                return;
        snprintf(trouble, sizeof(trouble), "less than %llu MiB is free on the disk",
                 (unsigned long long)(r->budget.free_bytes >> 20));
        say(r, trouble);
        r->retry_ns = r->look_ns;
}

/* Keeps the outcome of a frame for recorder_state. */
static void report(struct shared_run *run, bool good, uint64_t lost_bytes, const char *detail)
{
        pthread_mutex_lock(&run->lock);
        run->paused = !good;
        snprintf(run->detail, sizeof(run->detail), "%s", good ? "" : detail);
        run->lost_bytes += lost_bytes;
        run->lost_frames += lost_bytes > 0;
        pthread_mutex_unlock(&run->lock);
}

struct writing {
        struct recorder *recorder;
        struct shared_run *run;
};

/* The disk is left alone for a while when it has not taken something. */
static void write_frame(void *ctx, uint32_t segment, const struct frame_head *head, const uint8_t *blocks)
{
        const struct writing *job = ctx;
        struct recorder *r = job->recorder;
        struct run_writer *w = job->run->writer;
        struct error error = { "" };
        const bool definitions = segment == 0;
        bool good = false;

        if (r->retry_ns && clock_mono_ns() < r->retry_ns) {
                run_writer_skip(w, head, blocks, definitions);
                snprintf(error.text, sizeof(error.text), "%s", r->trouble);
        } else {
                good = definitions ? run_writer_definitions(w, r->packer, head, blocks, &error)
                                   : run_writer_blocks(w, r->packer, segment, head, blocks, &error);
                r->retry_ns = good ? 0 : clock_mono_ns() + RETRY_NS;
                say(r, good ? "" : error.text);
        }
        report(job->run, good, good || definitions ? 0 : head->raw, error.text);
}

/* Writes all waiting events of a run. */
static void write_run(struct recorder *r, struct shared_run *run)
{
        struct writing writing = { r, run };

        r->gathered -= gather_waiting(&run->gather);
        gather_frames(&run->gather, write_frame, &writing);
        r->gathered += gather_waiting(&run->gather);
}

static void unlist(struct recorder *r, struct shared_run *run)
{
        for (struct shared_run **p = &r->runs; *p; p = &(*p)->next) {
                if (*p != run)
                        continue;
                *p = run->next;
                run->listed = false;
                return;
        }
}

/* Writes what has waited long enough. */
static void tidy(struct recorder *r)
{
        const uint64_t now_ns = clock_mono_ns();
        struct shared_run *next;

        r->tidy_ns = now_ns + BATCH_AGE_NS;
        for (struct shared_run *run = r->runs; run; run = next) {
                next = run->next;
                if (now_ns - run->gather.since_ns < BATCH_AGE_NS)
                        continue;
                write_run(r, run);
                unlist(r, run);
        }
}

static void gather_job(struct recorder *r, const struct job *job)
{
        struct shared_run *run = job->run;
        const uint64_t now_ns = clock_mono_ns();

        r->gathered -= gather_waiting(&run->gather);
        if (job->kind == JOB_EVENTS)
                gather_events(&run->gather, &job->span, job->wall_ns, now_ns);
        else
                gather_definitions(&run->gather, &job->span, job->wall_ns, now_ns);
        r->gathered += gather_waiting(&run->gather);
        if (!run->listed) {
                run->listed = true;
                run->next = r->runs;
                r->runs = run;
        }
        if (gather_waiting(&run->gather) < BATCH_BYTES && r->gathered < BATCHES_BYTES)
                return;
        write_run(r, run);
        unlist(r, run);
}

static void end_run(struct recorder *r, const struct job *job)
{
        struct shared_run *run = job->run;

        unlist(r, run);
        r->gathered -= gather_waiting(&run->gather);
        gather_end(&run->gather, job->marked);
        r->gathered += gather_waiting(&run->gather);
        write_run(r, run);
        run_release(run);
}

static void do_job(struct recorder *r, const struct job *job)
{
        if (job->lost_pieces) {
                write_run(r, job->run);
                gather_gap(&job->run->gather, job->lost_bytes, job->lost_pieces);
        }
        switch (job->kind) {
        case JOB_EVENTS:
        case JOB_DEFINITIONS:
                gather_job(r, job);
                break;
        case JOB_SEAL:
                write_run(r, job->run);
                break;
        case JOB_END:
                end_run(r, job);
                break;
        }
}

static void *write_all(void *ctx)
{
        struct recorder *r = ctx;
        struct job *job;

        look_at_budget(r);
        do {
                while ((job = jobs_next(&r->jobs))) {
                        do_job(r, job);
                        jobs_did(&r->jobs, job);
                        if (clock_mono_ns() >= r->tidy_ns)
                                tidy(r);
                        if (clock_mono_ns() >= r->look_ns)
                                look_at_budget(r);
                }
                tidy(r);
                if (clock_mono_ns() >= r->look_ns)
                        look_at_budget(r);
        } while (jobs_sleep(&r->jobs, LOOK_S));
        return NULL;
}

/* ----------------------------------------------------------- reading thread */

struct shared_run *recorder_run_begin(struct recorder *r, const char *target, const struct hw_eventlog *log,
                                      uint64_t wall_ns)
{
        struct shared_run *run = calloc(1, sizeof(*run));
        size_t size = 0;
        uint8_t *header;

        if (!run)
                return NULL;
        run->holders = 1;
        pthread_mutex_init(&run->lock, NULL);
        header = assembler_header(log, &size);
        if (header)
                run->writer = run_writer_new(r->directory, target, wall_ns, header, size);
        if (!run->writer || !gather_init(&run->gather, log, r->keep_arguments, r->segment_bytes)) {
                run_release(run);
                return NULL;
        }
        run->holders = 2;
        return run;
}

void recorder_run_end(struct recorder *r, struct shared_run *run, const struct job *how)
{
        struct job job = *how;

        job.run = run;
        job.kind = JOB_END;
        /* Without memory for the job its files stay open until the daemon ends. */
        (void)jobs_add(&r->jobs, &job);
        run_release(run);
}

struct jobs *recorder_jobs(struct recorder *r)
{
        return &r->jobs;
}

void recorder_state(struct recorder *r, struct shared_run *run, struct recording_state *ret)
{
        pthread_mutex_lock(&r->lock);
        ret->disk_bytes = r->disk_bytes;
        pthread_mutex_unlock(&r->lock);
        if (!run)
                return;
        pthread_mutex_lock(&run->lock);
        ret->paused = run->paused;
        ret->lost_bytes += run->lost_bytes;
        ret->lost_frames += run->lost_frames;
        memcpy(ret->detail, run->detail, sizeof(ret->detail));
        pthread_mutex_unlock(&run->lock);
}

/* ------------------------------------------------------------------- whole */

/* Small enough that removing one takes only a small part of a small budget. */
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
        pthread_mutex_init(&r->lock, NULL);
        jobs_init(&r->jobs);
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

        jobs_stop(&r->jobs);
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
                log_warning("recording=%s the rest could not be written within %d s: it is lost", r->directory, STOP_S);
                return; /* the thread still uses it */
        }
        jobs_done(&r->jobs);
        pthread_mutex_destroy(&r->lock);
        frame_packer_destroy(&r->packer);
        free(r);
}

uint64_t recorder_written(struct recorder *r)
{
        return jobs_written(&r->jobs);
}

const char *recorder_directory(const struct recorder *r)
{
        return r->directory;
}
