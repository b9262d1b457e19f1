/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recall.c - a short list of queries, each a pending request or its answer.
 *
 * DESIGN: a query is identified by daemon, target, run, series, band and age, and is sent once; for a band again
 * when its newest point may be complete, since a band's points are coarse and all faces are to show the same number.
 * A series is kept up to date by updates; it is requested for the whole run, and for its newest hour and minutes,
 * for which the daemon keeps finer steps (daemon/model/series.h). A query keeps its place until it is answered or
 * given up, so a reply finds it by its address.
 */
#include "client/world/state/recall.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/array.h"
#include "proto/base/clock.h"

enum { QUERIES = 1024, POINTS_MOST = 16384, UPDATES_MOST = 512, AGES = 3 };
enum { SHOWN_MS = 1000, ALL_MS = 20000 }; /* to wait for one answer: for a screen, and for a report that needs all */
enum { PORTION = 128 };                   /* bands at once: a daemon answers 500 a second for long */
#define AGAIN_NS UINT64_C(20000000000)    /* sooner if the daemon's points are narrower */

/* How far back; 0: to the beginning. A little less than what the daemon keeps in steps of 10 s and of 1 s. */
static const uint64_t ages_ns[AGES] = { 0, UINT64_C(3800000000000), UINT64_C(290000000000) };

struct query {
        size_t daemon;
        char target[WORLD_NAME_MAX + 1];
        uint32_t run, band;
        Hw__Series series;
        unsigned age;      /* of ages_ns */
        bool failed;       /* there will be no answer, or it was a refusal */
        uint64_t asked_ns; /* event time */
        uint64_t width_ns; /* of the newest answer's points */
        enum { FREE, ASKED, ANSWERED, TAKEN } state;
        struct past points;         /* received and not yet collected */
        bool of_rest;               /* in place of points: */
        const Hw__Update **updates; /* likewise; each is owned */
        size_t n_updates, cap_updates;
};

struct recall {
        struct hw_requester *requester;
        int timeout_ms; /* of each request */
        struct query queries[QUERIES];
        size_t next;   /* which one is replaced when all are in use */
        size_t failed; /* of those that were collected */
};

struct recall *recall_new(struct hw_requester *requester)
{
        struct recall *r = requester ? calloc(1, sizeof(*r)) : NULL;

        if (!r) {
                hw_requester_destroy(&requester);
                return NULL;
        }
        r->requester = requester;
        r->timeout_ms = SHOWN_MS;
        return r;
}

static void drop_answer(struct query *q)
{
        past_done(&q->points);
        for (size_t i = 0; i < q->n_updates; i++)
                hw_update_unref(q->updates[i]);
        free(q->updates);
        q->updates = NULL;
        q->n_updates = q->cap_updates = 0;
}

void recall_destroy(struct recall **r)
{
        if (!*r)
                return;
        hw_requester_destroy(&(*r)->requester);
        for (size_t i = 0; i < QUERIES; i++)
                drop_answer(&(*r)->queries[i]);
        free(*r);
        *r = NULL;
}

/* ------------------------------------------------------------------ answers */

static bool is_of_rest(const Hw__Update *u)
{
        return u->body_case == HW__UPDATE__BODY_NOTES || u->body_case == HW__UPDATE__BODY_TRENDS;
}

/* Without an answer nothing is recalled. */
static void on_reply(void *ctx, int status, const Hw__Reply *reply)
{
        struct query *q = ctx;
        const Hw__History *h = reply && reply->what_case == HW__REPLY__WHAT_HISTORY ? reply->history : NULL;

        if (h && (!h->has_run || h->run == q->run) && q->points.n < POINTS_MOST)
                (void)history_points_of(h, &q->points); /* out of memory: as far as it came */
        if (reply && reply->what_case == HW__REPLY__WHAT_UPDATE && is_of_rest(reply->update) &&
            q->n_updates < UPDATES_MOST && ARRAY_RESERVE(q->updates, q->cap_updates, q->n_updates + 1)) /* the same */
                q->updates[q->n_updates++] = hw_update_ref(reply->update);
        q->failed |= status < 0 || (reply && reply->error);
        if (status != HW_REPLY_PART)
                q->state = ANSWERED;
}

/* ---------------------------------------------------------------- queries */

static struct query *in_state(struct recall *r, int state)
{
        for (size_t i = 0; i < QUERIES; i++) {
                if ((int)r->queries[i].state == state)
                        return &r->queries[i];
        }
        return NULL;
}

static bool is_same_query(const struct query *q, const struct query *other)
{
        return q->state != FREE && q->daemon == other->daemon && q->run == other->run && q->series == other->series &&
               q->band == other->band && q->age == other->age && q->of_rest == other->of_rest &&
               !strcmp(q->target, other->target);
}

/* For bands, once another point may be complete. */
static bool is_old(const struct query *q, uint64_t now_ns)
{
        uint64_t width_ns = q->width_ns && q->width_ns < AGAIN_NS ? q->width_ns : AGAIN_NS;

        return q->series == HW__SERIES__SERIES_NONE && !q->of_rest && q->state == TAKEN &&
               now_ns > q->asked_ns + width_ns;
}

/* A place for a new query, or for one that is to be sent again; NULL: not now. */
static struct query *find_place(struct recall *r, const struct query *wanted)
{
        struct query *q;

