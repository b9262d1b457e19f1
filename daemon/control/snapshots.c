/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a job is a request with how far its answer has come: the daemon's state, target by target, the end. The
 * handler does as much as the client takes and as the time of one turn allows; what is left is kept, with a copy of the
 * request, and continued by timers.
 *
 * The timers are those of a socket (daemon/transport/zloop.c): after a turn there is a rest of three times its length,
 * or until nobody else has work. When no client is ready, they are looked at every LOOK_MS.
 *
 * A target is found again by its name: others may have been removed meanwhile. Between two targets there is no name to
 * go by, and the late joiner may miss one: that one's heartbeat shows it the gap within a second.
 */
#include "daemon/control/snapshots.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/loop/watchdog.h"
#include "daemon/publish/publisher.h"
#include "daemon/target/pipeline.h"
#include "daemon/target/targets.h"
#include "daemon/transport/bus.h"
#include "daemon/transport/limits.h"
#include "proto/base/clock.h"
#include "proto/wire/limits.h"

#define LOOK_MS  10
#define RETRY_NS UINT64_C(1000000000)

struct job {
        struct bus_client *client; /* the handler's, or kept */
        Hw__Request *request;      /* of a job that is kept */
        const Hw__SnapshotRequest *wanted;
        bool begun;                             /* the daemon's state was taken */
        size_t at;                              /* which target is next ... */
        char name[LIMIT_TARGET_NAME_BYTES + 1]; /* ... and its name; "": not begun */
        struct snapshot target;                 /* how far it has come */
        bool gone;                              /* the client */
        uint64_t moved_ns;                      /* when something was taken last */
};

struct snapshots {
        struct targets *targets;
        struct bus *bus;
        struct event *share, *idle; /* as in zloop.c */
        struct job *jobs[SNAPSHOTS_MOST];
        unsigned n, next; /* whose turn it is */
};

enum progress { JOB_DONE, JOB_TIME_OVER, JOB_WAITS };

/* ------------------------------------------------------------------ one job */

/* Counts as taken also when the client is gone: there is nothing more to do then. */
static bool offer(struct job *job, Hw__Reply *reply)
{
        const enum bus_took took = bus_offer(job->client, reply);

        if (took == BUS_TAKES_LATER)
                return false;
        job->gone = job->gone || took == BUS_GONE;
        job->moved_ns = clock_mono_ns();
        return true;
}

static bool offer_update(void *job, const Hw__Update *update)
{
        Hw__Reply reply = HW__REPLY__INIT;

        reply.has_more = reply.more = true;
        reply.what_case = HW__REPLY__WHAT_UPDATE;
        reply.update = (Hw__Update *)update;
        return offer(job, &reply);
}

static bool offer_end(struct job *job, uint64_t epoch)
{
        Hw__Reply reply = HW__REPLY__INIT;
        Hw__SnapshotEnd end = HW__SNAPSHOT_END__INIT;

        end.has_epoch = true;
        end.epoch = epoch;
        reply.what_case = HW__REPLY__WHAT_SNAPSHOT_END;
        reply.snapshot_end = &end;
        return offer(job, &reply);
}

static bool offer_error(struct job *job, const char *error)
{
        Hw__Reply reply = HW__REPLY__INIT;

        reply.error = (char *)error;
        reply.what_case = HW__REPLY__WHAT_RETRY_AFTER_NS;
        reply.retry_after_ns = RETRY_NS;
        return offer(job, &reply);
}

static bool is_wanted(const Hw__SnapshotRequest *request, const char *name)
{
        for (size_t i = 0; i < request->n_targets; i++)
                if (!strcmp(request->targets[i], name))
                        return true;
        return request->n_targets == 0;
}

/* The target that is next, or goes on; NULL: there are no more. */
static struct pipeline *next_target(struct job *job, const struct targets *targets)
{
        struct pipeline *p = job->at < targets_count(targets) ? targets_get(targets, job->at) : NULL;

