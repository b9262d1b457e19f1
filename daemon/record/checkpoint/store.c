/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a queue under one lock, like the recorder's: the reading thread waits only for that lock, which is held for a
 * few instructions.
 */
#include "daemon/record/checkpoint/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/source/loop/shutdown.h"
#include "proto/base/clock.h"
#include "proto/base/daemon_life.h"
#include "proto/base/descriptors.h"
#include "proto/base/private_directory.h"
#include "proto/base/thread.h"

#define NAME_MAX_BYTES 65u

struct job {
        struct job *next;
        char target[NAME_MAX_BYTES];
        struct checkpoint checkpoint; /* image NULL: remove it */
        uint64_t after, until_ns;     /* waits for this number until then; 0: does not wait */
};

struct checkpoint_store {
        char directory[CHECKPOINT_PATH_MAX];
        int lock_fd;
        pthread_t thread;
        bool started;

        pthread_mutex_t lock; /* guards what follows */
        pthread_cond_t more;
        struct job *first;
        size_t bytes; /* waiting, including the current one */
        bool stop;
        checkpoint_wait *wait; /* NULL: nothing is waited for */
        void *wait_ctx;
        bool waits; /* the thread is in `wait` */
        struct checkpoint_trouble trouble;
        char failed
                [NAME_MAX_BYTES]; /* the target whose checkpoint failed last: only its next one can end the trouble */
};

/* ----------------------------------------------------------- writing thread */

/* On a full disk the checkpoint of a small target may fit where that of a large one does not. `trouble`: "" none. */
static void report_written(struct checkpoint_store *s, const char *target, const char *trouble)
{
        pthread_mutex_lock(&s->lock);
        const bool concerns = trouble[0] || !strcmp(s->failed, target);
        const bool changed = strcmp(trouble, s->trouble.why) != 0, was_good = !s->trouble.why[0];
        if (concerns) {
                if (was_good)
                        s->trouble.since_wall_ns = clock_wall_ns();
                snprintf(s->trouble.why, sizeof(s->trouble.why), "%s", trouble);
                snprintf(s->failed, sizeof(s->failed), "%s", trouble[0] ? target : "");
        }
        pthread_mutex_unlock(&s->lock);
        if (!concerns)
                return;
        if (trouble[0] && changed)
                log_warning("checkpoint=%s cannot be written: %s; trying again with the next one", s->directory,
                            trouble);
        else if (!trouble[0] && !was_good)
                log_info("checkpoint=%s can be written again", s->directory);
}

static void wait_for(struct checkpoint_store *s, const struct job *job)
{
        pthread_mutex_lock(&s->lock);
        checkpoint_wait *wait = s->wait;
        void *ctx = s->wait_ctx;
        s->waits = wait != NULL;
        pthread_mutex_unlock(&s->lock);
        if (!wait)
                return;
        wait(ctx, job->after, job->until_ns);
        pthread_mutex_lock(&s->lock);
        s->waits = false;
        pthread_cond_broadcast(&s->more);
        pthread_mutex_unlock(&s->lock);
}

static struct job *next_job(struct checkpoint_store *s)
{
        pthread_mutex_lock(&s->lock);
        while (!s->first && !s->stop)
                pthread_cond_wait(&s->more, &s->lock);
        struct job *job = s->first;
        if (job)
                s->first = job->next;
        pthread_mutex_unlock(&s->lock);
        return job;
}

static void job_free(struct job *job)
{
        free(job->checkpoint.image);
        free(job);
}

static void *write_all(void *ctx)
{
        struct checkpoint_store *s = ctx;
        struct job *job;

        while ((job = next_job(s))) {
                size_t n = job->checkpoint.n;
                if (job->after)
                        wait_for(s, job);
                if (job->checkpoint.image) {
                        int r = checkpoint_write(s->directory, job->target, &job->checkpoint);
                        report_written(s, job->target, r == 0 ? "" : strerror(-r));
                } else {
                        checkpoint_remove(s->directory, job->target);
                        report_written(s, job->target, "");
                }
                job_free(job);
                pthread_mutex_lock(&s->lock);
                s->bytes -= n;
                pthread_mutex_unlock(&s->lock);
        }
        return NULL;
}

/* ----------------------------------------------------------- reading thread */

static void put_checkpoint(struct checkpoint_store *s, const char *target, const struct checkpoint *c, uint64_t after)
{
        struct job *job = calloc(1, sizeof(*job));

        if (!job) {
                free(c->image); /* the next one will do */
                return;
        }
        snprintf(job->target, sizeof(job->target), "%s", target);
        job->checkpoint = *c;
        job->after = after;
        job->until_ns = clock_mono_ns() + CHECKPOINT_AFTER_MS * UINT64_C(1000000);
        /* Replaces a waiting job of the same target. */
        struct job **place = &s->first, *old = NULL;
        pthread_mutex_lock(&s->lock);
        while (*place && strcmp((*place)->target, job->target) != 0)
                place = &(*place)->next;
        old = *place;
        job->next = old ? old->next : NULL;
        *place = job;
        s->bytes += job->checkpoint.n - (old ? old->checkpoint.n : 0);
        pthread_cond_broadcast(&s->more);
        pthread_mutex_unlock(&s->lock);
        if (old)
                job_free(old);
}

void checkpoint_store_put(struct checkpoint_store *s, const char *target, uint8_t *image, size_t n, uint64_t wall_ns,
                          uint64_t number)
{
        put_checkpoint(s, target, &(struct checkpoint){ wall_ns, image, n }, number);
}

