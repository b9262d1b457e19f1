/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: there are two kinds of requests, at most one of each pending. `plans`
 * is sent when the daemon appears, when the rules have changed, and once a second
 * as long as it is refused (another notifier acts: this one waits to take over).
 * `outcomes` has what has changed, is sent FLUSH_MS after that, and at least once
 * a second: it tells the daemon that we are alive. What was not acknowledged is
 * sent again; it is the full state of each alert, so sending it twice does no
 * harm.
 */
#include "client/notify/acting.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/notify/dispatcher.h"
#include "client/notify/executor.h"
#include "client/notify/open_alerts.h"
#include "client/notify/plans.h"
#include "client/notify/record_file.h"
#include "client/cli/report.h"
#include "heapwatch/requester.h"
#include "heapwatch/subscriber.h"
#include "heapwatch/text.h"
#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"
#include "proto/base/event.h"
#include "proto/base/time.h"

#define UPDATES_PER_TURN 256
#define REQUEST_MS       5000
#define LEAVE_MS         500   /* for the last report to a daemon that keeps running */
#define FLUSH_MS         20    /* how long outcomes are collected */
#define RECORD_MS        200   /* the same for the record; what is newer may be done twice after SIGKILL */
#define OUTCOMES_MAX     64u   /* alerts in one request ... */
#define OUTCOMES_BYTES   40000 /* ... and their size, about: well below LIMIT_REQUEST_BYTES */

struct acting {
        struct acting_options options;
        struct hw_subscriber *subscriber;
        struct hw_requester *requester;
        struct event *updates, *again, *replies, *second, *flush, *keep;
        struct plans plans;
        struct record record;
        struct dispatcher *dispatcher;
        struct executor *executor;
        bool contacted; /* there was a message from the daemon */
        bool silent;    /* the daemon is silent now */
        bool admitted;  /* it has accepted us as its notifier */
        bool asking, reporting;
        char refusal[256];           /* the newest one; logged once */
        uint64_t sent[OUTCOMES_MAX]; /* alerts in the pending request */
        size_t n_sent;
        uint64_t done, failed, dropped; /* actions */
        uint64_t kept_changes;          /* changes of the record that the file has */
        bool not_kept;                  /* the file could not be written */
        uint64_t no_room;               /* alerts without room that were logged, */
        uint64_t no_room_ns;            /* and when, monotonic */
};

static void arm(struct event *timer, long ms)
{
        struct timeval after = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

        if (!evtimer_pending(timer, NULL))
                (void)evtimer_add(timer, &after); /* if out of memory, the next second retries */
}

/* -------------------------------------------------------------------- record */

static void write_record(struct acting *a)
{
        if (!a->options.record_path || a->kept_changes == a->record.changes)
                return;
        uint64_t changes = a->record.changes;
        int err = record_write(&a->record, a->options.record_path);
        if (err == 0)
                a->kept_changes = changes;
        if (err < 0 && !a->not_kept)
                report_warning("what was done is not kept over a restart: %s: %s", a->options.record_path,
                               strerror(-err));
        a->not_kept = err < 0;
}

/* Each time we are admitted: a notifier before us, with the same file, has done some of the work. */
static void read_record(struct acting *a)
{
        if (a->options.record_path)
                record_read(&a->record, a->options.record_path, a->options.record_before);
}

static void on_keep(evutil_socket_t fd, short what, void *ctx)
{
        (void)fd;
        (void)what;
        write_record(ctx);
}

/* ------------------------------------------------------------------- refusals */

static void report_refusal(struct acting *a, const char *what, const char *why)
{
        char safe[sizeof(a->refusal)];

        (void)hw_terminal_text(safe, sizeof(safe), why);
        if (!strcmp(safe, a->refusal))
                return;
        (void)snprintf(a->refusal, sizeof(a->refusal), "%s", safe);
        report_warning("%s: %s", what, safe);
}

/* Another notifier acts now, or none: drops what waits here; what is running finishes. */
static void lose_work(struct acting *a)
{
        a->admitted = false;
        plans_clear(&a->plans);
        dispatcher_reset(a->dispatcher);
        executor_forget_open(a->executor);
}

/* --------------------------------------------------------------------- plans */