        if (!job->name[0] || (p && !strcmp(job->name, pipeline_name(p))))
                return p;
        for (size_t i = 0; i < targets_count(targets); i++)
                if (!strcmp(job->name, pipeline_name(targets_get(targets, i)))) {
                        job->at = i;
                        return targets_get(targets, i);
                }
        job->target = (struct snapshot){ 0 };
        return p;
}

/* 0, or as of publisher_snapshot. */
static int offer_target(struct job *job, struct pipeline *p)
{
        int status = 0;

        (void)snprintf(job->name, sizeof(job->name), "%s", pipeline_name(p));
        if (is_wanted(job->wanted, job->name)) {
                job->target.kinds = job->wanted->kinds;
                job->target.n_kinds = job->wanted->n_kinds;
                job->target.each = offer_update;
                job->target.ctx = job;
                status = pipeline_snapshot(p, &job->target);
        }
        if (status == 0) {
                job->target = (struct snapshot){ 0 };
                job->name[0] = '\0';
                job->at++;
        }
        return status;
}

/* Of all targets. */
static enum progress offer_targets(struct snapshots *s, struct job *job, uint64_t began_ns)
{
        struct pipeline *p;

        while (!job->gone && (p = next_target(job, s->targets))) {
                const int status = offer_target(job, p);
                if (status == -EAGAIN)
                        return JOB_WAITS;
                if (status != 0) /* no SNAPSHOT_END: it is incomplete */
                        return offer_error(job, "the daemon is out of memory; retry later, or request less")
                                       ? JOB_DONE
                                       : JOB_WAITS;
                if (clock_mono_ns() - began_ns >= LIMIT_PUMP_NS)
                        return JOB_TIME_OVER;
        }
        return job->gone || offer_end(job, targets_epoch(s->targets)) ? JOB_DONE : JOB_WAITS;
}

static enum progress work(struct snapshots *s, struct job *job)
{
        const uint64_t began_ns = clock_mono_ns();

        if (!job->begun && !offer_update(job, targets_daemon_state(s->targets)))
                return JOB_WAITS;
        job->begun = true;
        return offer_targets(s, job, began_ns);
}

/* ----------------------------------------------------------------- all jobs */

static void drop(struct snapshots *s, unsigned i)
{
        struct job *job = s->jobs[i];

        s->jobs[i] = s->jobs[--s->n];
        bus_client_release(&job->client);
        hw_request_destroy(&job->request);
        free(job);
}

/* Its client should hear of it, if it reads at all. */
static void give_up(struct snapshots *s, unsigned i, const char *why)
{
        log_debug("snapshot=given_up: %s", why);
        (void)offer_error(s->jobs[i], why);
        drop(s, i);
}

static void look_again(struct snapshots *s, uint64_t after_us, bool at_once)
{
        const struct timeval rest = { (time_t)(after_us / 1000000), (suseconds_t)(after_us % 1000000) }, now = { 0, 0 };

        (void)event_add(s->share, &rest);
        if (at_once)
                (void)event_add(s->idle, &now);
        else
                (void)event_del(s->idle);
}

static bool is_over(struct snapshots *s, struct job *job)
{
        const uint64_t cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
        const bool done = work(s, job) == JOB_DONE;

        bus_client_spend(job->client, clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns);
        return done;
}

/* Works on the next job whose client is ready. False: there is none. */
static bool work_on_one(struct snapshots *s)
{
        for (unsigned tries = s->n; tries > 0; tries--) {
                const unsigned i = s->next++ % s->n;
                struct job *job = s->jobs[i];
                if (bus_client_is_ready(job->client)) {
                        if (is_over(s, job))
                                drop(s, i);
                        return true;
                }
                if (clock_mono_ns() - job->moved_ns >= SNAPSHOT_PATIENCE_NS) {
                        give_up(s, i, "the client takes nothing of the snapshot");
                        return true;
                }
        }
        return false;
}

