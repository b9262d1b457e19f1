/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a program cannot be watched from inside: which obstacle, and that each has its words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "client/launch/program/agent_fit.h"
#include "proto/base/limits.h"

static void of_a_file(void **state)
{
        struct agent_fit f = { .version = "9.4.7", .ghc = true, .eventlog = true };

        (void)state;
        assert_int_equal(obstacle_of(&f), OBSTACLE_OTHER_LIBC); /* static: LD_PRELOAD does not reach it, */
        f.agent = true;                                         /* and need not if it is linked in */
        assert_int_equal(obstacle_of(&f), OBSTACLE_NONE);
        f.agent = false;
        f.loader = true;
        assert_int_equal(obstacle_of(&f), OBSTACLE_NONE);
        f.eventlog = false;
        assert_int_equal(obstacle_of(&f), OBSTACLE_NO_EVENTLOG);
        (void)snprintf(f.version, sizeof(f.version), "9.0.2"); /* whose log the agent makes itself */
        assert_int_equal(obstacle_of(&f), OBSTACLE_NONE);
        f.stripped = true;
        assert_int_equal(obstacle_of(&f), OBSTACLE_STRIPPED);
        f.shared_runtime = true;
        assert_int_equal(obstacle_of(&f), OBSTACLE_SHARED_RUNTIME);
        f.ghc = false;
        assert_int_equal(obstacle_of(&f), OBSTACLE_NOT_GHC);
}

static void each_has_its_own_words(void **state)
{
        char sentence[PROCESS_REASON_SIZE];

        (void)state;
        assert_string_equal(obstacle_reason(OBSTACLE_NONE), "");
        obstacle_sentence(OBSTACLE_NONE, NULL, sentence, sizeof(sentence));
        assert_string_equal(sentence, "");
        for (int i = OBSTACLE_NONE + 1; i < OBSTACLE_COUNT; i++) {
                const char *reason = obstacle_reason((enum obstacle)i);
                assert_true(strlen(reason) > 10);
                for (int k = OBSTACLE_NONE + 1; k < i; k++)
                        assert_string_not_equal(reason, obstacle_reason((enum obstacle)k));
                obstacle_sentence((enum obstacle)i, NULL, sentence, sizeof(sentence));
                assert_true(strlen(sentence) < sizeof(sentence) - 1);
                assert_non_null(strstr(sentence, obstacle_remedy((enum obstacle)i)));
        }
        assert_non_null(strstr(obstacle_remedy(OBSTACLE_STRIPPED), "--disable-executable-stripping"));
}

static void this_very_program(void **state)
{
        struct agent_fit f;
        struct error error = { "" };

        (void)state;
        assert_true(agent_fit_check("/proc/self/exe", &f, &error));
        assert_int_equal(f.obstacle, OBSTACLE_NOT_GHC);
        assert_string_equal(error.text, obstacle_reason(OBSTACLE_NOT_GHC));
        assert_false(agent_fit_check("/nowhere", &f, &error));
        assert_int_equal(f.obstacle, OBSTACLE_NOT_GHC);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(of_a_file),
                cmocka_unit_test(each_has_its_own_words),
                cmocka_unit_test(this_very_program),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
