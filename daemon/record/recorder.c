/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: the thread takes one job after the other (jobs.h) and collects the events of each run into frames (gather.h).
 * Whenever the queue is empty, and at least once a second, it writes what is old enough, so that a power cut loses a
 * few seconds at most.
 */
#include "daemon/record/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/source/loop/shutdown.h"
#include "daemon/record/gather.h"
#include "daemon/record/jobs.h"
#include "daemon/record/limits.h"
#include "daemon/record/run_writer.h"
#include "heapwatch/text.h"
#include "proto/base/clock.h"
#include "proto/base/descriptors.h"
#include "proto/base/private_directory.h"
#include "proto/base/thread.h"
#include "proto/eventlog/recording/run_dir.h"

struct shared_run {
        pthread_mutex_t lock; /* guards what follows */
        unsigned holders;
        uint64_t lost_bytes, lost_frames;
        bool is_written;   /* events of it are on disk */
        bool is_refused;   /* the disk has refused events or definitions of it */
        uint64_t begin_ns; /* by which its directory is named */

        /* used by the writing thread only, once the first job has been added */
        struct shared_run *next; /* in the list of runs with events not yet written */
        bool listed;
        struct gather gather;
        struct run_writer *writer;
};

struct recorder {
        char directory[RECORDED_PATH_MAX];
        int lock_fd; /* of the directory; -1: it cannot be locked */
        struct budget budget;
        bool keep_arguments;
        uint64_t segment_bytes; /* of eventlog in one segment */
        pthread_t thread;
        bool started;
        struct jobs jobs;
        struct pause pause;

        /* used by the reading thread only */
        const struct recording *first_paused; /* of those that are; never read through */
        size_t n_paused;                      /* recordings */

        pthread_mutex_t lock; /* guards what follows */
        uint64_t disk_bytes;

        /* used by the writing thread only */
        struct frame_packer *packer;
        struct blocks_spare spare;
        struct shared_run *runs; /* runs with events not yet written */
        size_t gathered;         /* bytes of all of them, not yet written */
        struct clock_steady clock;
        uint64_t look_ns; /* when to look at the disk next */
        uint64_t tidy_ns; /* when to look for old events next */
        bool refused;     /* nothing is written until the disk has taken a probe */
        bool doubted;     /* it has taken one, and no frame yet */
};

#define LOCK_NAME ".lock" /* no target has such a name */

#define LOOK_S 10 /* between two looks at the budget, and at a disk that refuses */

