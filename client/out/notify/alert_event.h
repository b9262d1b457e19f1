/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alert_event.h - one thing to act on: an alert that began to fire, or its end.
 *
 * It is what the daemon wrote of the alert, the JSON that exec actions get (docs/ACTIONS.md); immutable, shared by
 * reference. Pure. What is unknown is absent there; an unknown time is UNKNOWN_U64 here. Times are Unix time.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/process.h"
#include "proto/wire/action_plan.h"

struct alert_event {
        unsigned refs;
        bool resolved;                    /* its end: so says `status` */
        uint64_t fingerprint;             /* of the alert in all its states */
        uint64_t fired_wall_ns, ended_ns; /* ended: of an end */
        json_t *alert;
};

/* All return an event with one reference, or NULL when out of memory. */

/* From an object of the daemon; NULL also when it lacks what identifies it. */
struct alert_event *alert_event_new(json_t *alert, uint64_t fired_wall_ns, uint64_t ended_ns);

/*
 * The end of what began with `firing`. Severity and labels, which identify the alert, stay as they were then; the
 * rest is the daemon's newest, `last`. Without one (NULL) it ends now. `silenced` (NULL: not) is for receivers that
 * keep an alert as a state (Alertmanager): until when and why it is silenced, as an annotation that says that this is
 * not the end.
 */
struct alert_event *alert_event_end(const struct alert_event *firing, const struct alert_event *last,
                                    const char *silenced, uint64_t now_wall_ns);

/* The beginning of what is over: as it ended, but firing. */
struct alert_event *alert_event_begin(const struct alert_event *end);

struct alert_event *alert_event_ref(const struct alert_event *event);
void alert_event_unref(struct alert_event **event); /* clears the pointer; NULL allowed */

/* A text of it, such as "target" or "sentence"; NULL: absent. */
const char *alert_event_text(const struct alert_event *event, const char *name);

/* When it began to fire, or ended; or UNKNOWN_U64. */
uint64_t alert_event_wall_ns(const struct alert_event *event);

/*
 * alert_json.c: an alert event as the texts that the notifier sends.
 *
 * Pure. Every function returns a string to free(), or NULL when out of memory.
 * Numbers that are unknown or not finite are left out. docs/ACTIONS.md shows
 * each text.
 */

/* heapwatch's own form, the standard input of `exec`. One line. */
char *json_event(const struct alert_event *event);

/* Alertmanager's webhook body, version 4, with this one alert. */
char *json_webhook(const struct alert_event *event);

/*
 * The body of Alertmanager's POST /api/v2/alerts: an array. A firing alert ends
 * at `ends_wall_ns` unless it is sent again before; a resolved one ended when
 * it resolved, but never before it began, and at `now_wall_ns` at the latest.
 */
char *json_alertmanager(const struct alert_event *const *events, size_t n, uint64_t now_wall_ns, uint64_t ends_wall_ns);

/*
 * The outcome of one action, which goes to the daemon, and from there into the alert's message. Plain
 * data.
 */

#define REPORT_DETAIL_MAX 512u

enum action_outcome {
        OUTCOME_UNDER_WAY, /* running, or waiting for its turn */
        OUTCOME_DONE,
        OUTCOME_FAILED, /* finally: all attempts are over, or another would not help */
        OUTCOME_SKIPPED /* not tried: silenced, limited, dropped; the detail says which */
};

struct action_report {
        uint64_t fingerprint; /* of the alert */
        bool resolved;        /* an action for its end */
        uint32_t step;        /* index in its plan */
        enum action_kind kind;
        enum action_outcome outcome;
        uint32_t attempts;              /* 0: skipped */
        uint64_t wall_ns;               /* Unix time of its end */
        char detail[REPORT_DETAIL_MAX]; /* one plain sentence, safe for a terminal; no secrets */
};

typedef void action_report_fn(void *ctx, const struct action_report *report);
