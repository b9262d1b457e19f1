/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alert_event.h - one thing to act on: an alert that began to fire, or its end.
 *
 * A copy of the daemon's message with texts cut at ALERT_EVENT_TEXT_BYTES;
 * immutable, shared by reference. Pure. What is unknown is absent in the
 * message; an unknown time is UNKNOWN_U64 here.
 */
#ifndef HW_CLIENT_NOTIFY_ALERT_EVENT_H
#define HW_CLIENT_NOTIFY_ALERT_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "heapwatch/wire.h"
#include "proto/base/process.h"

#define ALERT_EVENT_TEXT_BYTES 4096u /* one text with its NUL; longer ones are cut */
#define ALERT_EVENT_PAIRS      64u   /* of labels, and of annotations; further ones are left out */

struct alert_event {
        unsigned refs;
        bool resolved; /* its end */
        char *target;
        Hw__Alert *alert; /* its `state` agrees with `resolved` */
};

/* All return an event with one reference, or NULL when out of memory. Arguments are copied. */
struct alert_event *alert_event_new(const char *target, const Hw__Alert *alert, bool resolved);

/*
 * The end of what began with `firing`. Severity and labels, which identify the alert, stay as they were then; the
 * rest is the daemon's newest message, `last`. Without one (NULL) it ends now, for the given reason (a sentence, or
 * NULL).
 */
struct alert_event *alert_event_end(const struct alert_event *firing, const Hw__Alert *last, const char *why,
                                    uint64_t now_wall_ns);

/*
 * For receivers that keep an alert as a state (Alertmanager), when it is silenced: resolved, with the annotation
 * `silenced` to say that this is a silence and not the end.
 */
struct alert_event *alert_event_resolve_on_silence(const struct alert_event *firing, const Hw__Silence *silence,
                                                   uint64_t now_wall_ns);

struct alert_event *alert_event_ref(const struct alert_event *event);
void alert_event_unref(struct alert_event **event); /* clears the pointer; NULL allowed */

/* Unix time of the event: when it began to fire, or ended; or UNKNOWN_U64. */
uint64_t alert_event_wall_ns(const struct alert_event *event);
uint64_t alert_event_fired_wall_ns(const struct alert_event *event);

/* "firing" or "resolved". Static. */
const char *alert_event_state_name(const struct alert_event *event);

#endif
