/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * executor.h - executes plans, in order, and reports the outcome.
 *
 *      order ─▶ waiting ─▶ job: step, step, step ─▶ a report for each
 *
 * The steps of an order are done one after the other, also after a failed one.
 * Orders of one alert are done one after the other, too, so that its end never
 * overtakes its beginning; those of different alerts run in parallel,
 * EXECUTOR_JOBS_MAX at once. A step that is retried after a pause keeps its
 * place. Belongs to one event loop.
 */
#ifndef HW_CLIENT_NOTIFY_EXECUTOR_H
#define HW_CLIENT_NOTIFY_EXECUTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "client/notify/alert_event.h"
#include "client/notify/report.h"

#define EXECUTOR_JOBS_MAX     16u         /* running at once */
#define EXECUTOR_WAITING_MAX  1000u       /* orders that wait; further ones are dropped, reported and counted */
#define EXECUTOR_RETRY_NS     1000000000u /* pause before the second attempt; doubles with each further one */
#define EXECUTOR_RETRY_MAX_NS 30000000000u

struct event_base;
struct executor;

struct executor_options {
        struct event_base *base;
        action_report_fn *report;
        /* All steps of an event are over, or it was dropped; not called for known ones. */
        void (*over)(void *ctx, const struct alert_event *event);
        void *ctx;
        uint64_t retry_ns;    /* 0: EXECUTOR_RETRY_NS */
        const char *endpoint; /* of the daemon, for its recordings; borrowed */
};

/* NULL when out of memory. */
struct executor *executor_new(const struct executor_options *options);

/* Kills what is running, drops what waits, reports nothing. */
void executor_destroy(struct executor **executor);

/*
 * One event to act on; event and plan are shared by reference. `known` says that
 * it was acted on before: only what keeps a state elsewhere (alertmanager) is
 * done again.
 */
void executor_add(struct executor *executor, const struct alert_event *event, struct action_plan *plan, bool known);

/*
 * While held, nothing is sent to Alertmanagers again: the daemon is silent, so the state of alerts is
 * unknown. They expire there.
 */
void executor_hold(struct executor *executor, bool held);

struct executor_stats {
        uint64_t dropped;          /* orders */
        uint64_t done, failed;     /* steps */
        uint32_t working, waiting; /* orders, now */
};

const struct executor_stats *executor_stats(const struct executor *executor);

#endif
