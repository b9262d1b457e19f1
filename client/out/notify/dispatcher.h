/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dispatcher.h - decides which alerts are acted on, and when.
 *
 *      news ─▶ new? acted on before? silenced? over a limit? old? ─▶ act, wait, or leave it
 *
 * It keeps every firing alert and the newest result of each of its actions. The same alert
 * is acted on once: when it begins to fire, and when it resolves if its beginning was acted
 * on. One that is silenced or over a limit waits: if it still fires when the silence ends or
 * the limit allows, it is acted on then. One that began long ago (while catching up with a
 * log) waits a moment, so that nobody is notified of what has long been resolved. One that
 * is silenced after it was acted on is resolved for receivers that keep it as a state
 * (Alertmanager), and sent to them again when the silence ends.
 *
 * Its input is what is, not what has changed: hearing it twice does no harm. One that is
 * resolved when it is first heard of and began less than DISPATCHER_OLD_NS ago is acted on
 * for its beginning and its end.
 *
 * Pure: time is an argument, Unix time in ns.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/out/notify/alert_event.h"
#include "client/out/notify/record.h"
#include "proto/wire/action_plan.h"

/* A line of the daemon about one alert (daemon/watch/control/alert_line.c says which), read. Pure. */

struct error;

struct news {
        struct alert_event *event;
        struct action_plan *plan; /* the actions of its rule; perhaps none */
        char *silenced;           /* until when and why; NULL: it is not */
};

/* False with a message: it is of another form, or out of memory. news_done in any case. */
bool news_read(struct news *news, const json_t *line, struct error *error);
void news_done(struct news *news);

#define DISPATCHER_ALERTS_MAX 16384u        /* kept, those that are over among them; twice what the daemon tells of */
#define DISPATCHER_OLD_NS     60000000000u  /* began longer ago than this when it becomes known ... */
#define DISPATCHER_SETTLE_NS  5000000000u   /* ... then it waits this long */
#define DISPATCHER_KEEP_NS    600000000000u /* results of a resolved alert are kept this long */

struct dispatcher;

struct dispatcher_handler {
        void *ctx;
        /* Acts now. Both are borrowed; `known`: see executor_add(). */
        void (*act)(void *ctx, const struct alert_event *event, struct action_plan *plan, bool known);
};

/* `record` is borrowed: what was acted on, also by earlier notifiers. NULL when out of memory. */
struct dispatcher *dispatcher_new(const struct dispatcher_handler *handler, struct record *record);
void dispatcher_destroy(struct dispatcher **d);

/* An alert as it is now. One that was not acted on gets the plan of the news; one that was keeps its own. */
void dispatcher_apply(struct dispatcher *d, const struct news *news, uint64_t now_wall_ns);

/* About once a second. */
void dispatcher_tick(struct dispatcher *d, uint64_t now_wall_ns);

/* A report of the executor. */
void dispatcher_report(struct dispatcher *d, const struct action_report *report);

/* Newest result of each step of an alert, in order of steps; *ret_n 0: none yet. Valid until the next call. */
const struct action_report *dispatcher_results(const struct dispatcher *d, uint64_t fingerprint, size_t *ret_n);

/*
 * Calls `each` for the alerts whose results have changed since they were last taken, until it returns false (that one
 * is then not taken). `fresh`: what was known of it before is over.
 */
typedef bool dispatcher_each_fn(void *ctx, const struct alert_event *event, bool fresh,
                                const struct action_report *results, size_t n);
void dispatcher_collect_changed(struct dispatcher *d, dispatcher_each_fn *each, void *ctx);

/* How many actions were left out: of alerts for which there was no room. */
uint64_t dispatcher_dropped(const struct dispatcher *d);

/*
 * rate_limit.c: how often actions are done: at most `count` times in any
 * window for a rule, and of these at most `per_alert` times for one of its
 * alerts.
 *
 * It counts alerts that began to fire and were acted on; the end of such an
 * alert is always reported. Pure: time is an argument, Unix time in ns.
 */

#define LIMITS_RULES_MAX 4096u /* rules that are remembered; beyond, the one least recently acted on is forgotten */

struct limit_table;

/* NULL when out of memory. */
struct limit_table *limit_table_new(void);
void limit_table_destroy(struct limit_table **t);

enum limit_answer { LIMIT_FREE, LIMIT_RULE, LIMIT_ALERT };

/* Whether an alert of this rule (a hash of its group and name) may be acted on now. */
enum limit_answer limit_check(const struct limit_table *t, const struct action_limits *limits, uint64_t rule,
                              uint64_t fingerprint, uint64_t now_wall_ns);

/* It was acted on. If out of memory that is not remembered: the limit is then too generous, never too strict. */
void limit_note(struct limit_table *t, const struct action_limits *limits, uint64_t rule, uint64_t fingerprint,
                uint64_t now_wall_ns);
