/* SPDX-License-Identifier: BSD-3-Clause */
/* When the agent's flushes and censuses are due. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/timetable.h"

#define S INT64_C(1000000000)

static struct timetable default_one(void)
{
        struct timetable s = { .interval_ns = S };

        timetable_set_flush(&s, 0, S);
        budget_begin(&s.budget, 0, BUDGET_SHARE, 0);
        return s;
}

static void test_flushes(void **state)
{
        struct timetable s = default_one();

        (void)state;
        assert_int_equal(timetable_until_due(&s, 0), S);
        assert_false(timetable_flush(&s, S - 1));
        assert_true(timetable_flush(&s, 3 * S)); /* late: one flush makes up for all */
        assert_false(timetable_flush(&s, 3 * S));
        assert_int_equal(timetable_until_due(&s, 3 * S), S);
        timetable_set_flush(&s, 3 * S, S / 10);
        assert_int_equal(timetable_until_due(&s, 3 * S), S / 10);
        assert_int_equal(timetable_until_due(&s, 9 * S), 0);
}

static void test_censuses_are_for_a_profile(void **state)
{
        struct timetable s = default_one();

        (void)state;
        assert_false(timetable_census(&s, 100 * S));
        timetable_set_profile(&s, 0, 'T');
        assert_int_equal(timetable_until_due(&s, 0), S / 5); /* the first one soon */
        assert_false(timetable_census(&s, S / 5 - 1));
        assert_true(timetable_census(&s, S / 5));
        timetable_set_profile(&s, S / 4, 'T'); /* the same as before: no further one */
        assert_false(timetable_census(&s, S));
        timetable_set_profile(&s, S, 'i');
        assert_true(timetable_census(&s, S + S / 5));
        assert_int_equal(s.censuses, 2);
        timetable_set_profile(&s, 2 * S, 0);
        assert_false(timetable_census(&s, 100 * S));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_flushes),
                cmocka_unit_test(test_censuses_are_for_a_profile),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