void checkpoint_store_after(struct checkpoint_store *s, checkpoint_wait *wait, void *ctx)
{
        pthread_mutex_lock(&s->lock);
        s->wait = wait;
        s->wait_ctx = ctx;
        while (!wait && s->waits)
                pthread_cond_wait(&s->more, &s->lock);
        pthread_mutex_unlock(&s->lock);
}

void checkpoint_store_forget(struct checkpoint_store *s, const char *target)
{
        put_checkpoint(s, target, &(struct checkpoint){ 0 }, 0);
}

bool checkpoint_store_has_room(struct checkpoint_store *s)
{
        pthread_mutex_lock(&s->lock);
        bool has = s->bytes < CHECKPOINT_QUEUE_BYTES;
        pthread_mutex_unlock(&s->lock);
        return has;
}

bool checkpoint_store_trouble(struct checkpoint_store *s, struct checkpoint_trouble *ret)
{
        pthread_mutex_lock(&s->lock);
        *ret = s->trouble;
        pthread_mutex_unlock(&s->lock);
        return ret->why[0];
}

const char *checkpoint_store_directory(const struct checkpoint_store *s)
{
        return s->directory;
}

void checkpoint_store_each(const struct checkpoint_store *s, void (*each)(void *ctx, const char *target), void *ctx)
{
        const size_t suffix = strlen(CHECKPOINT_SUFFIX);
        DIR *dir = opendir(s->directory);
        char target[NAME_MAX_BYTES];
        struct dirent *entry;

        while (dir && (entry = readdir(dir))) {
                size_t n = strlen(entry->d_name);
                if (entry->d_name[0] == '.' || n <= suffix || n - suffix >= sizeof(target) ||
                    strcmp(entry->d_name + n - suffix, CHECKPOINT_SUFFIX) != 0)
                        continue;
                memcpy(target, entry->d_name, n - suffix);
                target[n - suffix] = '\0';
                each(ctx, target);
        }
        if (dir)
                closedir(dir);
}

static void set_aside(void *ctx, const char *target)
{
        const struct checkpoint_store *s = ctx;
        char from[CHECKPOINT_PATH_MAX + 128], to[CHECKPOINT_PATH_MAX + 128];

        (void)snprintf(from, sizeof(from), "%s/%s" CHECKPOINT_SUFFIX, s->directory, target);
        (void)snprintf(to, sizeof(to), "%s/%s" CHECKPOINT_SUFFIX ".aside", s->directory, target);
        if (rename(from, to) != 0)
                log_warning("target=%s checkpoint cannot be set aside: %s", target, strerror(errno));
}

void checkpoint_store_set_aside(const struct checkpoint_store *s)
{
        checkpoint_store_each(s, set_aside, (void *)(size_t)s);
}

/* ------------------------------------------------------------------- whole */

/*
 * Two daemons in one directory would use each other's checkpoints as their own. False: another one has it. *ret is the
 * lock, or -1 where there can be none.
 */
static bool lock_directory(int directory, const char *path, int *ret, struct error *error)
{
        int fd = openat(directory, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
        pid_t holder = 0;
        int r = fd >= 0 ? daemon_life_lock(fd, &holder) : -errno;

        *ret = fd;
        if (r == 0)
                return true;
        close_fd(&fd);
        *ret = -1;
        if (r == -EBUSY)
                return error_set(error, "%s is used by another daemon, process %ld", path, (long)holder);
        log_warning("checkpoint=%s cannot be locked: %s", path, strerror(-r)); /* a full disk, for example */
        return true;
}

struct checkpoint_store *checkpoint_store_new(const char *directory, struct error *error)
{
        struct checkpoint_store *s;
        int fd = private_directory_open(directory, true, error);

        if (fd < 0)
                return NULL;
        int lock_fd;
        bool locked = lock_directory(fd, directory, &lock_fd, error);
        (void)close(fd);
        if (!locked)
                return NULL;
        s = calloc(1, sizeof(*s));
        if (!s) {
                close_fd(&lock_fd);
                error_set(error, "out of memory");
                return NULL;
        }
        s->lock_fd = lock_fd;
        snprintf(s->directory, sizeof(s->directory), "%s", directory);
        pthread_mutex_init(&s->lock, NULL);
        pthread_cond_init(&s->more, NULL);
        s->started = thread_create_masked(&s->thread, write_all, s) == 0;
        if (!s->started) {
                error_set(error, "the thread that writes checkpoints cannot be started: out of memory");
                checkpoint_store_destroy(&s);
        }
        return s;
}

/* False: the disk hangs. */
static bool stop_thread(struct checkpoint_store *s)
{
        pthread_mutex_lock(&s->lock);
        s->stop = true;
        pthread_cond_signal(&s->more);
        pthread_mutex_unlock(&s->lock);
        return shutdown_join(s->thread, STOP_CHECKPOINTS);
}

void checkpoint_store_destroy(struct checkpoint_store **sp)
{
        struct checkpoint_store *s = *sp;

        *sp = NULL;
        if (!s)
                return;
        if (s->started && !stop_thread(s)) {
                log_warning("checkpoint=%s the newest could not be written in time", s->directory);
                checkpoint_store_after(s, NULL, NULL);
                return; /* the thread still uses it */
        }
        while (s->first) {
                struct job *job = s->first;
                s->first = job->next;
                job_free(job);
        }
        pthread_cond_destroy(&s->more);
        pthread_mutex_destroy(&s->lock);
        close_fd(&s->lock_fd);
        free(s);
}
