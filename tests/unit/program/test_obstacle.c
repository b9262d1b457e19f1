/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a program cannot be watched from inside: which obstacle, and that each has its words. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>

#include "client/launch/program/agent_fit.h"
#include "proto/base/limits.h"

TEST(of_a_file)
{
        struct agent_fit f = { .version = "9.4.7", .ghc = true, .eventlog = true };

        assert_int_equal(obstacle_of(&f), OBSTACLE_OTHER_LIBC); /* static: LD_PRELOAD does not reach it, */
        f.agent = true;                                         /* and need not if it is linked in */
        assert_int_equal(obstacle_of(&f), OBSTACLE_NONE);
        f.agent = false;
        f.loader = true;
        assert_int_equal(obstacle_of(&f), OBSTACLE_NONE);
        f.privileged = true;
        assert_int_equal(obstacle_of(&f), OBSTACLE_PRIVILEGED);
        f.privileged = false;
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

TEST(each_has_its_own_words)
{
        char sentence[PROCESS_REASON_SIZE];

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

TEST(this_very_program)
{
        struct agent_fit f;
        struct error error = { "" };

        assert_true(agent_fit_check("/proc/self/exe", &f, &error));
        assert_int_equal(f.obstacle, OBSTACLE_NOT_GHC);
        assert_string_equal(error.text, obstacle_reason(OBSTACLE_NOT_GHC));
        assert_false(agent_fit_check("/nowhere", &f, &error));
        assert_int_equal(f.obstacle, OBSTACLE_NOT_GHC);
}
