/* SPDX-License-Identifier: BSD-3-Clause */
/* Which messages of a daemon are changes of an alert, for who follows it. */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "client/answers/alerts/known.h"

#define S UINT64_C(1000000000)

static unsigned changes;

static void count(void *ctx, const struct known_alert *a)
{
        changes++;
}

/* A list with one alert, which fired at that event time, at that time of day. */
static void receive(struct known *k, const char *target, Hw__Alert__State state, uint64_t fired_ns,
                    uint64_t fired_wall_ns, uint64_t now_ns)
{
        Hw__Alerts *list = calloc(1, sizeof(*list));
        Hw__Alert alert = HW__ALERT__INIT, *alerts[] = { &alert };
        uint8_t packed[256];
        const char *reason = NULL;
        Hw__Update update = HW__UPDATE__INIT;

        assert_non_null(list);
        hw__alerts__init(list);
        alert.rule = (char *)"failed";
        SET(alert, state, state);
        SET(alert, fired_ns, fired_ns);
        SET(alert, fired_wall_ns, fired_wall_ns);
        SET_LIST(*list, alerts, alerts, 1);
        update.body_case = HW__UPDATE__BODY_ALERTS;
        update.alerts = list;
        update.target = (char *)target;
        const size_t size = hw__update__pack(&update, packed);
        Hw__Update *read = hw_update_unpack(packed, size, &reason); /* what known keeps is counted */
        assert_non_null(read);
        assert_int_equal(known_add(k, 0, target, read->alerts, now_ns), 0);
        hw_update_unref(read);
        free(list);
}

TEST(test_the_next_run_of_a_program_changes_nothing)
{
        struct known k = { .changed = count };

        changes = 0;
        receive(&k, "api", HW__ALERT__STATE__STATE_FIRING, 8 * S, 100 * S, S);
        assert_int_equal(changes, 1);
        known_remove_target(&k, 0, "api", 2 * S); /* it becomes api~1 */
        receive(&k, "api", HW__ALERT__STATE__STATE_FIRING, 0, 100 * S, 3 * S);
        assert_int_equal(changes, 1);
        receive(&k, "api", HW__ALERT__STATE__STATE_FIRING, 8 * S, 108 * S, 11 * S);
        assert_int_equal(changes, 2);
        receive(&k, "api", HW__ALERT__STATE__STATE_RESOLVED, 8 * S, 108 * S, 12 * S);
        assert_int_equal(changes, 3);
        known_done(&k);
}

TEST(test_a_removed_target_is_forgotten)
{
        struct known k = { .changed = count };

        receive(&k, "old", HW__ALERT__STATE__STATE_FIRING, 8 * S, 100 * S, S);
        known_remove_target(&k, 0, "old", 2 * S);
        receive(&k, "api", HW__ALERT__STATE__STATE_FIRING, 8 * S, 100 * S, 30 * S);
        assert_int_equal(k.n, 2);
        receive(&k, "api", HW__ALERT__STATE__STATE_FIRING, 8 * S, 100 * S, 63 * S);
        assert_int_equal(k.n, 1);
        known_done(&k);
}

TEST(test_a_restarted_daemon_changes_nothing)
{
        struct known k = { .changed = count };

        changes = 0;
        receive(&k, "api", HW__ALERT__STATE__STATE_FIRING, 8 * S, 100 * S, S);
        receive(&k, "gone", HW__ALERT__STATE__STATE_FIRING, 8 * S, 100 * S, S);
        known_begin_resync(&k, 0);
        receive(&k, "api", HW__ALERT__STATE__STATE_FIRING, 8 * S, 100 * S, 5 * S);
        known_end_resync(&k, 0);
        assert_int_equal(changes, 2);
        assert_int_equal(k.n, 1);
        known_done(&k);
}
