/* SPDX-License-Identifier: BSD-3-Clause */
/* desk_table.h - the alerts that the desk keeps, by fingerprint. Pure; private to the desk. */
#ifndef HW_DAEMON_ACT_DESK_TABLE_H
#define HW_DAEMON_ACT_DESK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/rules/notice.h"
#include "daemon/act/plan.h"
#include "daemon/act/report.h"

#define DESK_ALERTS_MAX 8192u /* kept; further ones are not acted on, and counted */
#define DESK_BUCKETS    4096u

/* Where an alert is on its way; desk.c draws it. */
enum desk_place { PLACE_OLD, PLACE_WAITING, PLACE_ACTED, PLACE_WITHDRAWN, PLACE_OVER };

struct desk_alert {
        struct desk_alert *chain; /* of its bucket */
        struct notice *notice;    /* newest firing one, or the resolved one when OVER */
        struct act_plan *plan;
        enum desk_place place;
        bool known; /* acted on before a restart */
        bool counted_silenced, counted_limited;
        uint64_t since_wall_ns;     /* heard of; OVER: since then */
        struct act_report *results; /* room for one of each step of the plan */
        size_t n_results;
};

/* Zeroed: empty. */
struct desk_table {
        struct desk_alert *buckets[DESK_BUCKETS];
        size_t n;
};

void desk_table_done(struct desk_table *t);

struct desk_alert *desk_table_find(const struct desk_table *t, uint64_t fingerprint);

/* NULL when the table is full or out of memory. All but notice and plan is zero. */
struct desk_alert *desk_table_add(struct desk_table *t, const struct notice *notice, struct act_plan *plan);

/* Another notice and plan for an alert, without results; false (memory): all stays as it was. */
bool desk_alert_replace(struct desk_alert *a, const struct notice *notice, struct act_plan *plan);

/* Calls `visit` for each; those for which it says false are gone afterwards. Nothing may be added meanwhile. */
void desk_table_visit(struct desk_table *t, bool (*visit)(void *ctx, struct desk_alert *a), void *ctx);

#endif