void recorder_run_release(struct shared_run *run)
{
        if (!run)
                return;

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

static void refuse_recording(struct recorder *r, const char *trouble)
{
        r->refused = true;
        r->doubted = false;
        pause_disk(&r->pause, trouble);
}

static void accept_disk(struct recorder *r)
{
        if (r->refused || r->doubted)
                pause_disk(&r->pause, "");
        r->refused = r->doubted = false;
}

/* Returns whether there is room for more. */
static bool enforce_budget(struct recorder *r)
{
        const uint64_t wall_ns = clock_wall_ns();
        struct budget budget = r->budget;
        struct budget_use use;

        if (!clock_tells_age(&r->clock, budget.age_ns, wall_ns, clock_mono_ns()))
                budget.age_ns = 0;
        if (budget_enforce(r->directory, &budget, wall_ns, &use) != 0)
                return true; /* the probe knows more */
        if (use.removed)
                log_debug("recording=%s removed %llu old segments", r->directory, (unsigned long long)use.removed);
        pthread_mutex_lock(&r->lock);
        r->disk_bytes = use.bytes;
        pthread_mutex_unlock(&r->lock);
        return !use.no_room;
}

static void check_disk(struct recorder *r)
{
        char trouble[128], floor[HW_NUMBER_MAX];

        r->look_ns = clock_mono_ns() + LOOK_S * UINT64_C(1000000000);
        if (!enforce_budget(r)) {
                snprintf(trouble, sizeof(trouble), "less than %s is free on its disk",
                         hw_bytes_text(floor, sizeof(floor), (double)r->budget.free_bytes));
                refuse_recording(r, trouble);
        } else if (r->refused || r->doubted) {
                /*
                 * A disk that has refused something is tried again with a probe of a frame's size. The pause ends with
                 * the next frame that it takes, or, when nothing comes, with the next probe: what a probe does not see
                 * must not end it each time.
                 */
                struct error error;
                if (!probe_write(r->directory, &error)) {
                        refuse_recording(r, error.text);
                } else if (r->doubted) {
                        accept_disk(r);
                } else {
                        r->refused = false;
                        r->doubted = true;
                }
        }
}

static void count_lost(struct shared_run *run, uint64_t bytes)
{
        pthread_mutex_lock(&run->lock);
        run->lost_bytes += bytes;
        run->lost_frames++;
        pthread_mutex_unlock(&run->lock);
}

struct writing {
        struct recorder *recorder;
        struct shared_run *run;
};

static void write_frame(void *ctx, uint32_t segment, const struct frame_head *head, const uint8_t *blocks)
{
        const struct writing *job = ctx;
        struct recorder *r = job->recorder;
        struct run_writer *w = job->run->writer;
        struct error error;
        const bool definitions = segment == 0;
        bool good = false;

        if (r->refused) {
                run_writer_skip(w, head, blocks, definitions);
        } else {
                good = definitions ? run_writer_definitions(w, r->packer, head, blocks, &error)
                                   : run_writer_blocks(w, r->packer, segment, head, blocks, &error);
                pthread_mutex_lock(&job->run->lock);
                job->run->begin_ns = run_writer_begin_ns(job->run->writer);
                pthread_mutex_unlock(&job->run->lock);
                if (good)
                        accept_disk(r);
                else
                        refuse_recording(r, error.text);
        }
        pthread_mutex_lock(&job->run->lock);
        job->run->is_written = job->run->is_written || (good && !definitions);
        job->run->is_refused = job->run->is_refused || !good;
        pthread_mutex_unlock(&job->run->lock);
        if (!good && !definitions)
                count_lost(job->run, head->raw);
}

/* Writes all waiting events of a run. */
static void write_run(struct recorder *r, struct shared_run *run)
{
        struct writing writing = { r, run };

        r->gathered -= gather_waiting(&run->gather);
        gather_frames(&run->gather, write_frame, &writing);
        r->gathered += gather_waiting(&run->gather);
}

static void unlist_run(struct recorder *r, struct shared_run *run)
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
static void tidy_runs(struct recorder *r)
{
        const uint64_t now_ns = clock_mono_ns();
        struct shared_run *next;

        r->tidy_ns = now_ns + BATCH_AGE_NS;
        for (struct shared_run *run = r->runs; run; run = next) {
                next = run->next;
                if (now_ns - run->gather.since_ns < BATCH_AGE_NS)
                        continue;
                write_run(r, run);
                unlist_run(r, run);
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
        unlist_run(r, run);
}

static void end_run(struct recorder *r, const struct job *job)
{
        struct shared_run *run = job->run;

        unlist_run(r, run);
        r->gathered -= gather_waiting(&run->gather);
        gather_end(&run->gather, job->marked);
        r->gathered += gather_waiting(&run->gather);
        write_run(r, run);
        if (run_writer_pending_bytes(run->writer)) /* nobody writes its definitions now */
                count_lost(run, run_writer_pending_bytes(run->writer));
        run_writer_destroy(&run->writer);
        gather_done(&run->gather);
        recorder_run_release(run);
}

static void do_job(struct recorder *r, const struct job *job)
{
        const struct recorded_outcome *o;

        if (job->lost_pieces) {
                write_run(r, job->run);
                gather_gap(&job->run->gather, job->lost_bytes, job->lost_pieces);
        }
        switch (job->kind) {
        case JOB_EVENTS:
        case JOB_DEFINITIONS:
                gather_job(r, job);
                break;
        case JOB_GO_ON: {
                /* If that is not possible, it gets a recording of its own, as any run. */
                struct recorded_end end;
                if (run_writer_resume(job->run->writer, &end) &&
                    !gather_resume(&job->run->gather, &end, job->same_stream))
                        run_writer_start_anew(job->run->writer);
        } break;
        case JOB_SEAL:
                write_run(r, job->run);
                break;
        case JOB_END:
                end_run(r, job);
                break;
        case JOB_OUTCOME:
                o = (const struct recorded_outcome *)(const void *)job->span.bytes;
                if (o->end.state == RUN_END_RUNNING && o->run)
                        write_run(r, o->run);
                /* A run of which nothing was written has no directory. */
                char path[RECORDED_PATH_MAX], name[RUN_NAME_MAX + 1];

                run_name_make(name, o->run ? recorder_run_begin_ns(o->run) : o->begin_ns);
                recorder_run_release(o->run);
                if (snprintf(path, sizeof(path), "%s/%s/%s", r->directory, o->target, name) < (int)sizeof(path)) {
                        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
                        const int error = fd < 0 ? 0 : run_end_write(fd, &o->end);
                        if (error < 0)
                                log_warning("recording=%s how the run ended is not kept: %s", path, strerror(-error));
                        close_fd(&fd);
                }
                break;
        }
}

static void *write_all(void *ctx)
{
        struct recorder *r = ctx;
        struct job *job;

        check_disk(r);
        do {
                while ((job = jobs_next(&r->jobs))) {
                        do_job(r, job);
                        jobs_did(&r->jobs, job);
                        if (clock_mono_ns() >= r->tidy_ns)
                                tidy_runs(r);
                        if (clock_mono_ns() >= r->look_ns)
                                check_disk(r);
                }
                tidy_runs(r);
                if (clock_mono_ns() >= r->look_ns)
                        check_disk(r);
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
        run->begin_ns = wall_ns;
        pthread_mutex_init(&run->lock, NULL);
        header = assembler_header(log, &size);
        if (header)
                run->writer = run_writer_new(r->directory, target, wall_ns, header, size);
        if (!run->writer || !gather_init(&run->gather, log, r->keep_arguments, r->segment_bytes, &r->spare)) {
                recorder_run_release(run);
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
}

struct shared_run *recorder_run_hold(struct shared_run *run)
{
        if (!run)
                return NULL;
        pthread_mutex_lock(&run->lock);
        run->holders++;
        pthread_mutex_unlock(&run->lock);
        return run;
}

uint64_t recorder_run_begin_ns(struct shared_run *run)
{
        pthread_mutex_lock(&run->lock);
        uint64_t begin_ns = run->begin_ns;
        pthread_mutex_unlock(&run->lock);
        return begin_ns;
}

void recorder_tick(struct recorder *r)
{
        uint64_t done;
        const size_t waiting = jobs_tick(&r->jobs, &done);

        pause_update(&r->pause, waiting, done, clock_mono_ns());
}

void recorder_count_pause(struct recorder *r, const struct recording *of, bool was, bool now)
{
        r->n_paused += now;
        r->n_paused -= was;
        if (now && !r->first_paused)
                r->first_paused = of;
        else if (!now && r->first_paused == of)
                r->first_paused = NULL;
}

bool recorder_first_paused(const struct recorder *r, const struct recording *of, size_t *ret_all)
{
        *ret_all = r->n_paused;
        return r->first_paused == of;
}

void recorder_full(struct recorder *r)
{
        pause_refused(&r->pause, clock_mono_ns());
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
        ret->paused = pause_reason(&r->pause, ret->detail) && ret->recording;
        pthread_mutex_lock(&run->lock);
        /* What waits in memory for a disk that has not yet had anything of the run is not recorded. */
        if (!run->is_written && (run->is_refused || pause_is_by_disk(&r->pause)))
                ret->lost_bytes = ret->bytes;
        ret->lost_bytes += run->lost_bytes;
        ret->lost_frames += run->lost_frames;
        pthread_mutex_unlock(&run->lock);
}

/* ------------------------------------------------------------------- whole */

/* 0 or an errno. flock() names no holder, so a shared lock of fcntl() is beside it. *ret_holder 0: not known. */
static int lock_file(int fd, pid_t *ret_holder)
{
        struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
                (void)fcntl(fd, F_SETLK, &lock);
                return 0;
        }
        const int failed = errno;
        lock.l_type = F_WRLCK;
        *ret_holder = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? lock.l_pid : 0;
        return failed;
}

/*
 * Two daemons in one directory would remove each other's recordings, each for its own budget. False: another one has
 * it. *ret is the lock, or -1 where there can be none. It is not open for writing, which would keep the disk from being
 * made read-only.
 */
static bool lock_directory(int directory, const char *path, int *ret, struct error *error)
{
        int fd = openat(directory, LOCK_NAME, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
        pid_t holder = 0;
        const int failed = fd >= 0 ? lock_file(fd, &holder) : errno;

        if (failed)
                close_fd(&fd);
        *ret = failed ? -1 : fd;
        if (failed == EWOULDBLOCK)
                return holder > 0 ? error_set(error, "%s is used by another daemon, process %ld", path, (long)holder)
                                  : error_set(error, "%s is used by another daemon", path);
        if (failed)
                log_warning("recording=%s cannot be locked: %s", path, strerror(failed)); /* a full disk, for example */
        return true;
}

static bool open_directory(const char *path, int *ret_lock, struct error *error)
{
        int fd = private_directory_open(path, true, error);

        *ret_lock = -1;
        if (fd < 0)
                return false;
        bool good = access(path, R_OK | W_OK | X_OK) == 0 ? lock_directory(fd, path, ret_lock, error)
                                                          : error_set(error, "%s: %s", path, strerror(errno));
        (void)close(fd);
        return good;
}

struct recorder *recorder_new(const struct recorder_options *options, struct error *error)
{
        struct recorder *r;
        int lock_fd;

        if (!open_directory(options->directory, &lock_fd, error))
                return NULL;
        r = calloc(1, sizeof(*r));
        if (!r) {
                close_fd(&lock_fd);
                error_set(error, "out of memory");
                return NULL;
        }
        r->lock_fd = lock_fd;
        snprintf(r->directory, sizeof(r->directory), "%s", options->directory);
        r->budget = options->budget;
        r->keep_arguments = options->keep_arguments;
        /* Small enough that removing one takes only a small part of a small budget. */
        const struct budget *b = &options->budget;
        uint64_t least = SEGMENT_BYTES;

        if (b->total_bytes && b->total_bytes / 8 < least)
                least = b->total_bytes / 8;
        if (b->target_bytes && b->target_bytes / 8 < least)
                least = b->target_bytes / 8;
        r->segment_bytes = least;
        pthread_mutex_init(&r->lock, NULL);
        jobs_init(&r->jobs);
        pause_init(&r->pause, r->directory);
        r->packer = frame_packer_new();
        r->started = r->packer && thread_create_masked(&r->thread, write_all, r) == 0;
        if (!r->started) {
                error_set(error, "the recorder cannot start its thread: out of memory");
                recorder_destroy(&r);
        }
        return r;
}

/* False: the disk hangs. */
static bool stop_thread(struct recorder *r)
{
        jobs_stop(&r->jobs);
        return shutdown_join(r->thread, STOP_RECORDINGS);
}

void recorder_destroy(struct recorder **rp)
{
        struct recorder *r = *rp;

        *rp = NULL;
        if (!r)
                return;
        if (r->started && !stop_thread(r)) {
                log_warning("recording=%s the rest could not be written in time: it is lost", r->directory);
                return; /* the thread still uses it */
        }
        jobs_done(&r->jobs);
        pause_done(&r->pause);
        pthread_mutex_destroy(&r->lock);
        frame_packer_destroy(&r->packer);
        blocks_spare_done(&r->spare);
        close_fd(&r->lock_fd);
        free(r);
}

uint64_t recorder_written(struct recorder *r)
{
        return jobs_written(&r->jobs);
}

void recorder_wait(void *recorder, uint64_t number, uint64_t until_ns)
{
        struct recorder *r = recorder;

        jobs_wait(&r->jobs, number, until_ns);
}

bool recorder_is_paused(struct recorder *r, char why[PAUSE_DETAIL_BYTES])
{
        return pause_reason(&r->pause, why);
}

const char *recorder_directory(const struct recorder *r)
{
        return r->directory;
}
