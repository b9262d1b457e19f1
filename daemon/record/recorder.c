/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one queue under one lock. The reading thread appends jobs and never
 * waits for more than that lock, which is held for a few instructions; the
 * writing thread takes them, one at a time.
 *
 * A run as both threads see it (struct shared_run) belongs to the one that lets
 * go of it last.
 */
#include "daemon/record/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/record/assembler.h"
#include "daemon/record/limits.h"
#include "daemon/record/run_writer.h"
#include "proto/base/ckd.h"
#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/recording/run_dir.h"

enum job_kind { JOB_BLOCKS, JOB_DEFINITIONS, JOB_END };

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

struct recording {
        struct recorder *recorder;
        char target[RUN_TARGET_MAX + 1];
        struct assembler assembler;
        struct shared_run *run; /* NULL: between runs */
        uint32_t ordinal;       /* of the next frame */
        uint32_t segment;
        uint64_t segment_bytes, segment_begin_ns;
        uint64_t batch_since_ns; /* Unix time of the first event that waits; 0: none does */
        uint64_t bytes, definition_bytes;
        uint64_t lost_bytes; /* refused by the queue since the last frame that it took */
        uint32_t lost_frames;
        uint64_t all_lost_bytes, all_lost_frames; /* and since the run began */
};

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

