/* SPDX-License-Identifier: BSD-3-Clause */
/* ending: until when `run` asks the daemon about the end of a program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/run/run_private.h"

static bool is_settled(struct run_facts facts, bool lives)
{
        return run_end_is_settled(&facts, lives);
}

static void test_only_what_is_on_its_way_is_waited_for(void **state)
{
        (void)state;
        /* The log is being read, or its connection has just been made. */
        assert_false(is_settled((struct run_facts){ .target = true, .runs = 1 }, false));
        assert_false(is_settled((struct run_facts){ .target = true }, false));
        /* Lost, between two connections: its end is known as soon as it was reported. */
        assert_false(is_settled((struct run_facts){ .target = true, .waiting = true, .runs = 1 }, false));
        assert_true(is_settled((struct run_facts){ .target = true, .ended = true, .runs = 1 }, false));
        /* Killed before the daemon connected: nothing will come. */
        assert_true(is_settled((struct run_facts){ .target = true, .waiting = true }, false));
        /* A wrapper has ended, and the program below it goes on. */
        assert_true(is_settled((struct run_facts){ .target = true, .runs = 1 }, true));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_only_what_is_on_its_way_is_waited_for),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
