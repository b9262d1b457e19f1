/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/fuzz_commands.c"

#include "tests/unit/fuzz/replay.h"

static void test_corpus(void **state)
{
        (void)state;
        replay("commands");
}

int main(void)
{
        const struct CMUnitTest tests[] = { cmocka_unit_test(test_corpus) };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
