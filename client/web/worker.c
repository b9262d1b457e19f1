/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * worker.c - DESIGN: two lists under one lock, jobs that wait and jobs that are done, and a thread that takes
 * from one and appends to the other. An eventfd wakes the loop, which answers: HTTP is the loop's alone.
 */
#include "client/web/server.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "client/out/http/answer.h"
#include "proto/base/event.h"
#include "proto/base/thread.h"
#include "proto/base/descriptors.h"

#define WAITING_MOST 16 /* more requests at a time are refused */

struct list {
        struct worker_job *first, **last;
};

struct worker {
        pthread_t thread;
        pthread_mutex_t lock;
        pthread_cond_t work;
        struct list waiting, done; /* these and `stop`: under the lock */
        bool stop, running;
        int wake; /* eventfd: something is done */
        struct event *ready;
        size_t open; /* the loop's: requests without an answer */
};

static void list_add(struct list *l, struct worker_job *job)
{
        job->next = NULL;
        *l->last = job;
        l->last = &job->next;
}

static struct worker_job *list_pop(struct list *l)
{
        struct worker_job *job = l->first;

        if (job)
                l->first = job->next;
        if (!l->first)
                l->last = &l->first;
        return job;
}

/* --------------------------------------------------------------------- the thread */

static void *run_worker(void *arg)
{
        static const uint64_t one = 1;
        struct worker *w = arg;

        (void)pthread_mutex_lock(&w->lock);
        while (!w->stop) {
                struct worker_job *job = list_pop(&w->waiting);
                if (!job) {
                        (void)pthread_cond_wait(&w->work, &w->lock);
                        continue;
                }
                (void)pthread_mutex_unlock(&w->lock);
                error_set(&job->error, "out of memory");
                document_open(&job->text);
                job->failed = !job->text.to || !job->work(job, &(struct json_out){ .to = job->text.to }, &job->error);
                if (!document_close(&job->text))
                        job->failed = true;
                (void)pthread_mutex_lock(&w->lock);
                list_add(&w->done, job);
                (void)!write(w->wake, &one, sizeof(one));
        }
        (void)pthread_mutex_unlock(&w->lock);
        return NULL;
}

static bool start_worker(struct worker *w)
{
        w->running = thread_create_masked(&w->thread, run_worker, w) == 0;
        return w->running;
}

/* ----------------------------------------------------------------------- the loop */

static void answer_job(struct worker *w, struct worker_job *job)
{
        if (job->failed)
                answer_error(job->req, job->status ? job->status : 503, "%s", job->error.text);
        else
                answer_json(job->req, job->text.text, job->text.size);
        document_done(&job->text);
        free(job);
        w->open--;
}

static void on_ready(evutil_socket_t fd, short what, void *arg)
{
        struct worker *w = arg;
        struct worker_job *job;
        uint64_t count;

        (void)!read(fd, &count, sizeof(count));
        do {
                (void)pthread_mutex_lock(&w->lock);
                job = list_pop(&w->done);
                (void)pthread_mutex_unlock(&w->lock);
                if (job)
                        answer_job(w, job);
        } while (job);
}

void worker_queue(struct worker *w, struct worker_job *job, struct evhttp_request *req)
{
        if (!job) {
                answer_error(req, 500, "out of memory");
                return;
        }
        if (w->open >= WAITING_MOST) {
                free(job);
                (void)evhttp_add_header(evhttp_request_get_output_headers(req), "Retry-After", "1");
                answer_error(req, 429, "too many requests of this kind; try again in a second");
                return;
        }
        job->req = req;
        w->open++;
        (void)pthread_mutex_lock(&w->lock);
        list_add(&w->waiting, job);
        (void)pthread_cond_signal(&w->work);
        (void)pthread_mutex_unlock(&w->lock);
}

/* ----------------------------------------------------------------------- its life */

struct worker *worker_new(struct event_base *base, struct error *error)
{
        struct worker *w = calloc(1, sizeof(*w));

        error_set(error, "out of memory");
        if (!w)
                return NULL;
        w->waiting.last = &w->waiting.first;
        w->done.last = &w->done.first;
        (void)pthread_mutex_init(&w->lock, NULL);
        (void)pthread_cond_init(&w->work, NULL);
        w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        w->ready = w->wake >= 0 ? event_new(base, w->wake, EV_READ | EV_PERSIST, on_ready, w) : NULL;
        if (!w->ready || event_add(w->ready, NULL) < 0 || !start_worker(w))
                worker_destroy(&w);
        return w;
}

void worker_destroy(struct worker **ref)
{
        struct worker *w = *ref;
        struct worker_job *job;

        *ref = NULL;
        if (!w)
                return;
        (void)pthread_mutex_lock(&w->lock);
        w->stop = true;
        (void)pthread_cond_signal(&w->work);
        (void)pthread_mutex_unlock(&w->lock);
        if (w->running)
                (void)pthread_join(w->thread, NULL);
        while ((job = list_pop(&w->waiting))) {
                job->failed = true;
                error_set(&job->error, "the server ends");
                answer_job(w, job);
        }
        while ((job = list_pop(&w->done)))
                answer_job(w, job);
        free_event(&w->ready);
        close_fd(&w->wake);
        (void)pthread_cond_destroy(&w->work);
        (void)pthread_mutex_destroy(&w->lock);
        free(w);
}
