/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recall.c - one thread, a short queue of questions and one of answers.
 *
 * DESIGN: a question is known by daemon, target, run, series and band, and is
 * asked once; for a band again when its newest points have outrun the view's
 * ring (AGAIN_NS of event time). Everything shared is under one mutex, which
 * is never held while asking.
 */
#include "client/console/scene/recall.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "heapwatch/subscriber.h"

enum { QUESTIONS = 256, TIMEOUT_MS = 1000, ENDPOINT = 256 };
#define AGAIN_NS UINT64_C(20000000000)

struct question {
        size_t daemon;
        char endpoint[ENDPOINT];
        char target[WORLD_NAME_MAX + 1];
        uint32_t run, band;
        Hw__Series series;
        uint64_t asked_ns; /* event time */
        enum { FREE, WAITING, ASKED, ANSWERED, TAKEN } state;
        struct point *points; /* of the answer */
        size_t n;
};

struct recall {
        pthread_t thread;
        pthread_mutex_t lock;
        pthread_cond_t news;
        bool quit;
        pthread_cond_t idle; /* no question is left */
        struct question questions[QUESTIONS];
        size_t next; /* which one is forgotten when all are in use */
};

/* ------------------------------------------------------------------- thread */

static void take_reply(void *ctx, const Hw__Reply *reply)
{
        struct question *q = ctx;
        const Hw__History *h = reply->what_case == HW__REPLY__WHAT_HISTORY ? reply->history : NULL;
        struct point *grown;

        if (!h || !h->n_points || (h->has_run && h->run != q->run))
                return;
        grown = reallocarray(q->points, q->n + h->n_points, sizeof(*grown));
        if (!grown)
                return;
        q->points = grown;
        for (size_t i = 0; i < h->n_points; i++) {
                const Hw__Point *p = h->points[i];

                if (p->has_time_ns && p->has_max)
                        q->points[q->n++] = (struct point){ p->time_ns + p->width_ns / 2, p->max };
        }
}

static void ask(struct question *q)
{
        Hw__Request request = HW__REQUEST__INIT;
        Hw__HistoryRequest h = HW__HISTORY_REQUEST__INIT;

        h.target = q->target;
        h.has_band = q->band > 0;
        h.band = q->band;
        h.has_series = !q->band;
        h.series = q->series;
        request.what_case = HW__REQUEST__WHAT_HISTORY;
        request.history = &h;
        (void)hw_request(q->endpoint, &request, TIMEOUT_MS, take_reply, q); /* no answer: nothing is recalled */
}

static struct question *in_state(struct recall *r, int state)
{
        for (size_t i = 0; i < QUESTIONS; i++) {
                if ((int)r->questions[i].state == state)
                        return &r->questions[i];
        }
        return NULL;
}

static void *run(void *ctx)
{
        struct recall *r = ctx;

        (void)pthread_mutex_lock(&r->lock);
        while (!r->quit) {
                struct question *q = in_state(r, WAITING);

                if (!q) {
                        (void)pthread_cond_wait(&r->news, &r->lock);
                        continue;
                }
                q->state = ASKED;
                (void)pthread_mutex_unlock(&r->lock);
                ask(q); /* nobody else touches a question in this state */
                (void)pthread_mutex_lock(&r->lock);
                q->state = ANSWERED;
                if (!in_state(r, WAITING))
                        (void)pthread_cond_broadcast(&r->idle);
        }
        (void)pthread_mutex_unlock(&r->lock);
        return NULL;
}

struct recall *recall_new(void)
{
        struct recall *r = calloc(1, sizeof(*r));
        sigset_t all, before;
        int failed;

        if (!r)
                return NULL;
        (void)pthread_mutex_init(&r->lock, NULL);
        (void)pthread_cond_init(&r->news, NULL);
        (void)pthread_cond_init(&r->idle, NULL);
        (void)sigfillset(&all); /* signals are for the thread that draws */
        (void)pthread_sigmask(SIG_SETMASK, &all, &before);
        failed = pthread_create(&r->thread, NULL, run, r);
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (failed) {
                free(r);
                return NULL;
        }
        return r;
}

void recall_destroy(struct recall **r)
{
        if (!*r)
                return;
        (void)pthread_mutex_lock(&(*r)->lock);
        (*r)->quit = true;
        (void)pthread_cond_signal(&(*r)->news);
        (void)pthread_mutex_unlock(&(*r)->lock);
        (void)pthread_join((*r)->thread, NULL);
        for (size_t i = 0; i < QUESTIONS; i++)
                free((*r)->questions[i].points);
        (void)pthread_mutex_destroy(&(*r)->lock);
        (void)pthread_cond_destroy(&(*r)->news);
        (void)pthread_cond_destroy(&(*r)->idle);
        free(*r);
        *r = NULL;
}

/* ---------------------------------------------------------------- questions */

static bool same(const struct question *q, const struct world_target *t, Hw__Series series, uint32_t band)
{
        return q->state != FREE && q->daemon == t->daemon && q->run == t->run && q->series == series &&
               q->band == band && !strcmp(q->target, t->name);
}

/* A place for a new question, or for one that is to be asked again; NULL: not now. */
static struct question *place(struct recall *r, const struct world_target *t, Hw__Series series, uint32_t band)
{
        struct question *q;

        for (size_t i = 0; i < QUESTIONS; i++) {
                q = &r->questions[i];
                if (same(q, t, series, band))
                        return band && q->state == TAKEN && t->event_time_ns > q->asked_ns + AGAIN_NS ? q : NULL;
        }
        q = in_state(r, FREE);
        if (q)
                return q;
        q = &r->questions[r->next++ % QUESTIONS];
        return q->state == TAKEN ? q : NULL;
}

void recall_ask(struct recall *r, const char *endpoint, const struct world_target *t, Hw__Series series, uint32_t band)
{
        struct question *q;

        (void)pthread_mutex_lock(&r->lock);
        q = place(r, t, series, band);
        if (q && strlen(endpoint) < ENDPOINT) {
                memset(q, 0, sizeof(*q));
                q->daemon = t->daemon;
                (void)snprintf(q->endpoint, sizeof(q->endpoint), "%s", endpoint);
                (void)snprintf(q->target, sizeof(q->target), "%s", t->name);
                q->run = t->run;
                q->series = series;
                q->band = band;
                q->asked_ns = t->event_time_ns;
                q->state = WAITING;
                (void)pthread_cond_signal(&r->news);
        }
        (void)pthread_mutex_unlock(&r->lock);
}

void recall_wait(struct recall *r, int timeout_ms)
{
        struct timespec until;
        int late = 0;

        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += timeout_ms / 1000;
        (void)pthread_mutex_lock(&r->lock);
        while (!late && (in_state(r, WAITING) || in_state(r, ASKED)))
                late = pthread_cond_timedwait(&r->idle, &r->lock, &until);
        (void)pthread_mutex_unlock(&r->lock);
}

bool recall_collect(struct recall *r, struct past *p)
{
        struct question *q;
        bool any = false;

        (void)pthread_mutex_lock(&r->lock);
        while ((q = in_state(r, ANSWERED))) {
                for (size_t i = 0; i < q->n; i++)
                        (void)past_add(p, q->daemon, q->target, q->run, q->series, q->band, q->points[i].time_ns,
                                       q->points[i].value); /* short of memory: the chart begins later */
                free(q->points);
                q->points = NULL;
                q->n = 0;
                q->state = TAKEN;
                any = true;
        }
        (void)pthread_mutex_unlock(&r->lock);
        return any;
}
