/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of the daemon's rules: all of a message or none, found by group and rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "client/notify/plans.h"
#include "proto/base/error.h"

static Hw__Action publish, log_it, unknown;

/* Three rules, two of one name; `third` is what the last one wants. */
static bool take(struct plans *p, uint64_t generation, Hw__Action *third, struct error *error)
{
        static char *const names[][2] = { { "memory", "leak" }, { "gc", "pauses" }, { "gc", "leak" } };
        Hw__Action *actions[] = { &publish, &log_it, third };
        Hw__Plan plans[3], *list[3];
        Hw__Plans message = HW__PLANS__INIT;

        hw__action__init(&publish);
        publish.kind = "publish";
        hw__action__init(&log_it);
        log_it.kind = "log";
        hw__action__init(&unknown);
        unknown.kind = "telepathy";
        for (size_t i = 0; i < 3; i++) {
                hw__plan__init(&plans[i]);
                plans[i].group = names[i][0];
                plans[i].rule = names[i][1];
                plans[i].actions = &actions[i];
                plans[i].n_actions = 1;
                list[i] = &plans[i];
        }
        message.has_rules_generation = generation != 0;
        message.rules_generation = generation;
        message.plans = list;
        message.n_plans = 3;
        return plans_replace(p, &message, error);
}

static enum action_kind first_of(const struct plans *p, const char *group, const char *rule)
{
        const struct action_plan *plan = plans_find(p, group, rule);

        assert_non_null(plan);
        return action_plan_step(plan, 0)->kind;
}

static void found_by_group_and_rule(void **state)
{
        struct plans p = { .n = 0 };

        (void)state;
        assert_null(plans_find(&p, "memory", "leak"));
        assert_true(take(&p, 5, &log_it, NULL));
        assert_int_equal(p.generation, 5);
        assert_int_equal(first_of(&p, "memory", "leak"), ACTION_PUBLISH);
        assert_int_equal(first_of(&p, "gc", "leak"), ACTION_LOG);
        assert_int_equal(first_of(&p, "gc", "pauses"), ACTION_LOG);
        assert_null(plans_find(&p, "gc", "leaks"));
        assert_null(plans_find(&p, NULL, "leak"));
        plans_clear(&p);
        assert_int_equal(p.generation, 0);
        assert_null(plans_find(&p, "gc", "leak"));
}

static void one_bad_plan_changes_nothing(void **state)
{
        struct plans p = { .n = 0 };
        struct error error;

        (void)state;
        assert_true(take(&p, 5, &log_it, &error));
        assert_false(take(&p, 6, &unknown, &error));
        assert_string_equal(error.text, "rule 'leak': do: an action of a kind that is not known here");
        assert_false(take(&p, 0, &publish, &error));
        assert_string_equal(error.text, "malformed plans");
        assert_int_equal(p.generation, 5);
        assert_int_equal(first_of(&p, "gc", "leak"), ACTION_LOG);
        assert_true(take(&p, 6, &publish, &error));
        assert_int_equal(first_of(&p, "gc", "leak"), ACTION_PUBLISH);
        plans_clear(&p);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(found_by_group_and_rule),
                cmocka_unit_test(one_bad_plan_changes_nothing),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
