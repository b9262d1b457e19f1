/* SPDX-License-Identifier: BSD-3-Clause */
/* plans.c - a sorted array: rules are looked up when alerts begin to fire, and after a reload. */
#include "client/notify/plans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heapwatch/text.h"
#include "proto/base/error.h"

struct plans_entry {
        char *group, *rule;
        struct action_plan *plan;
};

static int compare(const void *a, const void *b)
{
        const struct plans_entry *x = a, *y = b;
        int by_rule = strcmp(x->rule, y->rule);

        return by_rule ? by_rule : strcmp(x->group, y->group);
}

void plans_clear(struct plans *p)
{
        for (size_t i = 0; i < p->n; i++) {
                free(p->items[i].group);
                free(p->items[i].rule);
                action_plan_unref(&p->items[i].plan);
        }
        free(p->items);
        *p = (struct plans){ .n = 0 };
}

static bool read_plan(struct plans_entry *e, const Hw__Plan *m, struct error *error)
{
        struct error why = { "out of memory" };
        char rule[128];

        e->group = strdup(m->group ? m->group : "");
        e->rule = strdup(m->rule ? m->rule : "");
        e->plan = e->group && e->rule ? action_plan_unpack(m, &why) : NULL;
        if (e->plan)
                return true;
        (void)hw_terminal_text(rule, sizeof(rule), m->rule ? m->rule : "");
        return error_set(error, "rule '%s': %s", rule, why.text);
}

bool plans_replace(struct plans *p, const Hw__Plans *message, struct error *error)
{
        struct plans fresh = { .generation = message->rules_generation };

        if (message->n_plans > PLANS_MAX || !message->has_rules_generation || message->rules_generation == 0)
                return error_set(error, "malformed plans");
        fresh.items = calloc(message->n_plans + 1, sizeof(*fresh.items));
        if (!fresh.items)
                return error_set(error, "out of memory");
        while (fresh.n < message->n_plans) {
                const Hw__Plan *m = message->plans[fresh.n];
                if (!read_plan(&fresh.items[fresh.n++], m, error)) {
                        plans_clear(&fresh);
                        return false;
                }
        }
        qsort(fresh.items, fresh.n, sizeof(*fresh.items), compare);
        plans_clear(p);
        *p = fresh;
        return true;
}

struct action_plan *plans_find(const struct plans *p, const char *group, const char *rule)
{
        const struct plans_entry key = { .group = (char *)(group ? group : ""), .rule = (char *)(rule ? rule : "") };
        const struct plans_entry *found = p->n ? bsearch(&key, p->items, p->n, sizeof(key), compare) : NULL;

        return found ? found->plan : NULL;
}
