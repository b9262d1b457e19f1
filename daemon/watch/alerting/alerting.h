/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alerting.h - judges the rules for one target: evaluates them on the
 * pipeline's state at the right moments, and publishes the results.
 *
 *      model, tracker ─tick─▶ rules ─▶ alerts ─▶ publisher
 *                                          └──▶ hooks (tests of rules)
 *
 * Rules of runs are judged at each second of event time that the tracker's
 * watermark passes, so they depend only on the log. Rules of the target are
 * judged by the daemon's clock (live: in the heartbeat) or by the log's
 * (finished logs).
 *
 * Judging after a silence may take longer than a turn of the loop:
 * alerting_turn sets a deadline. The rest waits in the tracker (tracker_waits).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/model/model.h"
#include "daemon/publish/alert_extra.h"
#include "daemon/judge/rules/alerts.h"

struct alerting;
struct publisher;
struct tracker;

/* Further callbacks. All may be NULL; what they are given is borrowed for the call. */
struct alert_hooks {
        void *ctx;
        void (*changed)(void *ctx, const struct alert *alert, const struct rule_moment *at);
        void (*removed)(void *ctx, const char *target, struct alert *alert); /* it is about to be */
        alert_extra_fn *extra;
};

/* How a run ended, as far as rules care. */
enum alerting_end {
        ALERTING_ENDED, /* well, or it is not known how */
        ALERTING_FAILED,
        ALERTING_CRASHED,
};

struct alerting_options {
        const char *target;          /* copied */
        const struct ruleset *rules; /* borrowed until alerting_reload or _destroy, like all the rest */
        const struct model *model;
        struct tracker *tracker;
        struct publisher *publisher;
        const struct alert_hooks *hooks; /* copied; NULL: none */
        bool live;
        bool agent; /* the log comes from an agent, which flushes it */
};

/* Registers itself with tracker and publisher. NULL when out of memory. */
struct alerting *alerting_new(const struct alerting_options *options);
void alerting_destroy(struct alerting **a);

/* The callbacks that it needs from the model. */
struct model_sink alerting_sink(struct alerting *a);

/* Between runs: replaces model and tracker (borrowed). The old tracker no longer calls. */
void alerting_watch(struct alerting *a, const struct model *model, struct tracker *tracker);

/*
 * Between runs: from one target to the next one of the same name, for counts and alerts of a name span its targets.
 * After alerting_detach it does nothing until alerting_attach, whose arguments it borrows; it may be destroyed.
 */
void alerting_detach(struct alerting *a);
void alerting_attach(struct alerting *a, const struct model *model, struct tracker *tracker,
                     struct publisher *publisher);

/* The program was started again, as another target of the same name. */
void alerting_count_restart(struct alerting *a);

void alerting_begin_run(struct alerting *a, uint32_t ordinal);

/*
 * Sets until when rules of the run may be judged, by the monotonic clock; UINT64_MAX (the default): no deadline. In a
 * hurry nothing waits: what is left of a silence by then is judged only at its end.
 */
void alerting_turn(struct alerting *a, uint64_t until_mono_ns, bool hurry);

/*
 * After tracker_end_run, when nothing waits. `why` in words. False: the turn is over before all was judged; call again
 * in the next one.
 */
bool alerting_end_run(struct alerting *a, enum alerting_end end, const char *why);

/* The run that ended, or was lost, goes on. */
void alerting_resume_run(struct alerting *a);

/* More has become known about the end of the last run. */
void alerting_set_end(struct alerting *a, enum alerting_end end, const char *why);

/* Live: bytes have come. */
void alerting_bytes(struct alerting *a, uint64_t wall_ns);

/* CPU time that the process has used since; UNKNOWN_U64: it cannot be seen. */
uint64_t alerting_cpu_since_bytes(const struct alerting *a);

/* Live: the wall clock was set by that much, or the machine slept: no duration takes part in it. */
void alerting_step_clock(struct alerting *a, int64_t step_ns);

void alerting_damage(struct alerting *a, uint64_t lost_bytes);

/*
 * Live: why recording is paused; "": it is not. `first`: of all targets of which it is, this one says so, with the
 * number of the others. Judged with the next heartbeat.
 */
void alerting_recording(struct alerting *a, const char *why, bool first, uint64_t others);

/* Live: judges the rules of the target, refreshes texts and publishes all alerts. `lag_ns` may be UNKNOWN_U64. */
void alerting_heartbeat(struct alerting *a, uint64_t wall_ns, uint64_t lag_ns);

/* Replaces the rules; the old ones may be destroyed afterwards. */
void alerting_reload(struct alerting *a, const struct ruleset *rules);

const struct alerts *alerting_alerts(const struct alerting *a);
uint64_t alerting_held_bytes(const struct alerting *a);

/* alerting_image.c: the image of a target's alerting, see daemon/model/image/image.h; reading needs a new one. */

struct image;

/* Comes after the images of model and tracker. */
void alerting_image(struct image *im, struct alerting *a);
