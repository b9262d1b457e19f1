/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/export/delivery.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/report.h"
#include "client/out/export/limits.h"
#include "client/out/export/plan.h"
#include "proto/base/array.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"
#include "proto/base/event.h"

void queue_init(struct send_queue *q)
{
        *q = (struct send_queue){ .last = &q->first };
}

void queue_done(struct send_queue *q)
{
        while (q->first)
                queue_drop(q);
}

bool queue_add(struct send_queue *q, struct batch *batch)
{
        struct queued *e = malloc(sizeof(*e));

        if (!e) {
                free(batch->bytes);
                return false;
        }
        *e = (struct queued){ .batch = *batch };
        *q->last = e;
        q->last = &e->next;
        q->bytes += batch->size;
        q->samples += batch->samples;
        return true;
}

bool queue_overdue(const struct send_queue *q, uint64_t most_bytes, uint64_t since_wall_ns)
{
        return q->first && (q->bytes > most_bytes || q->first->batch.wall_ns < since_wall_ns);
}

const struct batch *queue_oldest(const struct send_queue *q)
{
        return q->first ? &q->first->batch : NULL;
}

void queue_drop(struct send_queue *q)
{
        struct queued *e = q->first;

        q->first = e->next;
        if (!q->first)
                q->last = &q->first;
        q->bytes -= e->batch.size;
        q->samples -= e->batch.samples;
        free(e->batch.bytes);
        free(e);
}

/* ----------------------------------------------------------------------- delivery */

#define SAY_EVERY_NS UINT64_C(60000000000) /* a lasting failure is logged once a minute */

static const char *const failure_kinds[] = { "refused in part", "failed, tried again", "refused for good, left out" };

struct delivery {
        const struct sink_plan *plan;
        struct send_queue queue;
        struct journal *journal;
        struct sender *sender;
        struct event *timer; /* the end of a pause, or when the oldest expires */
        bool sending;
        unsigned failures;                           /* in a row */
        uint64_t not_before_ns;                      /* monotonic */
        uint64_t said_ns[ARRAY_SIZE(failure_kinds)]; /* when one of that kind was logged; 0: not since all was taken */
        struct sink_health health;
        uint64_t sent_ns; /* monotonic, of the newest success; 0: none */
};

uint64_t delivery_pause_ms(unsigned n, double random, uint64_t retry_after_ns)
{
        uint64_t ms = RETRY_FIRST_MS, asked = retry_after_ns / 1000000u;

        while (--n > 0 && ms < RETRY_MOST_MS)
                ms *= 2;
        if (ms > RETRY_MOST_MS)
                ms = RETRY_MOST_MS;
        ms = (uint64_t)((double)ms * (0.75 + 0.5 * random));
        if (asked > RETRY_AFTER_MOST_MS)
                asked = RETRY_AFTER_MOST_MS;
        return asked > ms ? asked : ms;
}

static void drop_oldest(struct delivery *d)
{
        if (d->journal)
                journal_drop(d->journal, queue_oldest(&d->queue));
        queue_drop(&d->queue);
}

/* From the loop: at `at_ns`, never before it, or at once where that has passed. */
static void send_after(struct delivery *d, uint64_t at_ns, uint64_t now_ns)
{
        const struct timeval after = timeval_of_ns(at_ns > now_ns ? at_ns - now_ns + NS_PER_MS : 0);

        (void)event_add(d->timer, &after);
}

static void send_next(struct delivery *d)
{
        uint64_t now = clock_mono_ns();

        /* Drops the oldest beyond the bounds. The one being sent belongs to the sender until it reports the outcome. */
        uint64_t wall_ns = clock_wall_ns(), since = wall_ns > d->plan->queue_ns ? wall_ns - d->plan->queue_ns : 0;

        while (!d->sending && queue_overdue(&d->queue, d->plan->queue_bytes, since)) {
                d->health.samples_lost += queue_oldest(&d->queue)->samples;
                drop_oldest(d);
        }
        if (d->sending || !queue_oldest(&d->queue))
                return;
        if (now < d->not_before_ns) {
                send_after(d, d->not_before_ns, now);
                return;
        }
        d->sending = true;
        d->sender->kind->send(d->sender, queue_oldest(&d->queue));
}

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
        send_next(ctx);
}

/* Logs a failure at once, then once a minute, each kind by itself. */
static void report_failure(struct delivery *d, const struct sent *sent, uint64_t now)
{
        const unsigned kind = sent->ok ? 0 : sent->again ? 1 : 2;

        if (d->said_ns[kind] && now - d->said_ns[kind] < SAY_EVERY_NS)
                return;
        d->said_ns[kind] = now;
        report_warning("sink=%s %s detail=\"%s\" queued_samples=%" PRIu64, d->plan->name, failure_kinds[kind],
                       sent->detail, d->queue.samples);
}

