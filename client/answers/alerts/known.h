/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * known.h - the alerts that a client knows, and what changes about them.
 *
 * Alerts come as whole lists, one target at a time; here they become single
 * alerts with a past. No input or output.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heapwatch/wire.h"

#define KNOWN_MAX      100000u               /* alerts; further ones are left out and counted */
#define KNOWN_AFTER_NS UINT64_C(60000000000) /* how long those of a removed target are remembered */

struct known_alert {
        size_t daemon;
        char *target;
        const Hw__Alert *alert; /* the newest, kept by reference */
        bool fired;             /* it fires, or has fired since it became known */
        bool listed;            /* in its target's newest list */
        uint64_t removed_ns;    /* when its target was removed; 0: it was not */
};

struct known {
        struct known_alert **alerts;
        size_t n, capacity;
        bool keep;                                               /* what is no longer listed stays: for finished logs */
        uint64_t left_out;                                       /* by the daemons, and here */
        void (*changed)(void *ctx, const struct known_alert *a); /* a new state; may be NULL */
        void *ctx;
};

void known_done(struct known *k);

/* One list, at a time of any clock that only rises. Returns 0 or -ENOMEM. */
int known_add(struct known *k, size_t daemon, const char *target, const Hw__Alerts *list, uint64_t now_ns);

/*
 * A target is gone. When its program is started again, another takes its name, with those of its alerts that still
 * fire: these are no change then.
 */
void known_remove_target(struct known *k, size_t daemon, const char *target, uint64_t now_ns);

/*
 * A daemon sends all its lists again, because it was started again or updates were lost. What it lists as before is no
 * change; known_end_resync drops what it no longer lists.
 */
void known_begin_resync(struct known *k, size_t daemon);
void known_end_resync(struct known *k, size_t daemon);

/* Worst first: firing before pending before the rest, by severity, then by target, rule and band. */
void known_sort(struct known *k);

/*
 * Whether this is a part of that alert, or of any that is known (a band of a leak): parts are listed below the whole
 * and counted with it.
 */
bool known_is_part_of(const struct known_alert *part, const struct known_alert *whole);
bool known_is_part(const struct known *k, const struct known_alert *part);

const char *known_state_name(const Hw__Alert *alert);
bool known_fires(const Hw__Alert *alert);

/* print.c: alerts on standard output, as text for people or JSON for programs. */

/* All moments of one output are in one clock: the time of day, or the time of the run. */
struct alert_clock {
        bool wall;
        uint64_t now_wall_ns; /* for the age of a firing alert; 0: of a finished log */
};

/* One alert with its reason, its silence, and the outcome of its actions. */
void alert_print_text(const struct known_alert *a, struct alert_clock clock);

/* The parts of `whole` among all alerts, a line each, below its own text. */
void alert_print_parts(const struct known *k, const struct known_alert *whole, struct alert_clock clock);

/* One line: {"target": ..., "alert": {...}}, the alert as in all JSON of heapwatch. */
void alert_print_json(const struct known_alert *a);

/* One line: what has changed. */
void alert_print_change(const struct known_alert *a, struct alert_clock clock);

/* The outcome of an action in a word: "under way", "failed", "done"; "" where its detail says as much. */
static inline const char *action_outcome(const Hw__ActionResult *r)
{
        if (!r->has_ok)
                return "under way";
        if (r->detail && (r->ok ? r->attempts <= 1 : r->has_attempts && r->attempts == 0))
                return "";
        return r->ok ? "done" : "failed";
}
