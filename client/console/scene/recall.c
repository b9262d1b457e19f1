/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recall.c - a short list of questions, each a request under way or its answer.
 *
 * DESIGN: a question is known by daemon, target, run, series and band, and is
 * asked once; for a band again when its newest points have outrun the world's
 * ring (AGAIN_NS of event time). A question keeps its place until it is
 * answered or given up, so a reply finds it by its address.
 */
#include "client/console/scene/recall.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"

enum { QUESTIONS = 256, TIMEOUT_MS = 1000 };
#define AGAIN_NS UINT64_C(20000000000)

struct question {
        size_t daemon;
        char target[WORLD_NAME_MAX + 1];
        uint32_t run, band;
        Hw__Series series;
        uint64_t asked_ns; /* event time */
        enum { FREE, ASKED, ANSWERED, TAKEN } state;
        struct point *points; /* of the answer */
        size_t n;
};

struct recall {
        struct hw_requester *requester;
        struct question questions[QUESTIONS];
        size_t next; /* which one is forgotten when all are in use */
};

struct recall *recall_new(struct hw_requester *requester)
{
        struct recall *r = requester ? calloc(1, sizeof(*r)) : NULL;

        if (!r) {
                hw_requester_destroy(&requester);
                return NULL;
        }
        r->requester = requester;
        return r;
}

void recall_destroy(struct recall **r)
{
        if (!*r)
                return;
        hw_requester_destroy(&(*r)->requester);
        for (size_t i = 0; i < QUESTIONS; i++)
                free((*r)->questions[i].points);
        free(*r);
        *r = NULL;
}

/* ------------------------------------------------------------------ answers */

static void take_points(struct question *q, const Hw__History *h)
{
        q->points = h->n_points ? reallocarray(NULL, h->n_points, sizeof(*q->points)) : NULL;
        for (size_t i = 0; q->points && i < h->n_points; i++) {
                const Hw__Point *p = h->points[i];

                if (p->has_time_ns && p->has_max)
                        q->points[q->n++] = (struct point){ p->time_ns + p->width_ns / 2, p->max };
        }
}

/* No answer: nothing is recalled. */
static void on_reply(void *ctx, int status, const Hw__Reply *reply)
{
        struct question *q = ctx;
        const Hw__History *h = reply && reply->what_case == HW__REPLY__WHAT_HISTORY ? reply->history : NULL;

        if (h && !q->points && (!h->has_run || h->run == q->run))
                take_points(q, h);
        if (status != HW_REPLY_PART)
                q->state = ANSWERED;
}

/* ---------------------------------------------------------------- questions */

static struct question *in_state(struct recall *r, int state)
{
        for (size_t i = 0; i < QUESTIONS; i++) {
                if ((int)r->questions[i].state == state)
                        return &r->questions[i];
        }
        return NULL;
}

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

static int send_request(struct recall *r, struct question *q)
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
        return hw_requester_send(r->requester, q->daemon, &request, TIMEOUT_MS, on_reply, q, NULL);
}

void recall_ask(struct recall *r, const struct world_target *t, Hw__Series series, uint32_t band)
{
        struct question *q = place(r, t, series, band);

        if (!q)
                return;
        memset(q, 0, sizeof(*q)); /* its points went with the answer */
        q->daemon = t->daemon;
        memcpy(q->target, t->name, sizeof(q->target));
        q->run = t->run;
        q->series = series;
        q->band = band;
        q->asked_ns = t->event_time_ns;
        q->state = send_request(r, q) < 0 ? TAKEN : ASKED;
}

int recall_fd(const struct recall *r)
{
        return hw_requester_fd(r->requester);
}

bool recall_pump(struct recall *r)
{
        (void)hw_requester_pump(r->requester);
        return in_state(r, ANSWERED) != NULL;
}

void recall_wait(struct recall *r, int timeout_ms)
{
        struct pollfd readable = { .fd = recall_fd(r), .events = POLLIN };
        uint64_t now_ms = clock_mono_ms(), until_ms = now_ms + (uint64_t)timeout_ms;

        for (; hw_requester_pump(r->requester) && now_ms < until_ms; now_ms = clock_mono_ms())
                (void)poll(&readable, 1, (int)(until_ms - now_ms)); /* a signal: the time is looked at again */
}

bool recall_collect(struct recall *r, struct past *p)
{
        bool any = recall_pump(r);
        struct question *q;

        while ((q = in_state(r, ANSWERED))) {
                for (size_t i = 0; i < q->n; i++)
                        (void)past_add(p, q->daemon, q->target, q->run, q->series, q->band, q->points[i].time_ns,
                                       q->points[i].value); /* out of memory: the chart begins later */
                free(q->points);
                q->points = NULL;
                q->n = 0;
                q->state = TAKEN;
        }
        return any;
}