        for (size_t i = 0; i < QUERIES; i++) {
                q = &r->queries[i];
                if (is_same_query(q, wanted))
                        return is_old(q, wanted->asked_ns) ? q : NULL;
        }
        q = in_state(r, FREE);
        if (q)
                return q;
        q = &r->queries[r->next++ % QUERIES];
        return q->state == TAKEN ? q : NULL;
}

static int send_request(struct recall *r, struct query *q)
{
        Hw__Request request = HW__REQUEST__INIT;
        Hw__HistoryRequest h = HW__HISTORY_REQUEST__INIT;
        Hw__SnapshotRequest snapshot = HW__SNAPSHOT_REQUEST__INIT;
        char *target = q->target;
        Hw__Kind kinds[] = { HW__KIND__KIND_NOTE, HW__KIND__KIND_TREND };

        snapshot.targets = &target;
        snapshot.kinds = kinds;
        snapshot.n_targets = 1;
        snapshot.n_kinds = ARRAY_SIZE(kinds);
        h.target = q->target;
        h.has_band = q->series == HW__SERIES__SERIES_NONE;
        h.band = q->band;
        h.has_series = !h.has_band;
        h.series = q->series;
        h.has_from_ns = ages_ns[q->age] > 0;
        h.from_ns = q->asked_ns - ages_ns[q->age];
        request.what_case = q->of_rest ? HW__REQUEST__WHAT_SNAPSHOT : HW__REQUEST__WHAT_HISTORY;
        if (q->of_rest)
                request.snapshot = &snapshot;
        else
                request.history = &h;
        return hw_requester_send(r->requester, q->daemon, &request, r->timeout_ms, on_reply, q, NULL);
}

static void start_query(struct recall *r, const struct query *wanted)
{
        struct query *q = find_place(r, wanted);

        if (!q)
                return;
        drop_answer(q);
        *q = *wanted;
        q->state = send_request(r, q) < 0 ? TAKEN : ASKED;
}

void recall_rest(struct recall *r, const struct world_target *t)
{
        struct query q = { .daemon = t->daemon, .run = t->run, .of_rest = true };

        memcpy(q.target, t->name, sizeof(q.target));
        start_query(r, &q);
}

/* The coarse one first: the finer ones replace parts of it. */
void recall_request(struct recall *r, const struct world_target *t, Hw__Series series, uint32_t band)
{
        struct query q = {
                .daemon = t->daemon, .run = t->run, .band = band, .series = series, .asked_ns = t->event_time_ns
        };
        bool is_band = series == HW__SERIES__SERIES_NONE;

        memcpy(q.target, t->name, sizeof(q.target));
        for (q.age = 0; q.age < (is_band ? 1 : AGES); q.age++) {
                if (t->event_time_ns > ages_ns[q.age])
                        start_query(r, &q);
        }
}

void recall_forget(struct recall *r, size_t daemon, const char *target)
{
        for (size_t i = 0; i < QUERIES; i++) {
                struct query *q = &r->queries[i];

                if (q->daemon != daemon || q->state == FREE || (target && strcmp(q->target, target) != 0))
                        continue;
                q->run = 0; /* the answer to a pending one matches no run */
                q->state = q->state == ASKED ? ASKED : FREE;
                drop_answer(q);
        }
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
                (void)poll(&readable, 1, (int)(until_ms - now_ms)); /* after a signal the loop checks the time again */
}

bool recall_collect(struct recall *r, struct world *world)
{
        bool any = recall_pump(r);
        struct query *q;

        while ((q = in_state(r, ANSWERED))) {
                q->width_ns = q->points.n ? q->points.points[0].width_ns : 0;
                if (q->points.n && world) /* out of memory: its past begins later */
                        (void)world_recall(world, q->daemon, q->target, q->run, q->series, q->band, &q->points);
                for (size_t i = 0; i < q->n_updates && q->run && world; i++)
                        (void)world_apply(world, q->daemon, q->updates[i]);
                drop_answer(q);
                r->failed += q->failed;
                q->state = TAKEN;
        }
        return any;
}

/* ------------------------------------------------------------ all at once */

static void settle_recall(struct recall *r, struct world *world)
{
        recall_wait(r, 2 * ALL_MS);
        (void)recall_collect(r, world);
}

/* The total after the bands, so that it is never older than they are. */
static void recall_target(struct recall *r, struct world *world, size_t index)
{
        uint32_t asked = 0;

        for (int i = 1; i < SERIES_COUNT; i++)
                recall_request(r, world_target(world, index), (Hw__Series)i, 0);
        settle_recall(r, world);
        for (uint32_t i = 0; i < world_target(world, index)->n_bands; i++) {
                const struct world_target *t = world_target(world, index);

                if (t->bands[i])
                        recall_request(r, t, HW__SERIES__SERIES_NONE, t->bands[i]->id);
                if (t->bands[i] && ++asked % PORTION == 0)
                        settle_recall(r, world);
        }
        if (asked)
                recall_request(r, world_target(world, index), HW__SERIES__SERIES_NONE, 0);
        settle_recall(r, world);
}

size_t recall_all(struct recall *r, struct world *world)
{
        r->timeout_ms = ALL_MS;
        for (size_t i = 0; i < world_targets(world); i++)
                if (world_target(world, i)->run)
                        recall_target(r, world, i);
        return r->failed;
}
