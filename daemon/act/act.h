/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * act.h - the actions of a daemon: all that the rest of it sees of them.
 *
 *      rules ─notice─▶ act ─▶ desk (what, when) ─▶ worker (how) ─▶ results ─▶ the alert's message
 *
 * No call ever waits: decisions are made here, work is done in the worker's
 * thread. Belongs to the daemon's loop. docs/ACTIONS.md is the users' page.
 */
#ifndef HW_DAEMON_ACT_ACT_H
#define HW_DAEMON_ACT_ACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/act/desk.h"
#include "daemon/rules/notice.h"
#include "daemon/act/plan.h"
#include "daemon/act/report.h"
#include "daemon/act/silence.h"

struct event_base;
struct act;

struct act_options {
        struct event_base *base;
        const char *state_path; /* where silences are kept; NULL: nowhere, said in each silence's answer */
        /* Results or silence of an alert have changed: its message may be sent again. From the loop; NULL: nobody. */
        void (*changed)(void *ctx, const struct notice *notice);
        void *ctx;
        uint64_t retry_ns; /* 0: as in actor.h */
};

/*
 * Starts the worker and reads the state file; a broken one is moved aside (its
 * name with ".broken") and named in the log. NULL when memory or threads are short.
 */
struct act *act_new(const struct act_options *options);

/* Ends all actions; waits WORKER_STOP_S at the most. */
void act_destroy(struct act **act);

/*
 * One transition of one alert, or one that goes on firing and whose rule was
 * read again. `plan` NULL: only published. Both are borrowed (the plan is shared by reference).
 */
void act_take(struct act *a, const struct notice *notice, struct act_plan *plan);

/* A target was removed: who was told that its alerts fire is told that they are over. */
void act_end_target(struct act *a, const char *target);

/* Newest result of each action of an alert, in order. Valid until the next call. */
const struct act_report *act_results(const struct act *a, uint64_t fingerprint, size_t *ret_n);

/* The silence that an alert is under now, or NULL. Valid until the next call. */
const struct silence *act_silence_of(const struct act *a, const char *rule, const char *target);

/* Rises with every change of silences: those who show them look again. */
uint64_t act_silence_changes(const struct act *a);

/* Makes a silence that begins now; its id and creation time are set. False with a sentence. */
bool act_silence(struct act *a, struct silence *silence, char *error, size_t error_size);

/* Ends silences, see silences_remove(). Returns how many. */
size_t act_unsilence(struct act *a, uint64_t id, const char *rule, const char *target);

const struct silences *act_silences(const struct act *a);

/* Why silences are not kept over a restart just now, or NULL. */
const char *act_not_kept(const struct act *a);

struct act_stats {
        struct desk_stats desk;
        uint64_t done, failed, dropped; /* actions; dropped: too many at once, or out of memory */
};

void act_stats(const struct act *a, struct act_stats *ret);

/* The default path of the state file of a daemon at this endpoint. Returns 0 or -ENAMETOOLONG, -ENOENT (no home). */
int act_state_path(char *out, size_t size, const char *publish_endpoint);

#endif
