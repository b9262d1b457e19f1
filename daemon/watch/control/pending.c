/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a job is a request, packed, with how far its answer has come. The handler does as much as the client takes
 * and as the time of one turn allows; what is left is kept, and continued after a rest as of a socket
 * (daemon/publish/transport/rest.c). When no client is ready, they are looked at every LOOK_NS.
 *
 * Requests are kept as they came: unpacked, one of 64 KiB may be twenty times as large.
 */
#include "daemon/watch/control/pending.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/watch/control/requests.h"
#include "daemon/log.h"
#include "daemon/source/loop/watchdog.h"
#include "daemon/publish/transport/limits.h"
#include "daemon/publish/transport/zloop.h"
#include "proto/base/clock.h"

#define LOOK_NS UINT64_C(10000000)

struct job {
        struct bus_client *client; /* kept */
        struct snapshot_answer snapshot;
        uint64_t moved_ns; /* when something was taken last */
        bool is_snapshot;
        size_t size;
        uint8_t packed[]; /* the request */
};

struct pending {
        struct targets *targets;
        struct bus *bus;
        struct bus_handler again;
        struct rest rest;
        struct job *jobs[PENDING_MOST];
        unsigned n, next; /* whose turn it is */
};

/* ------------------------------------------------------------------ one job */

/* As far as it goes now; true: that was all. */
static bool answer_job(struct pending *p, struct job *job, const Hw__Request *request)
{
        if (job->is_snapshot)
                return snapshot_answer(&job->snapshot, request->snapshot, p->targets, job->client, &job->moved_ns);
        p->again.request(p->again.ctx, request, job->client);
        return !bus_client_again(job->client);
}

static bool is_over(struct pending *p, struct job *job)
{
        const uint64_t cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
        const char *reason = NULL;
        Hw__Request *request = hw_request_unpack(job->packed, job->size, &reason);
        /* Without memory, or of fields that cannot be read again as they were packed, there is no further answer. */
        const bool done =
                request ? answer_job(p, job, request) : offer_retry(job->client, reason ? reason : out_of_memory);

        hw_request_destroy(&request);
        bus_client_spend(job->client, clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns);
        return done;
}

/* ----------------------------------------------------------------- all jobs */

static void drop_job(struct pending *p, unsigned i)
{
        struct job *job = p->jobs[i];

        p->jobs[i] = p->jobs[--p->n];
        bus_client_release(&job->client);
        free(job);
}

/* To another request. Its client should hear of it, if it reads at all. */
static void give_way(struct pending *p, unsigned i, const char *why)
{
        log_debug("request=given_up: %s", why);
        (void)offer_retry(p->jobs[i]->client, why);
        drop_job(p, i);
}

/* Works on the next job whose client is ready. False: there is none. */
static bool work_on_one(struct pending *p)
{
        for (unsigned tries = p->n; tries > 0; tries--) {
                const unsigned i = p->next++ % p->n;
                struct job *job = p->jobs[i];
                if (bus_client_is_ready(job->client)) {
                        if (is_over(p, job))
                                drop_job(p, i);
                        return true;
                }
                if (tries == p->n) {
                        /* One that is not ready waits for what others have, unless all jobs are of one client. */
                        const struct bus_client *first = p->jobs[0]->client;
                        bool one = true;
                        for (unsigned k = 1; k < p->n && one; k++)
                                one = bus_client_is_same(p->jobs[k]->client, first);
                        bus_make_room(p->bus, one ? first : NULL); /* once, for all that wait */
                }
                if (clock_mono_ns() - job->moved_ns >= PENDING_PATIENCE_NS) {
                        log_debug("request=given_up: its client takes nothing of the answer");
                        reply_too_late(p->jobs[i]->client);
                        drop_job(p, i);
                        return true;
                }
        }
        return false;
}

/* The callback of the rest. */
static void run_turn(void *ctx)
{
        struct pending *p = ctx;
        const uint64_t began_ns = clock_mono_ns();
        bool some = true;

        watchdog_begin(WATCHDOG_REQUEST);
        while (p->n > 0 && some && clock_mono_ns() - began_ns < LIMIT_PUMP_NS)
                some = work_on_one(p);
        watchdog_end();
        if (p->n > 0 && some)
                rest_begin(&p->rest, clock_mono_ns() - began_ns);
        else if (p->n > 0)
                rest_wait(&p->rest, LOOK_NS);
        bus_pump(p->bus); /* may bring further requests */
}

static unsigned count_of(const struct pending *p, uint64_t who)
{
        unsigned n = 0;

        for (unsigned i = 0; i < p->n; i++)
                n += bus_client_who(p->jobs[i]->client) == who;
        return n;
}

/* Whose client has the most under way; of these, the one that has been waiting longest. */
static unsigned to_give_way(const struct pending *p)
{
        unsigned found = 0, most = 0;

        for (unsigned i = 0; i < p->n; i++) {
                const unsigned n = count_of(p, bus_client_who(p->jobs[i]->client));
                if (n > most || (n == most && p->jobs[i]->moved_ns < p->jobs[found]->moved_ns)) {
                        found = i;
                        most = n;
                }
        }
        return found;
}

static bool keep_job(struct pending *p, const Hw__Request *request, const struct job *begun)
{
        const size_t size = hw__request__get_packed_size(request);
        struct job *job = malloc(sizeof(*job) + size);

        if (!job)
                return false;
        *job = *begun;
        job->size = hw__request__pack(request, job->packed);
        job->client = bus_client_keep(begun->client);
        if (!job->client) {
                free(job);
                return false;
        }
        if (p->n == PENDING_MOST)
                give_way(p, to_give_way(p), "too many requests are under way; retry later");
        p->jobs[p->n++] = job;
        if (!rest_lasts(&p->rest))
                rest_begin(&p->rest, LOOK_NS / PUMP_REST);
        return true;
}

static void end_the_one_before(struct pending *p, const struct bus_client *client)
{
        for (unsigned i = 0; i < p->n; i++)
                if (p->jobs[i]->is_snapshot && bus_client_is_same(p->jobs[i]->client, client)) {
                        give_way(p, i, "this client has requested another snapshot");
                        return;
                }
}

void pending_snapshot(struct pending *p, const Hw__Request *request, struct bus_client *client)
{
        struct job job = { .client = client, .is_snapshot = true, .moved_ns = clock_mono_ns() };

        end_the_one_before(p, client);
        if (bus_client_is_ready(client) && answer_job(p, &job, request))
                return;
        if (!keep_job(p, request, &job))
                (void)offer_retry(client, out_of_memory);
}

void pending_keep(struct pending *p, const Hw__Request *request, struct bus_client *client)
{
        if (!keep_job(p, request, &(struct job){ .client = client, .moved_ns = clock_mono_ns() }))
                (void)offer_retry(client, out_of_memory);
}

unsigned pending_count(const struct pending *p)
{
        return p->n;
}

/* --------------------------------------------------------------------- life */

struct pending *pending_new(struct event_base *base, struct targets *targets, struct bus *bus,
                            const struct bus_handler *again)
{
        struct pending *p = calloc(1, sizeof(*p));

        if (!p)
                return NULL;
        *p = (struct pending){ .targets = targets, .bus = bus, .again = *again };
        if (!rest_init(&p->rest, base, run_turn, p))
                pending_destroy(&p);
        return p;
}

void pending_destroy(struct pending **p)
{
        if (!*p)
                return;
        while ((*p)->n > 0)
                drop_job(*p, 0);
        rest_done(&(*p)->rest);
        free(*p);
        *p = NULL;
}
