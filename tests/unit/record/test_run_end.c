/* SPDX-License-Identifier: BSD-3-Clause */
/* How a run ended as text: what is printed is read back, and nothing else is believed. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include "proto/eventlog/recording/run_end.h"

TEST(test_what_is_printed_is_read_back)
{
        struct run_end ends[] = {
                { .state = RUN_END_LOST, .detail = "its connection broke" },
                { .state = RUN_END_ENDED, .exit_known = true },
                { .state = RUN_END_FAILED, .exit_known = true, .status = 3, .detail = "ended with status 3" },
                { .state = RUN_END_CRASHED,
                  .exit_known = true,
                  .signal = 9,
                  .oom_killed = true,
                  .out_of_cpu = true,
                  .step_ns = UINT64_C(60000000000),
                  .detail = "out of\nmemory" },
                { .state = RUN_END_CRASHED, .exit_known = true, .status = UINT32_MAX },
                { .state = RUN_END_LOST, .resident_bytes = INT64_MAX, .resident_wall_ns = INT64_MAX },
                { .state = RUN_END_ENDED, .ended_wall_ns = UINT64_C(1700000000000000000) },
                { .state = RUN_END_ENDED, .why = { RUN_WHY_NOT_FOUND, 7, "its heap was not copied" } },
                { .state = RUN_END_RUNNING,
                  .limit_bytes = 7,
                  .limit_source = 3,
                  .reserved_bytes = 5,
                  .detail = "cut out" },
        };

        memset(ends[4].detail, 'x', sizeof(ends[4].detail) - 1);
        ends[4].why = (struct run_why){ .state = RUN_WHY_FOUND, .wall_ns = INT64_MAX };
        memset(ends[4].why.text, 'w', sizeof(ends[4].why.text) - 1);
        ends[4].oom_killed = true;
        ends[4].step_ns = UINT64_C(86400000000000);
        ends[4].resident_bytes = ends[4].resident_wall_ns = ends[4].ended_wall_ns = INT64_MAX;
        ends[4].started_wall_ns = ends[4].limit_bytes = ends[4].reserved_bytes = INT64_MAX;
        ends[4].limit_source = UINT8_MAX;
        for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
                char text[RUN_END_TEXT_BYTES];
                const size_t n = run_end_print(&ends[i], text);
                struct run_end got;
                assert_true(n < sizeof(text));
                assert_true(run_end_parse(text, n, &got));
                if (i == 3)
                        ends[i].detail[strlen("out of")] = ' ';
                assert_memory_equal(&got, &ends[i], sizeof(got));
                for (size_t cut = 0; cut < strlen("heapwatch end 1\nstate los"); cut++)
                        assert_false(run_end_parse(text, cut, &got));
        }
}

TEST(test_what_is_damaged_is_unknown)
{
        static const char *const texts[] = {
                "",
                "heapwatch end 1\n",
                "heapwatch end 2\nstate crashed\n",
                "heapwatch end 1\nstate fine\n",
                "heapwatch end 1\nstate crashed\nsignal nine\n",
                "heapwatch end 1\nstate crashed\nsignal -9\n",
                "heapwatch end 1\nstate crashed\nstatus 4294967296\n",
                "heapwatch end 1\nsignal 9\n",
                "heapwatch end 1\nstate crashed\nstep -1\n",
                "heapwatch end 1\nstate crashed\nstep 86400000000001\n",
                "heapwatch end 1\nstate crashed\nresident\n",
                "heapwatch end 1\nstate crashed\nwhy-at 9223372036854775808\n",
        };
        char long_text[4096] = "heapwatch end 1\nstate crashed\ndetail ";
        struct run_end end;

        for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
                char *exact = malloc(strlen(texts[i]) + 1); /* so that one byte too far is seen */
                memcpy(exact, texts[i], strlen(texts[i]));
                assert_false(run_end_parse(exact, strlen(texts[i]), &end));
                assert_int_equal(end.state, RUN_END_UNKNOWN);
                free(exact);
        }
        memset(long_text + strlen(long_text), 'x', sizeof(long_text) - strlen(long_text));
        assert_false(run_end_parse(long_text, sizeof(long_text), &end));
        assert_true(run_end_parse("heapwatch end 1\nstate crashed\nweather fine\n", 43, &end)); /* of a later version */
}