static void on_sent(void *ctx, const struct sent *sent)
{
        struct delivery *d = ctx;
        const struct batch *b = queue_oldest(&d->queue);
        uint64_t now = clock_mono_ns();

        d->sending = false;
        if (sent->ok) {
                const uint64_t refused = sent->refused < b->samples ? sent->refused : b->samples;

                d->health.samples_sent += b->samples - refused;
                d->health.samples_refused += refused;
                d->health.batches_sent++;
                d->sent_ns = now;
                if (d->failures)
                        report_info("sink=%s works again after failures=%u", d->plan->name, d->failures);
                d->failures = 0;
                if (refused)
                        report_failure(d, sent, now);
                else
                        memset(d->said_ns, 0, sizeof(d->said_ns));
                drop_oldest(d);
        } else {
                d->health.attempts_failed++;
                report_failure(d, sent, now);
                if (sent->again) {
                        uint64_t ms = delivery_pause_ms(++d->failures, drand48(), sent->retry_after_ns);

                        d->not_before_ns = now + ms * 1000000u;
                } else {
                        d->health.samples_refused += b->samples;
                        drop_oldest(d);
                }
        }
        if (queue_oldest(&d->queue)) /* from the loop, so that a sender is never called from within itself */
                send_after(d, d->not_before_ns, now);
}

/* ------------------------------------------------------------------- its life */

static void add_batch(struct delivery *d, struct batch *batch, bool journalled)
{
        uint64_t samples = batch->samples;
        struct batch copy = *batch;

        if (!queue_add(&d->queue, batch)) {
                d->health.samples_lost += samples;
                return;
        }
        if (d->journal && !journalled)
                journal_append(d->journal, &copy);
}

static void requeue_batch(void *ctx, struct batch *batch)
{
        add_batch(ctx, batch, true);
}

void delivery_add(void *ctx, struct batch *batch)
{
        struct delivery *d = ctx;

        add_batch(d, batch, false);
        send_next(d);
}

void delivery_lost(struct delivery *d, uint64_t samples)
{
        d->health.samples_lost += samples;
}

struct delivery *delivery_new(const struct sink_plan *plan, struct event_base *base, struct http *http,
                              const char *journal, struct error *error)
{
        struct delivery *d = calloc(1, sizeof(*d));

        error_set(error, "out of memory");
        if (!d)
                return NULL;
        d->plan = plan;
        queue_init(&d->queue);
        d->timer = evtimer_new(base, on_timer, d);
        d->sender = sender_new(plan, base, http, on_sent, d);
        bool whole = d->timer && d->sender;
        if (whole && *journal) {
                d->journal = journal_open(journal, plan->queue_bytes, requeue_batch, d, error);
                whole = d->journal != NULL;
        }
        if (!whole)
                (void)delivery_destroy(&d);
        else if (queue_oldest(&d->queue)) {
                report_info("sink=%s continues with queued_samples=%" PRIu64, plan->name, d->queue.samples);
                send_after(d, 0, 0);
        }
        return d;
}

uint64_t delivery_destroy(struct delivery **dp)
{
        struct delivery *d = *dp;
        uint64_t lost;

        *dp = NULL;
        if (!d)
                return 0;
        lost = d->journal ? 0 : d->queue.samples;
        sender_destroy(&d->sender);
        free_event(&d->timer);
        journal_close(&d->journal);
        queue_done(&d->queue);
        free(d);
        return lost;
}

bool delivery_idle(const struct delivery *d)
{
        return !d->queue.first;
}

void delivery_health(const struct delivery *d, struct sink_health *ret)
{
        const struct batch *b = queue_oldest(&d->queue);
        uint64_t now = clock_wall_ns();
        const char *name = ret->name, *kind = ret->kind;

        *ret = d->health;
        ret->name = name;
        ret->kind = kind;
        ret->queued_bytes = d->queue.bytes;
        ret->queued_samples = d->queue.samples;
        ret->queued_s = b ? (now > b->wall_ns ? (double)(now - b->wall_ns) / 1e9 : 0) : NAN;
        ret->sent_ago_s = d->sent_ns ? (double)(clock_mono_ns() - d->sent_ns) / 1e9 : NAN;
        ret->journal_bytes = journal_bytes(d->journal);
        ret->journal_failures = journal_failures(d->journal);
}
