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
        struct timetable s = { .interval_ns = S, .budget = 0.01 };

        timetable_set_flush(&s, 0, S);
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
        assert_false(timetable_census(&s, 100 * S, 0));
        timetable_set_profile(&s, 0, 'T');
        assert_int_equal(timetable_until_due(&s, 0), S / 5); /* the first one soon */
        assert_false(timetable_census(&s, S / 5 - 1, 0));
        assert_true(timetable_census(&s, S / 5, 1000000));
        timetable_set_profile(&s, S / 4, 'T'); /* the same as before: no further one */
        assert_false(timetable_census(&s, S, 1000000));
        timetable_set_profile(&s, S, 'i');
        assert_true(timetable_census(&s, S + S / 5, 1000000));
        assert_int_equal(s.censuses, 2);
        timetable_set_profile(&s, 2 * S, 0);
        assert_false(timetable_census(&s, 100 * S, 1000000));
}

/* An expensive census makes the interval longer; one whose cost is not known, only after some have been requested. */
static void test_the_budget(void **state)
{
        struct timetable s = default_one();

        (void)state;
        assert_int_equal(timetable_census_every(&s, 1000000), S);
        assert_int_equal(timetable_census_every(&s, 50000000), 5 * S);
        assert_int_equal(timetable_census_every(&s, 0), S);
        s.censuses = 3;
        assert_int_equal(timetable_census_every(&s, 0), 10 * S);
        timetable_set_interval(&s, 0, 60 * S);
        assert_int_equal(timetable_census_every(&s, 0), 60 * S);
        s.budget = 0;
        timetable_set_interval(&s, 0, S / 2);
        assert_int_equal(timetable_census_every(&s, 50000000), S / 2);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_flushes),
                cmocka_unit_test(test_censuses_are_for_a_profile),
                cmocka_unit_test(test_the_budget),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