static void on_plans(void *ctx, int status, const Hw__Reply *reply)
{
        struct acting *a = ctx;
        struct error error;

        a->asking = false;
        if (status < 0)
                return; /* the next second retries */
        if (reply->error) {
                if (a->admitted)
                        lose_work(a);
                report_refusal(a, "waiting", reply->error);
                return;
        }
        if (reply->what_case != HW__REPLY__WHAT_PLANS) {
                report_refusal(a, "waiting", "the daemon answered something other than plans");
                return;
        }
        if (!plans_replace(&a->plans, reply->plans, &error)) {
                report_refusal(a, "the plans of the daemon are not usable", error.text);
                return;
        }
        if (!a->admitted) {
                read_record(a);
                report_info("acting on alerts of %s, rules with actions: %zu", a->options.endpoint, a->plans.n);
        }
        a->refusal[0] = '\0';
        a->admitted = true;
}

static void request_plans(struct acting *a)
{
        Hw__Request request = HW__REQUEST__INIT;
        Hw__PlansRequest plans = HW__PLANS_REQUEST__INIT;

        if (a->asking)
                return;
        plans.has_notifier = plans.has_pid = true;
        plans.notifier = a->options.id;
        plans.pid = (uint32_t)getpid();
        request.what_case = HW__REQUEST__WHAT_PLANS;
        request.plans = &plans;
        a->asking = hw_requester_send(a->requester, 0, &request, REQUEST_MS, on_plans, a, NULL) == 0;
}

/* ------------------------------------------------------------------ outcomes */

struct batch {
        struct arena arena;
        Hw__OutcomesRequest message;
        Hw__AlertOutcome *alerts[OUTCOMES_MAX];
        uint64_t fingerprints[OUTCOMES_MAX];
        size_t bytes;
};

static Hw__ActionResult *result_message(struct arena *arena, const struct action_report *r)
{
        Hw__ActionResult *m = arena_zalloc(arena, sizeof(*m));
        char *detail = arena_alloc(arena, REPORT_DETAIL_MAX);

        if (!m || !detail)
                return NULL;
        hw__action_result__init(m);
        (void)hw_utf8_clean(detail, REPORT_DETAIL_MAX, r->detail, strlen(r->detail));
        m->kind = (char *)action_kind_name(r->kind);
        m->has_ok = r->outcome != OUTCOME_UNDER_WAY;
        m->ok = r->outcome == OUTCOME_DONE;
        m->detail = detail[0] ? detail : NULL;
        m->has_wall_ns = m->has_ok;
        m->wall_ns = r->wall_ns;
        m->has_attempts = m->has_step = true;
        m->attempts = r->attempts;
        m->step = r->step;
        return m;
}

static bool add_outcome(void *ctx, uint64_t fingerprint, const struct action_report *results, size_t n)
{
        struct batch *b = ctx;
        size_t at = b->message.n_alerts;

        if (at == OUTCOMES_MAX || b->bytes > OUTCOMES_BYTES)
                return false;
        Hw__AlertOutcome *m = arena_zalloc(&b->arena, sizeof(*m));
        Hw__ActionResult **actions = arena_calloc(&b->arena, n + 1, sizeof(Hw__ActionResult *));
        if (!m || !actions)
                return false;
        hw__alert_outcome__init(m);
        m->has_alert = true;
        m->alert = fingerprint;
        m->actions = actions;
        for (; m->n_actions < n; m->n_actions++)
                if (!(actions[m->n_actions] = result_message(&b->arena, &results[m->n_actions])))
                        return false;
        b->bytes += hw__alert_outcome__get_packed_size(m);
        b->fingerprints[at] = fingerprint;
        b->alerts[at] = m;
        b->message.n_alerts++;
        return true;
}

static void fill_report(struct acting *a, Hw__OutcomesRequest *m)
{
        m->has_notifier = m->has_done = m->has_failed = m->has_dropped = true;
        m->notifier = a->options.id;
        m->done = a->done;
        m->failed = a->failed;
        m->dropped = a->dropped + dispatcher_stats(a->dispatcher)->no_room_actions;
}

static void mark_unsent(struct acting *a)
{
        for (size_t i = 0; i < a->n_sent; i++)
                dispatcher_mark_changed(a->dispatcher, a->sent[i]);
        a->n_sent = 0;
}

static void on_outcomes(void *ctx, int status, const Hw__Reply *reply)
{
        struct acting *a = ctx;
        bool more = a->n_sent > 0;

        a->reporting = false;
        if (status < 0) {
                mark_unsent(a);
                return; /* the next second retries */
        }
        a->n_sent = 0;
        if (reply->error) {
                report_refusal(a, "waiting", reply->error);
                lose_work(a);
                return;
        }
        if (more)
                arm(a->flush, FLUSH_MS);
}

