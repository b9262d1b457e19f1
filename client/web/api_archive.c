/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_archive.c - DESIGN: two lists under one lock, jobs that wait and jobs that are done, and a thread that takes from
 * one and appends to the other. An eventfd wakes the loop, which answers: HTTP is the loop's alone. The thread knows a
 * job's query and its text, nothing else.
 */
#include "client/web/api_archive.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "client/archive/host.h"
#include "client/serve/answer.h"
#include "client/web/archive_query.h"
#include "proto/base/error.h"

#define WAITING_MOST 16 /* more requests at a time are refused */

struct archive_job {
        struct archive_job *next;
        struct evhttp_request *req; /* the loop's */
        struct archived_query query;
        struct document text; /* unless failed */
        struct error error;
        bool failed;
};

struct archive_list {
        struct archive_job *first, **last;
};

struct api_archive {
        char *path;
        const struct feed *feed;
        pthread_t thread;
        pthread_mutex_t lock;
        pthread_cond_t work;
        struct archive_list waiting, done; /* these and `stop`: under the lock */
        bool stop, running;
        int wake; /* eventfd: something is done */
        struct event *ready;
        size_t open; /* the loop's: requests without an answer */
};

static void list_add(struct archive_list *l, struct archive_job *job)
{
        job->next = NULL;
        *l->last = job;
        l->last = &job->next;
}

static struct archive_job *list_take(struct archive_list *l)
{
        struct archive_job *job = l->first;

        if (job)
                l->first = job->next;
        if (!l->first)
                l->last = &l->first;
        return job;
}

/* --------------------------------------------------------------------- the thread */

static void read_archive(const char *path, struct archive_job *job)
{
        error_set(&job->error, "out of memory");
        document_open(&job->text);
        job->failed = !job->text.to ||
                      !archived_print(&(struct json_out){ .to = job->text.to }, path, &job->query, &job->error);
        if (!document_close(&job->text))
                job->failed = true;
}

static void *work(void *arg)
{
        static const uint64_t one = 1;
        struct api_archive *p = arg;

        (void)pthread_mutex_lock(&p->lock);
        while (!p->stop) {
                struct archive_job *job = list_take(&p->waiting);
                if (!job) {
                        (void)pthread_cond_wait(&p->work, &p->lock);
                        continue;
                }
                (void)pthread_mutex_unlock(&p->lock);
                read_archive(p->path, job);
                (void)pthread_mutex_lock(&p->lock);
                list_add(&p->done, job);
                (void)!write(p->wake, &one, sizeof(one));
        }
        (void)pthread_mutex_unlock(&p->lock);
        return NULL;
}

/* Signals are the loop's. */
static bool start(struct api_archive *p)
{
        sigset_t all, before;

        (void)sigfillset(&all);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before);
        p->running = pthread_create(&p->thread, NULL, work, p) == 0;
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        return p->running;
}

/* ----------------------------------------------------------------------- the loop */

static void answer(struct api_archive *p, struct archive_job *job)
{
        if (job->failed)
                answer_error(job->req, 503, "%s", job->error.text);
        else
                answer_json(job->req, job->text.text, job->text.size);
        document_done(&job->text);
        free(job);
        p->open--;
}

static void on_ready(evutil_socket_t fd, short what, void *arg)
{
        struct api_archive *p = arg;
        struct archive_job *job;
        uint64_t count;

        (void)what;
        (void)!read(fd, &count, sizeof(count));
        do {
                (void)pthread_mutex_lock(&p->lock);
                job = list_take(&p->done);
                (void)pthread_mutex_unlock(&p->lock);
                if (job)
                        answer(p, job);
        } while (job);
}

static bool parse(struct archive_query *q, const char *query, struct error *error)
{
        struct evkeyvalq parameters;
        bool good;

        if (evhttp_parse_query_str(query ? query : "", &parameters) < 0)
                return error_set(error, "malformed query");
        good = archive_query_parse(q, &parameters, error);
        evhttp_clear_headers(&parameters);
        return good;
}

static void queue(struct api_archive *p, struct evhttp_request *req, const struct archive_query *q)
{
        struct archive_job *job = calloc(1, sizeof(*job));

        if (!job) {
                answer_error(req, 500, "out of memory");
                return;
        }
        job->req = req;
        job->query = q->data;
        archive_host(job->query.host, sizeof(job->query.host), feed_endpoint(p->feed, q->daemon));
        p->open++;
        (void)pthread_mutex_lock(&p->lock);
        list_add(&p->waiting, job);
        (void)pthread_cond_signal(&p->work);
        (void)pthread_mutex_unlock(&p->lock);
}

void api_archive_answer(struct api_archive *p, struct evhttp_request *req, const char *query)
{
        static const char none[] = "{\"archive\":false,\"runs\":[],\"older\":0}\n"; /* no error: most have none */
        struct archive_query q;
        struct error error;

        if (!p || access(p->path, F_OK) < 0) {
                answer_json(req, none, strlen(none));
        } else if (!parse(&q, query, &error)) {
                answer_error(req, 400, "%s", error.text);
        } else if (q.daemon >= feed_daemons(p->feed)) {
                answer_error(req, 400, "there is no daemon of that number");
        } else if (p->open >= WAITING_MOST) {
                (void)evhttp_add_header(evhttp_request_get_output_headers(req), "Retry-After", "1");
                answer_error(req, 429, "too many requests for the archive; try again in a second");
        } else {
                queue(p, req, &q);
        }
}

/* ----------------------------------------------------------------------- its life */

struct api_archive *api_archive_new(struct event_base *base, const char *path, const struct feed *feed,
                                    struct error *error)
{
        struct api_archive *p = calloc(1, sizeof(*p));

        error_set(error, "out of memory");
        if (!p)
                return NULL;
        p->waiting.last = &p->waiting.first;
        p->done.last = &p->done.first;
        p->feed = feed;
        p->path = strdup(path);
        (void)pthread_mutex_init(&p->lock, NULL);
        (void)pthread_cond_init(&p->work, NULL);
        p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        p->ready = p->wake >= 0 ? event_new(base, p->wake, EV_READ | EV_PERSIST, on_ready, p) : NULL;
        if (!p->path || !p->ready || event_add(p->ready, NULL) < 0 || !start(p))
                api_archive_destroy(&p);
        return p;
}

void api_archive_destroy(struct api_archive **ref)
{
        struct api_archive *p = *ref;
        struct archive_job *job;

        if (!p)
                return;
        (void)pthread_mutex_lock(&p->lock);
        p->stop = true;
        (void)pthread_cond_signal(&p->work);
        (void)pthread_mutex_unlock(&p->lock);
        if (p->running)
                (void)pthread_join(p->thread, NULL);
        while ((job = list_take(&p->waiting))) {
                job->failed = true;
                error_set(&job->error, "the server ends");
                answer(p, job);
        }
        while ((job = list_take(&p->done)))
                answer(p, job);
        if (p->ready)
                event_free(p->ready);
        if (p->wake >= 0)
                (void)close(p->wake);
        (void)pthread_cond_destroy(&p->work);
        (void)pthread_mutex_destroy(&p->lock);
        free(p->path);
        free(p);
        *ref = NULL;
}
