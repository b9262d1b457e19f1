/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * notifier.h - who acts on the alerts of this daemon, and how that goes.
 *
 * One notifier acts at a time, or people would be notified twice. Usually it is a
 * child of the daemon (notifier_child.h), which proves itself by the key that it
 * was given; nobody else is let in then. With --notify=off the first that asks
 * has the work until it leaves or has been silent for NOTIFIER_SILENT_NS; others
 * wait, and one of them takes its place.
 */
#ifndef HW_DAEMON_CONTROL_NOTIFIER_H
#define HW_DAEMON_CONTROL_NOTIFIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapwatch/wire.h"

#define NOTIFIER_SILENT_NS (UINT64_C(5) * 1000000000)

struct error;
struct event_base;
struct notifier;
struct ruleset;

struct notifier_options {
        struct event_base *base;
        bool start;                   /* by the daemon itself, when a rule has actions */
        const char *publish_endpoint; /* borrowed */
        const char *log_level;        /* its name; static */
};

/* NULL when out of memory. */
struct notifier *notifier_new(const struct notifier_options *options);

/* Ends the child; waits at most NOTIFIER_STOP_S. */
void notifier_destroy(struct notifier **n);

/* The rules in force, at the start and after each reload: whether there is anything to do. */
void notifier_rules(struct notifier *n, const struct ruleset *rules);

/* It asks for its work. False with a sentence: another one has it. */
bool notifier_admit(struct notifier *n, const Hw__PlansRequest *request, struct error *error);

/* It reports. False with a sentence: it is not the one that acts, and must stop. */
bool notifier_report(struct notifier *n, const Hw__OutcomesRequest *request, struct error *error);

/* Its part of the daemon's state; ctx is the notifier. What is filled in is valid until the next call. */
void notifier_fill_state(void *ctx, Hw__DaemonState *state);

#endif
