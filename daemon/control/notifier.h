/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notifier.h - which notifier acts on the alerts of this daemon, and its state.
 *
 * Only one notifier acts at a time, or people would be notified twice. Usually
 * it is a child of the daemon (notifier_child.h), which identifies itself by
 * the key that it was given; others are refused. With --notify=off the first
 * that requests plans acts until it leaves or has been silent for
 * NOTIFIER_SILENT_NS; others keep requesting, and one of them replaces it.
 */
#ifndef HW_DAEMON_CONTROL_NOTIFIER_H
#define HW_DAEMON_CONTROL_NOTIFIER_H

#include <stdbool.h>
#include <stdint.h>

#include "heapwatch/wire.h"

#define NOTIFIER_SILENT_NS (UINT64_C(5) * 1000000000)

struct error;
struct event_base;
struct notifier;
struct ruleset;

struct notifier_options {
        struct event_base *base;
        bool start;                   /* whether the daemon starts it itself, when a rule has actions */
        const char *publish_endpoint; /* borrowed */
        const char *log_level;        /* its name; static */
};

/* NULL when out of memory. */
struct notifier *notifier_new(const struct notifier_options *options);

/* Ends the child; waits at most NOTIFIER_STOP_S. */
void notifier_destroy(struct notifier **n);

/* Sets the rules in force, at the start and after each reload; starts the child if one of a file has actions. */
void notifier_rules(struct notifier *n, const struct ruleset *rules);

/* An alert with actions fires, maybe of a built-in rule: starts the child. ctx is the notifier. */
void notifier_wake(void *ctx);

/* A notifier requests its plans. False with a sentence: it is not allowed to act. */
bool notifier_admit(struct notifier *n, const Hw__PlansRequest *request, struct error *error);

/* A notifier reports outcomes. False with a sentence: it is not the one that acts, and must stop. */
bool notifier_report(struct notifier *n, const Hw__OutcomesRequest *request, struct error *error);

/* Fills in its part of the daemon's state; ctx is the notifier. The data is valid until the next call. */
void notifier_fill_state(void *ctx, Hw__DaemonState *state);

#endif
