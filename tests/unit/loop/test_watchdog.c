/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns of the loop: which work their time is attributed to, the longest by CPU time, waits, and unattributed work. */
#include <time.h>

#include "tests/unit/test.h"

#include "daemon/source/loop/watchdog.h"

#define MS UINT64_C(1000000)

static uint64_t cpu_ns(void)
{
        struct timespec t;

        assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
        return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static void work_ms(uint64_t ms)
{
        const uint64_t end_ns = cpu_ns() + ms * MS;

        while (cpu_ns() < end_ns)
                ;
}

TEST(the_inner_time_is_not_the_outer_one)
{
        watchdog_begin(WATCHDOG_SOURCE);
        watchdog_of("api");
        work_ms(5);
        watchdog_begin(WATCHDOG_RULES);
        watchdog_of("another");
        work_ms(20);
        watchdog_end();
        watchdog_end();

        const struct watchdog_turn *t = watchdog_longest();
        assert_true(t->kind == WATCHDOG_RULES || t->part_ns[WATCHDOG_SOURCE] > t->part_ns[WATCHDOG_RULES]);
        assert_string_equal(t->target, "api"); /* it was named first */
        assert_true(t->part_ns[WATCHDOG_RULES] >= 20 * MS);
        assert_true(t->part_ns[WATCHDOG_SOURCE] >= 5 * MS);
        assert_int_equal(t->part_ns[WATCHDOG_RULES] + t->part_ns[WATCHDOG_SOURCE], t->wall_ns);
        assert_true(t->cpu_ns >= 25 * MS);
        assert_memory_equal(watchdog_recent(), t, sizeof(*t));
        assert_int_equal(watchdog_share(WATCHDOG_RULES)->times, 1);
        assert_int_equal(watchdog_share(WATCHDOG_RULES)->time_ns, t->part_ns[WATCHDOG_RULES]);
        assert_int_equal(watchdog_share(WATCHDOG_REQUEST)->times, 0);
}

/* A turn that did not get the CPU is long in wall time, but not the longest. */
TEST(waiting_is_not_work)
{
        static const struct timespec pause = { .tv_nsec = 120 * 1000000 };
        struct watchdog_turn before = *watchdog_longest();

        watchdog_begin(WATCHDOG_REQUEST);
        (void)nanosleep(&pause, NULL);
        watchdog_end();
        assert_memory_equal(watchdog_longest(), &before, sizeof(before));
        assert_true(watchdog_share(WATCHDOG_REQUEST)->longest_ns >= 120 * MS);
}

TEST(what_nobody_announced_is_found)
{
        watchdog_round();
        work_ms(60);
        watchdog_begin(WATCHDOG_SOURCE);
        work_ms(1);
        watchdog_end();
        watchdog_round();
        assert_int_equal(watchdog_longest()->kind, WATCHDOG_HOUSEKEEPING);
        assert_true(watchdog_longest()->cpu_ns >= 60 * MS);
        assert_string_equal(watchdog_longest()->target, "");
}
