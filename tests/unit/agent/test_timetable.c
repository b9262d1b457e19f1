/* SPDX-License-Identifier: BSD-3-Clause */
/* When the agent's flushes and censuses are due. */
#include "tests/unit/test.h"

#include "agent/pace.h"

#define S INT64_C(1000000000)

static struct timetable default_one(void)
{
        struct timetable s = { .interval_ns = S };

        timetable_set_flush(&s, 0, S);
        budget_begin(&s.budget, 0, BUDGET_SHARE, 0);
        return s;
}

TEST(test_flushes)
{
        struct timetable s = default_one();

        assert_int_equal(timetable_until_due(&s, 0), S);
        assert_false(timetable_flush(&s, S - 1));
        assert_true(timetable_flush(&s, 3 * S)); /* late: one flush makes up for all */
        assert_false(timetable_flush(&s, 3 * S));
        assert_int_equal(timetable_until_due(&s, 3 * S), S);
        timetable_set_flush(&s, 3 * S, S / 10);
        assert_int_equal(timetable_until_due(&s, 3 * S), S / 10);
        assert_int_equal(timetable_until_due(&s, 9 * S), 0);
}

TEST(test_censuses_are_for_a_profile)
{
        struct timetable s = default_one();

        s.budget.share = 0;
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

/* While they come as often as its own would, none is due; when they stop, it goes on by itself. */
TEST(test_censuses_from_outside_put_it_off)
{
        const struct census_facts taken = { .known = 1, .pause_ns = 10000000, .lives = 1, .live_bytes = 20 << 20 };
        struct timetable s = default_one();
        int64_t now = 0;

        timetable_set_profile(&s, 0, 'T');
        assert_true(timetable_census(&s, S / 5));
        budget_learn(&s.budget, S, &taken); /* 10 ms: one each 20 s */
        for (uint64_t given = 1; given <= 100; given++) {
                now += 19 * S;
                timetable_given(&s, now, given);
                timetable_given(&s, now + S, given); /* the same */
                assert_false(timetable_census(&s, now + 19 * S));
        }
        assert_int_equal(s.censuses, 1);
        assert_false(timetable_census(&s, now + 20 * S - 1));
        assert_true(timetable_census(&s, now + 20 * S));
}

TEST(test_as_many_are_accepted_as_the_interval_allows)
{
        struct timetable s = default_one();

        assert_false(timetable_accepts(&s, 0));
        timetable_set_profile(&s, 0, 'T');
        assert_true(timetable_accepts(&s, 0));
        timetable_set_interval(&s, 0, 60 * S);
        timetable_given(&s, 10 * S, 1);
        assert_false(timetable_accepts(&s, 70 * S - 1));
        assert_true(timetable_accepts(&s, 70 * S));
        timetable_set_profile(&s, 70 * S, 'i'); /* which cannot be read from outside */
        assert_false(timetable_accepts(&s, 100 * S));
}

/* A first look at a program that has just begun is not needed any more, however long it would pause the program. */
TEST(test_one_from_outside_is_a_look)
{
        struct timetable s = default_one();
        const struct census_facts large = { .lives = 1, .live_bytes = UINT64_C(500) << 20 };

        timetable_set_profile(&s, 0, 'T');
        assert_true(timetable_census(&s, S / 5));
        timetable_given(&s, S, 1);
        budget_learn(&s.budget, 2 * S, &large);
        assert_false(timetable_census(&s, 400 * S));
        assert_true(timetable_census(&s, 600 * S)); /* a quarter of a second is within the budget again */
}
