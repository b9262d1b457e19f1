/* SPDX-License-Identifier: BSD-3-Clause */
/* open_alerts.c - a hash table by fingerprint: alerts come and go one by one, and are visited once a second. */
#include "client/notify/open_alerts.h"

#include <stdlib.h>

#include "proto/base/hash.h"

static struct open_alert **bucket_of(const struct open_alerts *t, uint64_t fingerprint)
{
        return (struct open_alert **)&t->buckets[hash_u64(fingerprint, 0) % OPEN_ALERTS_BUCKETS];
}

struct open_alert *open_alerts_find(const struct open_alerts *t, uint64_t fingerprint)
{
        struct open_alert *a = *bucket_of(t, fingerprint);

        while (a && a->event->alert->fingerprint != fingerprint)
                a = a->chain;
        return a;
}

static void alert_destroy(struct open_alert *a)
{
        action_plan_unref(&a->plan);
        alert_event_unref(&a->event);
        free(a->results);
        free(a);
}

bool open_alert_replace(struct open_alert *a, const struct alert_event *event, struct action_plan *plan)
{
        const bool same = a->results && plan == a->plan;
        struct action_report *results = same ? a->results : calloc(action_plan_steps(plan) + 1, sizeof(*results));

        if (!results)
                return false;
        struct alert_event *next = alert_event_ref(event); /* before the old ones are released: they may be the same */
        struct action_plan *next_plan = action_plan_ref(plan);
        alert_event_unref(&a->event);
        action_plan_unref(&a->plan);
        if (!same) {
                free(a->results);
                a->n_results = 0;
        }
        a->event = next;
        a->plan = next_plan;
        a->results = results;
        return true;
}

struct open_alert *open_alerts_add(struct open_alerts *t, const struct alert_event *event, struct action_plan *plan)
{
        struct open_alert *a = t->n < OPEN_ALERTS_MAX ? calloc(1, sizeof(*a)) : NULL;

        if (!a || !open_alert_replace(a, event, plan)) {
                free(a);
                return NULL;
        }
        struct open_alert **bucket = bucket_of(t, event->alert->fingerprint);
        a->chain = *bucket;
        *bucket = a;
        t->n++;
        return a;
}

void open_alerts_visit(struct open_alerts *t, bool (*visit)(void *ctx, struct open_alert *a), void *ctx)
{
        for (size_t i = 0; i < OPEN_ALERTS_BUCKETS; i++) {
                for (struct open_alert **link = &t->buckets[i]; *link;) {
                        struct open_alert *a = *link;
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

static bool drop(void *ctx, struct open_alert *a)
{
        (void)ctx;
        (void)a;
        return false;
}

void open_alerts_clear(struct open_alerts *t)
{
        open_alerts_visit(t, drop, NULL);
}
