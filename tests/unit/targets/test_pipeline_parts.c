/* SPDX-License-Identifier: BSD-3-Clause */
/* The small parts of a pipeline: when it is published, which damaged places it keeps, what it knows of its process. */
#include <unistd.h>

#include "tests/unit/test.h"
#include <sys/wait.h>
#include <signal.h>

#include "daemon/publish/limits.h"
#include "proto/base/clock.h"
#include "daemon/watch/targets/pipeline_internal.h"
#include "daemon/source/process_watch.h"

#define MS 1000000u

TEST(test_the_first_flush_waits_for_nothing)
{
        struct publish_pace p = { 0 };

        assert_int_equal(publish_pace_wait_ns(&p, 5 * MS), 0);
}

TEST(test_a_flush_rests_at_least_the_interval)
{
        struct publish_pace p = { 0 };

        publish_pace_flushed(&p, 100 * MS, 101 * MS);
        assert_int_equal(publish_pace_wait_ns(&p, 101 * MS), PACE_INTERVAL_NS);
        assert_int_equal(publish_pace_wait_ns(&p, 105 * MS), 6 * MS);
        assert_int_equal(publish_pace_wait_ns(&p, 111 * MS), 0);
        assert_int_equal(publish_pace_wait_ns(&p, 500 * MS), 0);
}

TEST(test_a_long_flush_takes_a_fifth_of_the_time_at_most)
{
        struct publish_pace p = { 0 };

        publish_pace_flushed(&p, 0, 20 * MS);
        assert_int_equal(publish_pace_wait_ns(&p, 20 * MS), 80 * MS);
        publish_pace_flushed(&p, 0, 2000u * MS);
        assert_int_equal(publish_pace_wait_ns(&p, 2000u * MS), PACE_REST_MOST_NS);
        publish_pace_flushed(&p, 20 * MS, 10 * MS); /* a clock that goes back */
        assert_int_equal(publish_pace_wait_ns(&p, 10 * MS), PACE_INTERVAL_NS);
}

TEST(test_only_the_newest_damages_are_kept)
{
        struct damages d = { 0 };

        for (uint64_t i = 0; i < LIMIT_DAMAGES + 3; i++)
                damages_add(&d, &(struct hw_eventlog_damage){ .offset = i, .lost_bytes = 1 });
        assert_int_equal(d.n, LIMIT_DAMAGES);
        assert_int_equal(d.all, LIMIT_DAMAGES + 3);
        assert_int_equal(d.places[0].offset, 3);
        assert_int_equal(d.places[LIMIT_DAMAGES - 1].offset, LIMIT_DAMAGES + 2);
}

TEST(test_a_damage_grows_until_it_is_over)
{
        struct damages d = { 0 };

        assert_int_equal(damages_measure(&d, &(struct hw_eventlog_damage){ .offset = 0, .lost_bytes = 9 }), 0);
        assert_int_equal(d.n, 0);
        damages_add(&d, &(struct hw_eventlog_damage){ .offset = 7, .lost_bytes = 1 });
        assert_int_equal(damages_measure(&d, &(struct hw_eventlog_damage){ .offset = 7, .lost_bytes = 5 }), 4);
        assert_int_equal(d.places[0].lost_bytes, 5);
        assert_int_equal(damages_measure(&d, &(struct hw_eventlog_damage){ .offset = 7, .lost_bytes = 2 }), 0);
        assert_int_equal(damages_measure(&d, &(struct hw_eventlog_damage){ .offset = 8, .lost_bytes = 80 }), 0);
        assert_int_equal(d.places[0].lost_bytes, 5);
}

TEST(test_a_process_is_never_seen_then_alive_then_gone)
{
        struct process_watch w = { .root = "" };
        struct process_sample sample;
        uint64_t now = clock_wall_ns();

        process_watch_begin(&w, 0, 0);
        assert_int_equal(process_watch_poll(&w, (uint32_t)getpid(), 0, now, &sample), PROCESS_NEVER_SEEN);
        assert_int_equal(process_watch_poll(&w, (uint32_t)getpid(), now, now, &sample), PROCESS_ALIVE);
        assert_int_equal(sample.wall_ns, now);
        assert_true(sample.rss_bytes != UNKNOWN_U64 && sample.rss_bytes > 0);
        uint64_t pss = sample.pss_bytes;
        assert_int_equal(process_watch_poll(&w, (uint32_t)getpid(), now, now + 1, &sample), PROCESS_ALIVE);
        assert_int_equal(sample.pss_bytes, pss);
        /* A clock that was set moves the start of the run, and the process stays what it is. */
        assert_int_equal(process_watch_poll(&w, (uint32_t)getpid(), 0, now, &sample), PROCESS_ALIVE);
        process_watch_begin(&w, 0, 0);
        assert_int_equal(process_watch_poll(&w, (uint32_t)getpid(), 0, now, &sample), PROCESS_NEVER_SEEN);

        pid_t child = fork();
        if (child == 0) {
                for (;;)
                        (void)pause();
        }
        assert_true(child > 0);
        process_watch_begin(&w, 0, 0);
        now = clock_wall_ns();
        assert_int_equal(process_watch_poll(&w, (uint32_t)child, now, now, &sample), PROCESS_ALIVE);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        assert_int_equal(process_watch_poll(&w, (uint32_t)child, now, now + 1, &sample), PROCESS_GONE);
}
