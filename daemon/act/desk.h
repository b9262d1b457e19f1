/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * desk.h - decides which alerts are acted on, and when.
 *
 *      notice ─▶ known from before a restart? silenced? over a limit? old? ─▶ act, wait, or leave it
 *
 * It keeps every alert that fires and the newest result of each of its actions.
 * The same alert is acted on once: when it begins to fire, and when it
 * resolves if its beginning was acted on. One that is silenced or over a limit
 * waits: if it still fires when the silence ends, or the limit allows it, it is
 * acted on then. One that began long ago (a log that is caught up with) waits
 * a moment, so that what has resolved long since bothers nobody. One that is
 * silenced after it was acted on is withdrawn from those who keep it as a state
 * (Alertmanager), and told to them again when the silence ends.
 *
 * Pure: time is an argument, Unix time in ns.
 */
#ifndef HW_DAEMON_ACT_DESK_H
#define HW_DAEMON_ACT_DESK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/act/done.h"
#include "daemon/rules/notice.h"
#include "daemon/act/plan.h"
#include "daemon/act/report.h"
#include "daemon/act/silence.h"

#define DESK_OLD_NS    60000000000u  /* began longer ago than this when it is heard of ... */
#define DESK_SETTLE_NS 5000000000u   /* ... then it waits this long */
#define DESK_KEEP_NS   600000000000u /* results of a resolved alert are kept this long */

struct desk;

struct desk_handler {
        void *ctx;
        /* To be done now. `notice` is borrowed; `known`: see actor_take(). False: it cannot be taken. */
        bool (*act)(void *ctx, const struct notice *notice, struct act_plan *plan, bool known);
        /* Results or silence of an alert have changed. */
        void (*changed)(void *ctx, const struct notice *notice);
};

/* `silences` is borrowed. NULL when out of memory. */
struct desk *desk_new(const struct desk_handler *handler, const struct silences *silences);
void desk_destroy(struct desk **desk);

/*
 * Every transition, pending and inactive ones too (which do nothing). An alert
 * that goes on firing may be told again, with the plan that its rule has now: it
 * holds if nothing has been done yet. `plan` is shared by reference; NULL: nothing to do.
 */
void desk_take(struct desk *d, const struct notice *notice, struct act_plan *plan, uint64_t now_wall_ns);

/* A target is gone: its alerts are over, for this reason (one sentence). */
void desk_end_target(struct desk *d, const char *target, const char *why, uint64_t now_wall_ns);

/* About once a second, and after silences have changed. */
void desk_tick(struct desk *d, uint64_t now_wall_ns);

/* A report of the actor. */
void desk_report(struct desk *d, const struct act_report *report);

/* Newest result of each step of an alert, in order of steps; *ret_n 0: none yet. Valid until the next call. */
const struct act_report *desk_results(const struct desk *d, uint64_t fingerprint, size_t *ret_n);

/* What was acted on, oldest first; valid until the next call. `desk_done_changes` rises with each change. */
const struct desk_done *desk_done_list(const struct desk *d, size_t *ret_n);
uint64_t desk_done_changes(const struct desk *d);

/* Restores one entry of that list, in order. Before the first desk_take(). */
void desk_done_restore(struct desk *d, const struct desk_done *done);

struct desk_stats {
        uint64_t acted, silenced, limited, past, dropped, no_room; /* alerts; silenced, limited: at least for a while */
        uint64_t firing;                                           /* now */
};

const struct desk_stats *desk_stats(const struct desk *d);

#endif
