/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: a notifier counts its actions from its own start. The sums of earlier notifiers are kept, so that the
 * daemon's counters never decrease.
 */
#include "daemon/control/notifier.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/control/notifier_child.h"
#include "daemon/log.h"
#include "proto/wire/action_plan.h"
#include "daemon/rules/rule.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"

struct counters {
        uint64_t done, failed, dropped;
};

struct notifier {
        struct notifier_child *child; /* NULL: --notify=off */
        bool has_work;
        uint64_t id; /* of the one that acts; 0: none does */
        uint32_t pid;
        uint64_t heard_ns, heard_wall_ns; /* monotonic; Unix time */
        struct counters before, now;
        char detail[256];
        Hw__Notifier message;
};

static uint64_t silent_ns(const struct notifier *n)
{
        return clock_mono_ns() - n->heard_ns;
}

/* No notifier acts any more. */
static void leave(struct notifier *n)
{
        n->before.done += n->now.done;
        n->before.failed += n->now.failed;
        n->before.dropped += n->now.dropped;
        n->now = (struct counters){ 0 };
        n->id = 0;
}

static void hear(struct notifier *n)
{
        n->heard_ns = clock_mono_ns();
        n->heard_wall_ns = clock_wall_ns();
}

static void on_child_ended(void *ctx)
{
        leave(ctx);
}

/* ------------------------------------------------------------------ requests */

bool notifier_admit(struct notifier *n, const Hw__PlansRequest *request, struct error *error)
{
        if (!request->has_notifier || request->notifier == 0)
                return error_set(error, "plans needs the number of a notifier");
        if (n->child && request->notifier != notifier_child_key(n->child))
                return error_set(
                        error,
                        "this daemon starts its own notifier; start it with --notify=off to let another one act");
        if (n->id && n->id != request->notifier && silent_ns(n) < NOTIFIER_SILENT_NS)
                return error_set(error, "another notifier acts on the alerts of this daemon, pid %" PRIu32, n->pid);
        if (n->id != request->notifier) {
                leave(n);
                n->id = request->notifier;
                n->pid = request->has_pid ? request->pid : 0;
                if (!n->child)
                        log_info("notifier: pid=%" PRIu32 " acts on alerts", n->pid);
        }
        hear(n);
        return true;
}

bool notifier_report(struct notifier *n, const Hw__OutcomesRequest *request, struct error *error)
{
        if (!n->id || !request->has_notifier || request->notifier != n->id)
                return error_set(error,
                                 "this notifier does not act on the alerts of this daemon; it may request plans");
        hear(n);
        n->now = (struct counters){ request->done, request->failed, request->dropped };
        if (request->leaving)
                leave(n);
        return true;
}

/* --------------------------------------------------------------------- rules */

/* Not of the built-in ones: most programs never grow, and need no process beside the daemon. */
static bool has_work(const struct ruleset *rules)
{
        for (size_t i = 0; i < rules->n; i++)
                if (!rules->rules[i]->builtin && rules->rules[i]->plan && action_plan_has_work(rules->rules[i]->plan))
                        return true;
        return false;
}

/* The child stays when no rule has actions any more: alerts that it acted on may not have ended yet. */
void notifier_rules(struct notifier *n, const struct ruleset *rules)
{
        n->has_work = has_work(rules);
        if (n->has_work && n->child)
                notifier_child_start(n->child);
}

void notifier_wake(void *ctx)
{
        struct notifier *n = ctx;

        if (n->child)
                notifier_child_start(n->child);
}

/* --------------------------------------------------------------------- state */

static void fill_child(struct notifier *n, Hw__Notifier *m)
{
        pid_t pid = notifier_child_pid(n->child);

        m->has_restarts = true;
        m->restarts = notifier_child_restarts(n->child);
        if (!notifier_child_is_wanted(n->child)) {
                m->state = HW__NOTIFIER__STATE__STATE_IDLE;
        } else if (!pid) {
                m->state = HW__NOTIFIER__STATE__STATE_RESTARTING;
                m->detail = (char *)notifier_child_detail(n->child);
        } else {
                m->state = n->id ? HW__NOTIFIER__STATE__STATE_RUNNING : HW__NOTIFIER__STATE__STATE_STARTING;
                m->has_pid = true;
                m->pid = (uint32_t)pid;
        }
}

static void fill_own(const struct notifier *n, Hw__Notifier *m)
{
        if (n->id && silent_ns(n) < NOTIFIER_SILENT_NS) {
                m->state = HW__NOTIFIER__STATE__STATE_RUNNING;
                m->has_pid = n->pid != 0;
                m->pid = n->pid;
        } else {
                m->state = n->has_work ? HW__NOTIFIER__STATE__STATE_AWAITED : HW__NOTIFIER__STATE__STATE_IDLE;
        }
}

void notifier_fill_state(void *ctx, Hw__DaemonState *state)
{
        struct notifier *n = ctx;
        Hw__Notifier *m = &n->message;

        hw__notifier__init(m);
        m->has_state = true;
        if (n->child)
                fill_child(n, m);
        else
                fill_own(n, m);
        m->has_heard_wall_ns = n->heard_wall_ns != 0;
        m->heard_wall_ns = n->heard_wall_ns;
        if (n->id && silent_ns(n) >= NOTIFIER_SILENT_NS) {
                snprintf(n->detail, sizeof(n->detail), "it has not reported for %" PRIu64 " s",
                         silent_ns(n) / 1000000000);
                m->detail = n->detail;
        }
        state->notifier = m;
        state->has_actions_done = state->has_actions_failed = state->has_actions_dropped = true;
        state->actions_done = n->before.done + n->now.done;
        state->actions_failed = n->before.failed + n->now.failed;
        state->actions_dropped = n->before.dropped + n->now.dropped;
}

/* ---------------------------------------------------------------------- life */

struct notifier *notifier_new(const struct notifier_options *options)
{
        struct notifier *n = calloc(1, sizeof(*n));

        if (!n)
                return NULL;
        if (options->start) {
                const struct notifier_child_options child = { .base = options->base,
                                                              .publish_endpoint = options->publish_endpoint,
                                                              .log_level = options->log_level,
                                                              .ended = on_child_ended,
                                                              .ctx = n };
                n->child = notifier_child_new(&child);
                if (!n->child)
                        notifier_destroy(&n);
        }
        return n;
}

void notifier_destroy(struct notifier **np)
{
        struct notifier *n = *np;

        *np = NULL;
        if (!n)
                return;
        notifier_child_destroy(&n->child);
        free(n);
}