static void on_turn(evutil_socket_t fd, short what, void *ctx)
{
        struct snapshots *s = ctx;
        const uint64_t began_ns = clock_mono_ns();
        bool some = true;

        (void)fd;
        (void)what;
        (void)event_del(s->share);
        (void)event_del(s->idle);
        watchdog_begin(WATCHDOG_REQUEST);
        while (s->n > 0 && some && clock_mono_ns() - began_ns < LIMIT_PUMP_NS)
                some = work_on_one(s);
        watchdog_end();
        if (s->n > 0)
                look_again(s, some ? PUMP_REST * (clock_mono_ns() - began_ns) / 1000 : LOOK_MS * 1000, some);
        bus_pump(s->bus); /* may bring further requests */
}

/* Who has been waiting longest makes room. */
static void make_room(struct snapshots *s)
{
        unsigned oldest = 0;

        for (unsigned i = 1; i < s->n; i++)
                if (s->jobs[i]->moved_ns < s->jobs[oldest]->moved_ns)
                        oldest = i;
        if (s->n == SNAPSHOTS_MOST)
                give_up(s, oldest, "too many snapshots are under way; retry later");
}

/* A copy, for later. NULL when out of memory. */
static Hw__Request *copy_of(const Hw__SnapshotRequest *wanted)
{
        Hw__Request whole = HW__REQUEST__INIT;
        const char *reason;

        whole.what_case = HW__REQUEST__WHAT_SNAPSHOT;
        whole.snapshot = (Hw__SnapshotRequest *)wanted;
        const size_t size = hw__request__get_packed_size(&whole);
        uint8_t *packed = malloc(size + 1);
        if (!packed)
                return NULL;
        (void)hw__request__pack(&whole, packed);
        Hw__Request *copy = hw_request_unpack(packed, size, &reason);
        free(packed);
        return copy;
}

static bool keep(struct snapshots *s, const struct job *begun)
{
        struct job *job = malloc(sizeof(*job));

        if (!job)
                return false;
        *job = *begun;
        job->client = bus_client_keep(begun->client);
        job->request = copy_of(begun->wanted);
        if (!job->client || !job->request) {
                bus_client_release(&job->client);
                hw_request_destroy(&job->request);
                free(job);
                return false;
        }
        job->wanted = job->request->snapshot;
        make_room(s);
        s->jobs[s->n++] = job;
        return true;
}

static void end_the_one_before(struct snapshots *s, const struct bus_client *client)
{
        for (unsigned i = 0; i < s->n; i++)
                if (bus_client_is_same(s->jobs[i]->client, client)) {
                        give_up(s, i, "this client has requested another snapshot");
                        return;
                }
}

void snapshots_answer(struct snapshots *s, const Hw__SnapshotRequest *request, struct bus_client *client)
{
        struct job job = { .client = client, .wanted = request, .moved_ns = clock_mono_ns() };

        end_the_one_before(s, client);
        if (bus_client_is_ready(client) && work(s, &job) == JOB_DONE)
                return;
        if (keep(s, &job))
                look_again(s, LOOK_MS * 1000, true);
        else
                (void)offer_error(&job, "the daemon is out of memory; retry later, or request less");
}

unsigned snapshots_count(const struct snapshots *s)
{
        return s->n;
}

/* --------------------------------------------------------------------- life */

struct snapshots *snapshots_new(struct event_base *base, struct targets *targets, struct bus *bus)
{
        struct snapshots *s = calloc(1, sizeof(*s));

        if (!s)
                return NULL;
        *s = (struct snapshots){ .targets = targets, .bus = bus };
        s->share = evtimer_new(base, on_turn, s);
        s->idle = evtimer_new(base, on_turn, s);
        if (!s->share || !s->idle || event_priority_set(s->share, LOOP_FIRST) ||
            event_priority_set(s->idle, event_base_get_npriorities(base) - 1))
                snapshots_destroy(&s);
        return s;
}

void snapshots_destroy(struct snapshots **s)
{
        if (!*s)
                return;
        while ((*s)->n > 0)
                drop(*s, 0);
        if ((*s)->share)
                event_free((*s)->share);
        if ((*s)->idle)
                event_free((*s)->idle);
        free(*s);
        *s = NULL;
}
