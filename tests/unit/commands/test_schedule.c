/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "client/commands/replay_schedule.h"
#include "proto/base/error.h"

static void recorded_arrivals(void **state)
{
        struct schedule s;
        struct error error;

        (void)state;
        schedule_init(&s);
        assert_true(schedule_parse(&s, "0.5 100\n1 300\n1 400\n2.25 500", &error));
        assert_int_equal(s.n, 4);
        assert_int_equal(schedule_due(&s, 0, 1000), 0);
        assert_int_equal(schedule_due(&s, 0.49, 1000), 0);
        assert_int_equal(schedule_due(&s, 0.5, 1000), 100);
        assert_int_equal(schedule_due(&s, 1.5, 1000), 400);
        assert_int_equal(schedule_due(&s, 1.5, 50), 50);      /* the log is shorter than the recording */
        assert_int_equal(schedule_due(&s, 2.25, 1000), 1000); /* the rest, at the end */
        assert_true(schedule_next(&s, 0, 1000) == 0.5);
        assert_true(schedule_next(&s, 100, 1000) == 1);
        assert_true(schedule_next(&s, 399, 1000) == 1);
        assert_true(schedule_next(&s, 400, 1000) == 2.25);
        assert_true(schedule_next(&s, 999, 1000) == 2.25);
        s.speed = 4;
        assert_int_equal(schedule_due(&s, 0.25, 1000), 400);
        assert_true(schedule_next(&s, 0, 1000) == 0.125);
        schedule_done(&s);
}

static void without_a_recording(void **state)
{
        struct schedule s;

        (void)state;
        schedule_init(&s);
        assert_int_equal(schedule_due(&s, 0, 1000), 1000);
        s.bytes_per_s = 100;
        assert_int_equal(schedule_due(&s, 0, 1000), 0);
        assert_int_equal(schedule_due(&s, 2, 1000), 200);
        assert_int_equal(schedule_due(&s, 1e300, 1000), 1000);
        /* Waiting until next always releases at least one byte, and all in the end. */
        for (uint64_t played = 0, steps = 0; played < 1000; steps++) {
                uint64_t due = schedule_due(&s, schedule_next(&s, played, 1000) + 1e-9, 1000);
                assert_true(due > played && steps < 2000);
                played = due;
        }
        schedule_done(&s);
}

static void bad_timing_files(void **state)
{
        static const struct {
                const char *text, *says;
        } cases[] = {
                { "", "empty" },
                { "x", "line 1: expected" },
                { "1 2\n1\n", "line 2: expected" },
                { "1 2\n2 -5\n", "line 2: expected" },
                { "1 2 3\n", "line 1: expected" },
                { "-1 2\n", "line 1: expected" },
                { "nan 2\n", "line 1: expected" },
                { "inf 2\n", "line 1: expected" },
                { "1 2\n0.5 3\n", "line 2: time and offset" },
                { "1 2\n2 1\n", "line 2: time and offset" },
        };
        struct schedule s;
        struct error error;

        (void)state;
        schedule_init(&s);
        assert_true(schedule_parse(&s, "1 2\n", &error));
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
                assert_false(schedule_parse(&s, cases[i].text, &error));
                if (!strstr(error.text, cases[i].says))
                        fail_msg("\"%s\": says \"%s\"", cases[i].text, error.text);
                assert_int_equal(s.n, 1); /* unchanged */
        }
        schedule_done(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(recorded_arrivals),
                cmocka_unit_test(without_a_recording),
                cmocka_unit_test(bad_timing_files),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
