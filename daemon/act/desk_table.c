/* SPDX-License-Identifier: BSD-3-Clause */
/* desk_table.c - chains by fingerprint: alerts come and go singly, and are walked through once a second. */
#include "daemon/act/desk_table.h"

#include <stdlib.h>

#include "proto/base/hash.h"

static struct desk_alert **bucket_of(const struct desk_table *t, uint64_t fingerprint)
{
        return (struct desk_alert **)&t->buckets[hash_u64(fingerprint, 0) % DESK_BUCKETS];
}

struct desk_alert *desk_table_find(const struct desk_table *t, uint64_t fingerprint)
{
        struct desk_alert *a = *bucket_of(t, fingerprint);

        while (a && a->notice->fingerprint != fingerprint)
                a = a->chain;
        return a;
}

static void alert_destroy(struct desk_alert *a)
{
        act_plan_unref(&a->plan);
        free(a->results);
        free(a->notice);
        free(a);
}

bool desk_alert_replace(struct desk_alert *a, const struct notice *notice, struct act_plan *plan)
{
        struct notice *copy = notice_copy(notice);
        struct act_report *results = calloc(act_plan_steps(plan) + 1, sizeof(*results));

        if (!copy || !results) {
                free(copy);
                free(results);
                return false;
        }
        free(a->notice);
        free(a->results);
        a->notice = copy;
        a->results = results;
        a->n_results = 0;
        act_plan_ref(plan);
        act_plan_unref(&a->plan);
        a->plan = plan;
        return true;
}

struct desk_alert *desk_table_add(struct desk_table *t, const struct notice *notice, struct act_plan *plan)
{
        struct desk_alert *a = t->n < DESK_ALERTS_MAX ? calloc(1, sizeof(*a)) : NULL;

        if (!a || !desk_alert_replace(a, notice, plan)) {
                free(a);
                return NULL;
        }
        struct desk_alert **bucket = bucket_of(t, notice->fingerprint);
        a->chain = *bucket;
        *bucket = a;
        t->n++;
        return a;
}

void desk_table_visit(struct desk_table *t, bool (*visit)(void *ctx, struct desk_alert *a), void *ctx)
{
        for (size_t i = 0; i < DESK_BUCKETS; i++) {
                for (struct desk_alert **link = &t->buckets[i]; *link;) {
                        struct desk_alert *a = *link;
                        if (visit(ctx, a)) {
                                link = &a->chain;
                                continue;
                        }
                        *link = a->chain;
                        t->n--;
                        alert_destroy(a);
                }
        }
}

static bool drop(void *ctx, struct desk_alert *a)
{
        (void)ctx;
        (void)a;
        return false;
}

void desk_table_done(struct desk_table *t)
{
        desk_table_visit(t, drop, NULL);
}