/* `always`: also without changes, as a sign of life. */
static void report(struct acting *a, bool always)
{
        Hw__Request request = HW__REQUEST__INIT;
        struct batch b = { .bytes = 0 };

        if (!a->admitted || a->reporting)
                return;
        arena_init(&b.arena, 0);
        hw__outcomes_request__init(&b.message);
        b.message.alerts = b.alerts;
        fill_report(a, &b.message);
        dispatcher_collect_changed(a->dispatcher, add_outcome, &b);
        memcpy(a->sent, b.fingerprints, b.message.n_alerts * sizeof(*a->sent));
        a->n_sent = b.message.n_alerts;
        request.what_case = HW__REQUEST__WHAT_OUTCOMES;
        request.outcomes = &b.message;
        if (always || a->n_sent > 0)
                a->reporting = hw_requester_send(a->requester, 0, &request, REQUEST_MS, on_outcomes, a, NULL) == 0;
        if (!a->reporting)
                mark_unsent(a);
        arena_done(&b.arena);
}

static void on_flush(evutil_socket_t fd, short what, void *ctx)
{
        (void)fd;
        (void)what;
        report(ctx, false);
}

/* -------------------------------------------------- dispatcher and executor */

static void on_act(void *ctx, const struct alert_event *event, struct action_plan *plan, bool known)
{
        struct acting *a = ctx;

        executor_add(a->executor, event, plan, known);
        arm(a->flush, FLUSH_MS);
}

static struct action_plan *on_plan_of(void *ctx, const char *group, const char *rule)
{
        return plans_find(&((struct acting *)ctx)->plans, group, rule);
}

static void on_report(void *ctx, const struct action_report *r)
{
        struct acting *a = ctx;

        a->done += r->outcome == OUTCOME_DONE;
        a->failed += r->outcome == OUTCOME_FAILED;
        a->dropped += r->outcome == OUTCOME_SKIPPED;
        dispatcher_report(a->dispatcher, r);
        arm(a->flush, FLUSH_MS);
}

static void on_over(void *ctx, const struct alert_event *event)
{
        struct acting *a = ctx;

        record_over(&a->record, event);
        arm(a->keep, RECORD_MS);
}

/* -------------------------------------------------------------------- updates */

static void apply_alerts(struct acting *a, const Hw__Update *u)
{
        if (!a->admitted || u->alerts->rules_generation != a->plans.generation) {
                request_plans(a);
                return;
        }
        dispatcher_apply(a->dispatcher, u->target, u->alerts, clock_wall_ns());
        arm(a->flush, FLUSH_MS);
}

/* Once a minute at most: there may be more with each list. */
static void log_no_room(struct acting *a)
{
        const uint64_t no_room = dispatcher_stats(a->dispatcher)->no_room, now_ns = clock_mono_ns();

        if (no_room == a->no_room || (a->no_room > 0 && now_ns - a->no_room_ns < NS_PER_MINUTE))
                return;
        report_warning("alerts=%u are open, the most that are kept: %llu more are not acted on while they are",
                       OPEN_ALERTS_MAX, (unsigned long long)(no_room - a->no_room));
        a->no_room = no_room;
        a->no_room_ns = now_ns;
}

static void apply_update(struct acting *a, const Hw__Update *u)
{
        if (u->body_case == HW__UPDATE__BODY_ALERTS)
                apply_alerts(a, u);
        else if (u->body_case == HW__UPDATE__BODY_DAEMON && a->admitted)
                dispatcher_set_targets(a->dispatcher, u->daemon->targets, u->daemon->n_targets, clock_wall_ns());
}

/* First contact, or the daemon was restarted: it numbers its rules from 1 again, and does not know us. */
static void start_over(struct acting *a)
{
        if (a->contacted)
                lose_work(a);
        a->contacted = true;
        request_plans(a);
}

static void set_silent(struct acting *a, bool silent)
{
        if (silent && !a->silent)
                report_warning("the daemon at %s is silent; nothing new is done until it is back", a->options.endpoint);
        a->silent = silent;
        executor_hold(a->executor, silent);
}

/* Returns false when there is nothing left to read. */
static bool receive_next(struct acting *a)
{
        const Hw__Update *u;

        switch (hw_subscriber_next(a->subscriber, 0, &u)) {
        case HW_SUBSCRIBER_UPDATE:
                set_silent(a, false);
                apply_update(a, u);
                return true;
        case HW_SUBSCRIBER_RESET:
                start_over(a);
                return true;
        case HW_SUBSCRIBER_STALE:
                set_silent(a, true);
                return true;
        case HW_SUBSCRIBER_READY:
        case HW_SUBSCRIBER_ALIVE:
                set_silent(a, false);
                return true;
        default: /* nothing, or out of memory: the next second retries */
                return false;
        }
}

