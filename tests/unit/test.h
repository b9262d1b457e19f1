/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test.h - a program of unit tests: each is a function `TEST(what_is_so) { ... }`, and they run in their order.
 *
 * DESIGN: a constructor puts each test where its line is in a table, so that none can be written and not run.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A field of a message, with what says that it is known. */
#define SET(message, field, value) ((message).has_##field = 1, (message).field = (value))

/* A list of a message, with how long it is. */
#define SET_LIST(message, field, items, count) ((message).field = (items), (message).n_##field = (count))

#define TEST_LINES_MAX 4000 /* of a file of tests */

static struct {
        struct CMUnitTest tests[TEST_LINES_MAX]; /* by line; those without a function are none */
        CMFixtureFunction set_up, tear_down, before_each, after_each;
} registered;

#define TEST_OF(name, before, after, argument)                                                                         \
        static void name(void **argument);                                                                             \
        __attribute__((constructor)) static void register_##name(void)                                                 \
        {                                                                                                              \
                registered.tests[__LINE__] = (struct CMUnitTest){ #name, name, before, after, NULL };                  \
        }                                                                                                              \
        static void name(__attribute__((unused)) void **argument)

#define TEST(name) TEST_OF(name, NULL, NULL, no_state)

/* With what its fixtures, or those of TEST_GROUP, have put in *state. */
#define TEST_WITH(name, before, after) TEST_OF(name, before, after, state)

/* Fixtures of all tests together. */
#define TEST_GROUP(before, after)                                                                                      \
        __attribute__((constructor)) static void register_group(void)                                                  \
        {                                                                                                              \
                registered.set_up = before;                                                                            \
                registered.tear_down = after;                                                                          \
        }

/* Fixtures of each test that has none of its own; NULL: none. */
#define TEST_EACH(before, after)                                                                                       \
        __attribute__((constructor)) static void register_each(void)                                                   \
        {                                                                                                              \
                registered.before_each = before;                                                                       \
                registered.after_each = after;                                                                         \
        }

int main(void)
{
        size_t n = 0;

        for (size_t line = 0; line < TEST_LINES_MAX; line++) {
                struct CMUnitTest *t = &registered.tests[line];

                if (!t->test_func)
                        continue;
                if (!t->setup_func && !t->teardown_func) {
                        t->setup_func = registered.before_each;
                        t->teardown_func = registered.after_each;
                }
                registered.tests[n++] = *t;
        }
        return _cmocka_run_group_tests("tests", registered.tests, n, registered.set_up, registered.tear_down);
}
