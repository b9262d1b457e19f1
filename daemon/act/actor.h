/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * actor.h - does what plans say, in order, and tells what became of it.
 *
 *      order ─▶ waiting ─▶ job: step, step, step ─▶ a report of each
 *
 * The steps of one order go one after the other; a step that fails does not
 * keep the next from being done. Orders of one alert go one after the other
 * too, so that its end never overtakes its beginning; those of different
 * alerts run side by side, ACTOR_JOBS_MAX at once. A step that is tried again
 * after a pause keeps its place. Belongs to one event loop.
 */
#ifndef HW_DAEMON_ACT_ACTOR_H
#define HW_DAEMON_ACT_ACTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/act/report.h"

#define ACTOR_JOBS_MAX     16u         /* at work at once */
#define ACTOR_WAITING_MAX  1000u       /* orders that wait: beyond, they are dropped, reported and counted */
#define ACTOR_RETRY_NS     1000000000u /* pause before the second attempt; doubled for each further one */
#define ACTOR_RETRY_MAX_NS 30000000000u

struct event_base;
struct actor;

struct actor_options {
        struct event_base *base;
        act_report_fn *report;
        void *ctx;
        uint64_t retry_ns; /* 0: ACTOR_RETRY_NS */
};

/* NULL when out of memory. */
struct actor *actor_new(const struct actor_options *options);

/* Kills what runs, forgets what waits, reports nothing. */
void actor_destroy(struct actor **actor);

/*
 * One transition (firing or resolved) to act on. Takes `notice`, which must be a
 * copy, and a reference of `plan`. `known` says that it was acted on before a
 * restart: only what keeps a state elsewhere (alertmanager) is done again.
 */
void actor_take(struct actor *actor, struct notice *notice, struct act_plan *plan, bool known);

struct actor_stats {
        uint64_t taken, dropped; /* orders */
        uint64_t done, failed;   /* steps */
        uint64_t retries;
        uint32_t working, waiting; /* orders, now */
};

const struct actor_stats *actor_stats(const struct actor *actor);

#endif
