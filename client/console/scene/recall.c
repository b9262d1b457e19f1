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

enum { QUESTIONS = 1024, TIMEOUT_MS = 1000 };
#define AGAIN_NS UINT64_C(20000000000) /* at most: sooner, if the daemon's points are narrower */

struct question {
        size_t daemon;
        char target[WORLD_NAME_MAX + 1];
        uint32_t run, band;
        Hw__Series series;
        uint64_t asked_ns; /* event time */
        enum { FREE, ASKED, ANSWERED, TAKEN } state;
        struct past points; /* of the newest answer */
        bool fresh;         /* no part of an answer has come since it was asked */
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
                past_done(&(*r)->questions[i].points);
        free(*r);
        *r = NULL;
}

/* ------------------------------------------------------------------ answers */

static void take_points(struct question *q, const Hw__History *h)
{
        if (q->fresh)
                past_done(&q->points);
        q->fresh = false;
        for (size_t i = 0; i < h->n_points; i++) {
                const Hw__Point *p = h->points[i];
                struct past_point point = { .time_ns = p->time_ns,
                                            .width_ns = p->width_ns,
                                            .last_ns = p->has_last_time_ns ? p->last_time_ns : p->time_ns,
                                            .count = p->count,
                                            .min = p->min,
                                            .max = p->max,
                                            .mean = p->mean,
                                            .last = p->last };

                if (p->has_time_ns && p->has_max)
                        (void)past_append(&q->points, &point); /* out of memory: as far as it came */
        }
}

/* No answer: nothing is recalled. */
static void on_reply(void *ctx, int status, const Hw__Reply *reply)
{
        struct question *q = ctx;
        const Hw__History *h = reply && reply->what_case == HW__REPLY__WHAT_HISTORY ? reply->history : NULL;

        if (h && (!h->has_run || h->run == q->run))
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

/* Of bands, once a point more may be complete. What is kept of series here goes on by itself. */
static bool is_old(const struct question *q, const struct world_target *t)
{
        uint64_t width_ns = q->points.n ? q->points.points[0].width_ns : AGAIN_NS;

        return q->series == HW__SERIES__SERIES_NONE && q->state == TAKEN &&
               t->event_time_ns > q->asked_ns + (width_ns < AGAIN_NS ? width_ns : AGAIN_NS);
}

/* A place for a new question, or for one that is to be asked again; NULL: not now. */
static struct question *place(struct recall *r, const struct world_target *t, Hw__Series series, uint32_t band)
{
        struct question *q;

        for (size_t i = 0; i < QUESTIONS; i++) {
                q = &r->questions[i];
                if (same(q, t, series, band))
                        return is_old(q, t) ? q : NULL;
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
        h.has_band = q->series == HW__SERIES__SERIES_NONE;
        h.band = q->band;
        h.has_series = !h.has_band;
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
        if (!same(q, t, series, band))
                past_done(&q->points); /* else they stay until the answer comes */
        q->fresh = true;
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

const struct past *recall_band(const struct recall *r, const struct world_target *t, uint32_t band)
{
        for (size_t i = 0; i < QUESTIONS; i++) {
                const struct question *q = &r->questions[i];

                if (same(q, t, HW__SERIES__SERIES_NONE, band))
                        return q->points.n ? &q->points : NULL;
        }
        return NULL;
}

static void keep_series(struct question *q, struct series_past *p)
{
        for (size_t i = 0; i < q->points.n; i++) {
                const struct past_point *point = &q->points.points[i];

                (void)series_past_add(p, q->daemon, q->target, q->run, q->series, point->time_ns + point->width_ns / 2,
                                      point->max); /* or it begins later */
        }
        past_done(&q->points);
}

bool recall_collect(struct recall *r, struct series_past *p)
{
        bool any = recall_pump(r);
        struct question *q;

        while ((q = in_state(r, ANSWERED))) {
                if (q->series != HW__SERIES__SERIES_NONE)
                        keep_series(q, p);
                q->state = TAKEN;
        }
        return any;
}
