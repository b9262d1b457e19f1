/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notifier.h - `heapwatch notify`, which acts on the alerts of this daemon: a child that is told of each change and
 * tells what it has done.
 *
 *      alerts ─▶ a line for each change (alert_line.c) ─▶ its standard input
 *      alerts ◀─ results, counts ◀─ a line for each ◀─── its standard output
 *
 *      {"target": "api", "alert": "00c0ffee00c0ffee", "firedNs": 1700000090000000000, "fresh": true,
 *       "results": [{"step": 0, "kind": "exec", "ok": true, "detail": "exit status 0", "attempts": 1, "wallNs": ...}]}
 *      {"done": 3, "failed": 0, "dropped": 0}
 *
 * `fresh`: what was known of the alert's actions before is over; `ok` is absent while an action is under way. Each side
 * says something at least once a second. A child is told everything that fires and what ended of late; so is the next
 * one after it ended. It is started when a rule of a file has actions, or an alert with some fires; again, with
 * backoff, whenever it ends; and it ends when its standard input does, which the kernel closes however the daemon dies.
 *
 * Nothing here waits for the child. What it does not take is kept up to NOTIFIER_QUEUE_BYTES; further alerts are told
 * when there is room again, if they are still there. The end of one that is not is told at once, up to four times that;
 * then the child is killed, because it knows what is no longer true. Each action that nobody was told of is counted.
 *
 * It is started with posix_spawn, which copies nothing, and inherits standard error and the pipe alone. Only
 * notifier_destroy blocks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/watch/alerting/alerting.h"
#include "heapwatch/wire.h"

#define NOTIFIER_QUEUE_BYTES (1u << 20)
#define NOTIFIER_OPEN_MAX    8192u /* alerts that it is told fire, at a time */
#define NOTIFIER_SILENT_NS   (UINT64_C(5) * 1000000000)

struct event_base;
struct notifier;
struct silence_store;
struct targets;

struct notifier_options {
        struct event_base *base;
        bool start;                           /* false: --notify=off, nothing acts */
        const struct silence_store *silences; /* borrowed, like the texts */
        const char *publish_endpoint;         /* for the commands that actions run */
        const char *log_level;
};

/* NULL when out of memory. */
struct notifier *notifier_new(const struct notifier_options *options);

/* Ends the child: SIGTERM, then SIGKILL after its part of STOP_S. The hooks do nothing more; pointers stay valid. */
void notifier_stop(struct notifier *n);
void notifier_destroy(struct notifier **n);

/* For the alerts of any number of targets; the notifier must outlive them. */
struct alert_hooks notifier_hooks(struct notifier *n);

/* Sets the rules in force, at the start and after each reload; `targets` have the alerts that results are of. */
void notifier_rules(struct notifier *n, const struct targets *targets, const struct ruleset *rules);

/* Fills in its part of the daemon's state; ctx is the notifier. The data is valid until the next call. */
void notifier_fill_state(void *ctx, Hw__DaemonState *state);

/*
 * alert_line.c: what `heapwatch notify` is told about an alert, as one line of JSON.
 *
 *      {"alert": {...}, "firedNs": 1700000090000000000, "endedNs": ..., "silence": {"untilNs": ..., "why": "..."},
 *       "limits": {"count": 60, "perAlert": 6, "windowNs": ...}, "do": [{"kind": "exec", "argv": [...], ...}]}
 *
 * `alert` is what an exec action gets (docs/ACTIONS.md); its `status` says whether it fires. Times are Unix time and
 * numbers; what is unknown, or too large for one (INT64_MAX), is absent. `do` has the actions of its rule; without any
 * it is empty. Never a secret but the path of a URL: it goes through a pipe, to nobody else.
 */

struct silence;

/*
 * To free(), `ret_size` bytes with the line feed; NULL when out of memory. An alert that fires and whose target goes is
 * over now (`gone_wall_ns`; else 0). silence: NULL: none.
 */
char *alert_line(const char *target, const struct alert *alert, const struct silence *silence, uint64_t gone_wall_ns,
                 size_t *ret_size);