/* Takes over the blocks. False: the queue is full; they are freed. */
static bool enqueue(struct recording *recording, enum job_kind kind, const struct frame_head *head, uint8_t *blocks)
{
        struct recorder *r = recording->recorder;
        struct job *job = malloc(sizeof(*job));
        bool taken;

        if (!job) {
                free(blocks);
                return false;
        }
        *job = (struct job){
                .kind = kind, .run = recording->run, .segment = recording->segment, .head = *head, .blocks = blocks
        };
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

static void lose(struct recording *r, uint64_t bytes)
{
        r->lost_bytes += bytes;
        r->lost_frames++;
        r->all_lost_bytes += bytes;
        r->all_lost_frames++;
}

static void send_definitions(struct recording *r, struct whole_blocks *which, uint32_t ordinal, uint64_t wall_ns)
{
        struct whole_blocks b = assembler_take(&r->assembler, which);
        struct frame_head head = {
                .raw = (uint32_t)b.n, .ordinal = ordinal, .begin_ns = b.begin_ns, .end_ns = b.end_ns, .wall_ns = wall_ns
        };

        if (b.n == 0)
                return;
        r->definition_bytes += b.n;
        if (r->definition_bytes > DEFINITIONS_BYTES) {
                lose(r, b.n);
                free(b.bytes);
        } else if (!enqueue(r, JOB_DEFINITIONS, &head, b.bytes)) {
                lose(r, b.n);
        }
}

/* A segment that is long enough is followed by another. */
static void turn_segment(struct recording *r, const struct frame_head *head)
{
        if (r->segment_bytes == 0)
                r->segment_begin_ns = head->begin_ns;
        r->segment_bytes += head->raw;
        if (r->segment_bytes < r->recorder->segment_bytes &&
            sub_sat(head->end_ns, r->segment_begin_ns) < SEGMENT_AGE_NS)
                return;
        r->segment_bytes = 0;
        if (r->segment < SEGMENTS_MAX)
                r->segment++;
}

/* All that waits. What belongs to every cut-out goes first: it must not be missing in what comes behind it. */
static void send_batch(struct recording *r, uint64_t wall_ns)
{
        send_definitions(r, &r->assembler.always, 0, wall_ns);
        send_definitions(r, &r->assembler.before, r->ordinal, wall_ns);
        struct whole_blocks b = assembler_take(&r->assembler, &r->assembler.stream);
        struct frame_head head = { .raw = (uint32_t)b.n,
                                   .ordinal = r->ordinal,
                                   .begin_ns = b.begin_ns,
                                   .end_ns = b.end_ns,
                                   .wall_ns = wall_ns,
                                   .lost_bytes = r->lost_bytes,
                                   .lost_frames = r->lost_frames };

        r->batch_since_ns = 0;
        if (b.n == 0)
                return;
        r->bytes += b.n;
        r->ordinal++;
        if (enqueue(r, JOB_BLOCKS, &head, b.bytes)) {
                r->lost_bytes = 0;
                r->lost_frames = 0;
        } else {
                lose(r, b.n);
        }
        turn_segment(r, &head);
}

static size_t waiting(const struct assembler *a)
{
        size_t most = a->stream.n;

        if (a->always.n > most)
                most = a->always.n;
        return a->before.n > most ? a->before.n : most;
}

/* At most so many that a frame can hold them with what waits already. */
static void take_some(struct recording *r, const struct hw_eventlog *log, const struct hw_event *events, size_t n,
                      uint64_t wall_ns)
{
        if (n > 1 && events[n - 1].offset - events[0].offset > FRAME_RAW_MAX / 4) {
                take_some(r, log, events, n / 2, wall_ns);
                take_some(r, log, events + n / 2, n - n / 2, wall_ns);
                return;
        }
        assembler_events(&r->assembler, log, events, n);
        if (r->batch_since_ns == 0)
                r->batch_since_ns = wall_ns;
        if (waiting(&r->assembler) >= BATCH_BYTES)
                send_batch(r, wall_ns);
}

void recording_events(struct recording *r, const struct hw_eventlog *log, const struct hw_event *events, size_t n,
                      uint64_t wall_ns)
{
        if (r->run && n > 0)
                take_some(r, log, events, n, wall_ns);
}

void recording_tick(struct recording *r, uint64_t wall_ns)
{
        if (r->run && r->batch_since_ns && sub_sat(wall_ns, r->batch_since_ns) >= BATCH_AGE_NS)
                send_batch(r, wall_ns);
}

void recording_begin(struct recording *r, const struct hw_eventlog *log, uint64_t wall_ns)
{
        size_t size = 0;
        uint8_t *header;
        struct shared_run *run;

        recording_end(r, false, wall_ns);
        header = assembler_header(log, &size);
        run = header ? calloc(1, sizeof(*run)) : NULL;
        if (!run)
                free(header);
        else
                run->writer = run_writer_new(r->recorder->directory, r->target, wall_ns, header, size);
        if (!run || !run->writer) {
                free(run);
                log_warning("target=%s is not recorded: out of memory", r->target);
                return;
        }
        run->holders = 2;
        r->run = run;
        r->ordinal = r->segment = 1;
        r->segment_bytes = r->batch_since_ns = r->bytes = r->definition_bytes = 0;
        r->lost_bytes = r->all_lost_bytes = r->all_lost_frames = 0;
        r->lost_frames = 0;
        assembler_begin(&r->assembler, log, r->recorder->keep_arguments);
}

void recording_end(struct recording *r, bool marked, uint64_t wall_ns)
{
        const struct frame_head none = { 0 };

        if (!r->run)
                return;
        assembler_end(&r->assembler, marked);
        send_batch(r, wall_ns);
        assembler_done(&r->assembler);
        if (!enqueue(r, JOB_END, &none, NULL))
                run_release(r->recorder, r->run); /* out of memory: its files stay open until the daemon ends */
        run_release(r->recorder, r->run);
        r->run = NULL;
}

uint64_t recording_seal(struct recording *r, uint64_t wall_ns)
{
        if (r->run)
                send_batch(r, wall_ns);
        pthread_mutex_lock(&r->recorder->lock);
        uint64_t added = r->recorder->added;
        pthread_mutex_unlock(&r->recorder->lock);
        return added;
}

void recording_state(struct recording *r, struct recording_state *ret)
{
        struct recorder *recorder = r->recorder;

        *ret = (struct recording_state){ .recording = r->run != NULL,
                                         .bytes = r->bytes,
                                         .lost_bytes = r->all_lost_bytes,
                                         .lost_frames = r->all_lost_frames };
        pthread_mutex_lock(&recorder->lock);
        ret->disk_bytes = recorder->disk_bytes;
        if (r->run) {
                ret->paused = r->run->paused;
                ret->lost_bytes += r->run->lost_bytes;
                ret->lost_frames += r->run->lost_frames;
                memcpy(ret->detail, r->run->detail, sizeof(ret->detail));
        }
        pthread_mutex_unlock(&recorder->lock);
}

struct recording *recording_new(struct recorder *recorder, const char *target)
{
        struct recording *r = calloc(1, sizeof(*r));

        if (!r)
                return NULL;
        r->recorder = recorder;
        snprintf(r->target, sizeof(r->target), "%s", target);
        return r;
}

void recording_destroy(struct recording **rp)
{
        struct recording *r = *rp;

        *rp = NULL;
        if (!r)
                return;
        recording_end(r, false, clock_wall_ns());
        free(r);
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

/* Exists, is a directory of this user, and closed to others. */
static bool check_directory(const char *path, struct error *error)
{
        struct stat st;

        if (mkdir(path, 0700) != 0 && errno != EEXIST)
                return error_set(error, "%s: %s", path, strerror(errno));
        if (stat(path, &st) != 0)
                return error_set(error, "%s: %s", path, strerror(errno));
        if (!S_ISDIR(st.st_mode))
                return error_set(error, "%s is not a directory", path);
        if (st.st_uid != geteuid())
                return error_set(error, "%s belongs to another user; recordings go into a directory of one's own",
                                 path);
        if (st.st_mode & 077)
                return error_set(error, "others may enter %s (mode %03o), and recordings are private; chmod 700 it",
                                 path, st.st_mode & 0777u);
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
