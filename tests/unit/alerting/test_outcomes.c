/* SPDX-License-Identifier: BSD-3-Clause */
/* Outcomes by alert: replaced, bounded, refused when too long, forgotten when no longer needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/alerting/outcomes.h"

#define S UINT64_C(1000000000)

/* A request as it comes from outside: of one outcome with one action. */
static Hw__Request *request(uint64_t alert, const char *detail, size_t n_actions)
{
        Hw__ActionResult result = HW__ACTION_RESULT__INIT;
        Hw__AlertOutcome outcome = HW__ALERT_OUTCOME__INIT, *outcomes[] = { &outcome };
        Hw__OutcomesRequest body = HW__OUTCOMES_REQUEST__INIT;
        Hw__Request made = HW__REQUEST__INIT, *unpacked;
        Hw__ActionResult *results[OUTCOME_ACTIONS_MAX + 1];
        const char *reason;

        for (size_t i = 0; i < n_actions; i++)
                results[i] = &result;
        result.kind = "exec";
        result.detail = (char *)detail;
        outcome.has_alert = alert != 0;
        outcome.alert = alert;
        outcome.actions = results;
        outcome.n_actions = n_actions;
        body.alerts = outcomes;
        body.n_alerts = 1;
        made.what_case = HW__REQUEST__WHAT_OUTCOMES;
        made.outcomes = &body;

        size_t size = hw__request__get_packed_size(&made);
        uint8_t *packed = malloc(size);
        assert_non_null(packed);
        hw__request__pack(&made, packed);
        unpacked = hw_request_unpack(packed, size, &reason);
        assert_non_null(unpacked);
        free(packed);
        return unpacked;
}

static const char *set(struct outcomes *o, uint64_t alert, const char *detail, size_t n_actions, uint64_t now)
{
        Hw__Request *r = request(alert, detail, n_actions);
        const char *mistake = outcomes_set(o, r->outcomes->alerts[0], now);

        hw_request_destroy(&r);
        return mistake;
}

static void the_newest_of_an_alert_outlives_its_request(void **state)
{
        struct outcomes *o = outcomes_new();

        (void)state;
        assert_null(outcomes_find(o, 7, 0));
        assert_null(set(o, 7, "first", 1, S));
        assert_null(set(o, 8, "of another", 1, S));
        assert_null(set(o, 7, "second", 2, S));
        const Hw__AlertOutcome *found = outcomes_find(o, 7, S);
        assert_int_equal(found->n_actions, 2);
        assert_string_equal(found->actions[1]->detail, "second");
        assert_string_equal(outcomes_find(o, 8, S)->actions[0]->detail, "of another");
        outcomes_destroy(&o);
        assert_null(o);
}

static void mistakes_change_nothing(void **state)
{
        struct outcomes *o = outcomes_new();
        char longest[OUTCOME_DETAIL_BYTES + 2];

        (void)state;
        memset(longest, 'x', sizeof(longest));
        longest[OUTCOME_DETAIL_BYTES] = '\0';
        assert_null(set(o, 7, longest, OUTCOME_ACTIONS_MAX, S));
        longest[OUTCOME_DETAIL_BYTES] = 'x';
        longest[OUTCOME_DETAIL_BYTES + 1] = '\0';
        assert_non_null(strstr(set(o, 7, longest, 1, S), "longer than 512 bytes"));
        assert_non_null(strstr(set(o, 7, "a", OUTCOME_ACTIONS_MAX + 1, S), "at most 16 actions"));
        assert_non_null(strstr(set(o, 0, "a", 1, S), "needs an alert"));
        assert_int_equal(outcomes_find(o, 7, S)->n_actions, OUTCOME_ACTIONS_MAX);
        outcomes_destroy(&o);
}

static void what_nobody_asks_for_is_forgotten(void **state)
{
        struct outcomes *o = outcomes_new();
        uint64_t later = 10 * S + OUTCOME_KEEP_NS;

        (void)state;
        assert_null(set(o, 1, "published", 1, 10 * S));
        assert_null(set(o, 2, "not published any more", 1, 10 * S));
        assert_non_null(outcomes_find(o, 1, later));
        assert_null(set(o, 3, "sweeps", 1, later + 1));
        assert_non_null(outcomes_find(o, 1, later + 1));
        assert_null(outcomes_find(o, 2, later + 1));
        outcomes_destroy(&o);
}

static void they_are_bounded(void **state)
{
        struct outcomes *o = outcomes_new();

        (void)state;
        for (uint64_t alert = 1; alert <= OUTCOMES_MAX + 1; alert++)
                assert_null(set(o, alert, "x", 1, S));
        assert_non_null(outcomes_find(o, OUTCOMES_MAX, S));
        assert_null(outcomes_find(o, OUTCOMES_MAX + 1, S));
        assert_null(set(o, OUTCOMES_MAX, "one that is known", 1, S));
        assert_string_equal(outcomes_find(o, OUTCOMES_MAX, S)->actions[0]->detail, "one that is known");
        outcomes_destroy(&o);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_newest_of_an_alert_outlives_its_request),
                cmocka_unit_test(mistakes_change_nothing),
                cmocka_unit_test(what_nobody_asks_for_is_forgotten),
                cmocka_unit_test(they_are_bounded),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
