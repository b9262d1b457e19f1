/* SPDX-License-Identifier: BSD-3-Clause */
/* open_alerts.h - the alerts that the dispatcher keeps, by fingerprint. Pure; private to the dispatcher. */
#ifndef HW_CLIENT_NOTIFY_OPEN_ALERTS_H
#define HW_CLIENT_NOTIFY_OPEN_ALERTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/notify/alert_event.h"
#include "client/notify/report.h"
#include "proto/wire/action_plan.h"

#define OPEN_ALERTS_MAX     8192u /* kept; further ones are not acted on, but counted */
#define OPEN_ALERTS_BUCKETS 4096u

/* The states are drawn in dispatcher.c. */
enum open_state { STATE_OLD, STATE_WAITING, STATE_ACTED, STATE_SILENCED, STATE_DONE };

struct open_alert {
        struct open_alert *chain;  /* of its bucket */
        struct alert_event *event; /* its beginning, or its end in STATE_DONE */
        struct action_plan *plan;
        enum open_state state;
        bool known;    /* acted on before a restart */
        bool silenced; /* now, according to the daemon */
        bool counted_silenced, counted_limited;
        bool changed;                    /* results that the daemon does not have yet */
        uint64_t silenced_until_wall_ns; /* UNKNOWN_U64 */
        char silenced_why[513];
        uint64_t since_wall_ns;        /* when it became known; in STATE_DONE, when it was done */
        uint64_t list;                 /* number of the newest list that it was in */
        uint64_t generation;           /* of the rules from which its plan is */
        struct action_report *results; /* room for one for each step of the plan */
        size_t n_results;
};

/* Zeroed: empty. */
struct open_alerts {
        struct open_alert *buckets[OPEN_ALERTS_BUCKETS];
        size_t n;
};

/* Forgets all. */
void open_alerts_clear(struct open_alerts *t);

struct open_alert *open_alerts_find(const struct open_alerts *t, uint64_t fingerprint);

/* NULL when the table is full or out of memory. Zeroed except for event and plan, which are shared by reference. */
struct open_alert *open_alerts_add(struct open_alerts *t, const struct alert_event *event, struct action_plan *plan);

/* Another event and plan for an alert; results stay if the plan does. False when out of memory: nothing has changed. */
bool open_alert_replace(struct open_alert *a, const struct alert_event *event, struct action_plan *plan);

/* Calls `visit` for each and removes those for which it returns false. Nothing may be added meanwhile. */
void open_alerts_visit(struct open_alerts *t, bool (*visit)(void *ctx, struct open_alert *a), void *ctx);

#endif
