/* SPDX-License-Identifier: BSD-3-Clause */
/* notifier_requests.c - plans are messages that borrow from the rules; outcomes go into their table unchanged. */
#include "daemon/control/notifier_requests.h"

#include "daemon/alerting/outcomes.h"
#include "daemon/control/notifier.h"
#include "daemon/control/replies.h"
#include "proto/wire/action_plan.h"
#include "daemon/rules/rule.h"
#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/wire/limits.h"
#include "proto/base/error.h"

#define PUT(message, field, value) ((message)->field = (value), (void)((message)->has_##field = 1))

static Hw__Action *action_message(struct arena *arena, const struct action_step *a)
{
        Hw__Action *m = arena_calloc(arena, 1, sizeof(*m));

        if (!m)
                return NULL;
        hw__action__init(m);
        m->kind = (char *)action_kind_name(a->kind);
        PUT(m, timeout_ns, a->timeout_ns);
        PUT(m, attempts, a->attempts);
        PUT(m, firing_only, a->firing_only);
        m->argv = (char **)a->argv;
        while (a->argv && a->argv[m->n_argv])
                m->n_argv++;
        m->url = (char *)a->url;
        m->bearer_file = (char *)a->bearer_file;
        m->ca_file = (char *)a->ca_file;
        if (a->kind == ACTION_ALERTMANAGER)
                PUT(m, resend_ns, a->resend_ns);
        return m;
}

static Hw__Plan *plan_message(struct arena *arena, const struct rule *rule)
{
        size_t n = action_plan_steps(rule->plan);
        const struct action_limits *limits = action_plan_limits(rule->plan);
        Hw__Plan *m = arena_calloc(arena, 1, sizeof(*m));

        if (!m)
                return NULL;
        hw__plan__init(m);
        m->group = (char *)rule->group;
        m->rule = (char *)rule->name;
        PUT(m, limit_count, limits->count);
        PUT(m, limit_per_alert, limits->per_alert);
        PUT(m, limit_window_ns, limits->window_ns);
        m->actions = arena_calloc(arena, n + 1, sizeof(*m->actions));
        while (m->actions && m->n_actions < n) {
                m->actions[m->n_actions] = action_message(arena, action_plan_step(rule->plan, m->n_actions));
                if (!m->actions[m->n_actions++])
                        return NULL;
        }
        return m->actions ? m : NULL;
}

static bool fill_plans(struct arena *arena, Hw__Plans *plans, const struct ruleset *rules)
{
        PUT(plans, rules_generation, rules->generation);
        plans->plans = arena_calloc(arena, rules->n + 1, sizeof(*plans->plans));
        for (size_t i = 0; plans->plans && i < rules->n; i++) {
                if (!rules->rules[i]->plan)
                        continue;
                plans->plans[plans->n_plans] = plan_message(arena, rules->rules[i]);
                if (!plans->plans[plans->n_plans++])
                        return false;
        }
        return plans->plans != NULL;
}

void notifier_requests_plans(struct notifier *notifier, const struct ruleset *rules, const Hw__PlansRequest *request,
                             struct bus_client *client)
{
        Hw__Reply reply = HW__REPLY__INIT;
        Hw__Plans plans = HW__PLANS__INIT;
        struct arena arena;
        struct error error;

        if (!notifier_admit(notifier, request, &error)) {
                reply_error(client, error.text);
                return;
        }
        arena_init(&arena, 0);
        reply.what_case = HW__REPLY__WHAT_PLANS;
        reply.plans = &plans;
        if (!fill_plans(&arena, &plans, rules))
                reply_error(client, out_of_memory);
        else if (hw__reply__get_packed_size(&reply) > LIMIT_MESSAGE_BYTES)
                reply_error(client, "the actions of all rules together are larger than 16 MiB");
        else
                bus_reply(client, &reply);
        arena_done(&arena);
}

void notifier_requests_outcomes(struct notifier *notifier, struct outcomes *outcomes,
                                const Hw__OutcomesRequest *request, struct bus_client *client)
{
        struct error error;
        const char *mistake;
        uint64_t now = clock_mono_ns();

        if (!notifier_report(notifier, request, &error)) {
                reply_error(client, error.text);
                return;
        }
        for (size_t i = 0; i < request->n_alerts; i++) {
                mistake = outcomes_set(outcomes, request->alerts[i], now);
                if (mistake) {
                        reply_error(client, mistake);
                        return;
                }
        }
        reply_done(client, NULL);
}