static void on_updates(evutil_socket_t fd, short what, void *ctx)
{
        struct acting *a = ctx;

        (void)fd;
        (void)what;
        for (unsigned i = 0; i < UPDATES_PER_TURN; i++)
                if (!receive_next(a))
                        return;
        arm(a->again, 0);
}

static void on_replies(evutil_socket_t fd, short what, void *ctx)
{
        (void)fd;
        (void)what;
        (void)hw_requester_pump(((struct acting *)ctx)->requester);
}

static void on_second(evutil_socket_t fd, short what, void *ctx)
{
        struct acting *a = ctx;

        on_updates(fd, what, a);
        if (!a->admitted && !a->silent)
                request_plans(a);
        if (a->admitted && !a->silent)
                dispatcher_tick(a->dispatcher, clock_wall_ns());
        log_no_room(a);
        report(a, true);
        write_record(a);
}

/* ---------------------------------------------------------------------- life */

static bool open_endpoint(struct acting *a)
{
        static const Hw__Kind kinds[] = { HW__KIND__KIND_ALERT };
        const struct hw_subscriber_options options = {
                .endpoints = &a->options.endpoint, .n_endpoints = 1, .kinds = kinds, .n_kinds = 1
        };

        a->subscriber = hw_subscriber_new(&options);
        if (a->subscriber)
                a->requester = hw_requester_new(&a->options.endpoint, 1);
        return a->requester != NULL;
}

static bool add_events(struct acting *a)
{
        struct event_base *base = a->options.base;
        struct timeval second = { .tv_sec = 1 };

        a->updates = event_new(base, hw_subscriber_fd(a->subscriber), EV_READ | EV_PERSIST, on_updates, a);
        a->replies = event_new(base, hw_requester_fd(a->requester), EV_READ | EV_PERSIST, on_replies, a);
        a->again = evtimer_new(base, on_updates, a);
        a->flush = evtimer_new(base, on_flush, a);
        a->keep = evtimer_new(base, on_keep, a);
        a->second = event_new(base, -1, EV_PERSIST, on_second, a);
        if (!a->updates || !a->replies || !a->again || !a->flush || !a->keep || !a->second ||
            event_add(a->updates, NULL) != 0 || event_add(a->replies, NULL) != 0 || event_add(a->second, &second) != 0)
                return false;
        arm(a->again, 0);
        return true;
}

struct acting *acting_new(const struct acting_options *options)
{
        struct acting *a = calloc(1, sizeof(*a));
        int err = ENOMEM;

        if (!a)
                return NULL;
        const struct dispatcher_handler handler = { .ctx = a, .act = on_act, .plan_of = on_plan_of };
        const struct executor_options executor = {
                .base = options->base, .report = on_report, .over = on_over, .ctx = a, .endpoint = options->endpoint
        };
        a->options = *options;
        errno = 0;
        if (!open_endpoint(a)) {
                err = errno ? errno : ENOMEM;
                goto failed;
        }
        a->dispatcher = dispatcher_new(&handler, &a->record);
        a->executor = executor_new(&executor);
        if (!a->dispatcher || !a->executor || !add_events(a))
                goto failed;
        request_plans(a);
        return a;
failed:
        acting_destroy(&a);
        errno = err;
        return NULL;
}

static void no_reply(void *ctx, const Hw__Reply *reply)
{
        (void)ctx;
        (void)reply;
}

/* So that another notifier need not wait until we count as silent. */
static void leave(struct acting *a)
{
        Hw__Request request = HW__REQUEST__INIT;
        Hw__OutcomesRequest outcomes = HW__OUTCOMES_REQUEST__INIT;

        fill_report(a, &outcomes);
        outcomes.has_leaving = outcomes.leaving = true;
        request.what_case = HW__REQUEST__WHAT_OUTCOMES;
        request.outcomes = &outcomes;
        (void)hw_request(a->options.endpoint, &request, LEAVE_MS, no_reply, NULL);
}

void acting_destroy(struct acting **ap)
{
        struct acting *a = *ap;

        *ap = NULL;
        if (!a)
                return;
        executor_destroy(&a->executor);
        write_record(a);
        if (a->admitted && !a->options.attached)
                leave(a);
        free_event(&a->updates);
        free_event(&a->replies);
        free_event(&a->again);
        free_event(&a->flush);
        free_event(&a->keep);
        free_event(&a->second);
        hw_requester_destroy(&a->requester);
        hw_subscriber_destroy(&a->subscriber);
        dispatcher_destroy(&a->dispatcher);
        plans_clear(&a->plans);
        free(a);
}
