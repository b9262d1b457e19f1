/* SPDX-License-Identifier: BSD-3-Clause */
/* The feed of finished logs with a silent reader: a script in PATH named heapwatchd. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "client/feed/feed.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"

static char directory[] = "/tmp/hw-feed-XXXXXX", script[64];

/* A reader that does this and nothing else. */
static struct feed *feed_of(const char *commands)
{
        const char *const paths[] = { script }; /* a file that is there; what it holds is not read */
        struct error error = { "" };
        FILE *f = fopen(script, "w");

        assert_non_null(f);
        fprintf(f, "#!/bin/sh\n%s\n", commands);
        fclose(f);
        assert_int_equal(chmod(script, 0700), 0);
        struct feed *feed = feed_files(paths, 1, NULL, &error);
        if (!feed)
                fail_msg("%s", error.text);
        return feed;
}

/* Its end comes within the time that a caller gives: NOTHING would mean that it still runs. */
static void the_end_of_a_silent_reader_is_told(void **state)
{
        const Hw__Update *u;
        struct feed *feed = feed_of("sleep 0.2; exit 3");

        (void)state;
        assert_int_equal(feed_next(feed, 600000, &u), FEED_FAILED);
        assert_non_null(strstr(feed_error(feed), "status 3"));
        assert_int_equal(feed_next(feed, 600000, &u), FEED_FAILED);
        feed_close(&feed);
}

static void nothing_means_that_the_time_is_up(void **state)
{
        const Hw__Update *u;
        struct feed *feed = feed_of("exec sleep 600");
        uint64_t before_ms = clock_mono_ms();

        (void)state;
        assert_int_equal(feed_next(feed, 0, &u), FEED_NOTHING);
        assert_int_equal(feed_next(feed, 300, &u), FEED_NOTHING);
        assert_true(clock_mono_ms() - before_ms >= 300);
        feed_close(&feed);
}

static void on_alarm(int number)
{
        (void)number;
}

static void a_signal_ends_a_wait(void **state)
{
        struct sigaction action = { .sa_handler = on_alarm }, old;
        struct itimerval often = { { 0, 100000 }, { 0, 100000 } }, never = { { 0, 0 }, { 0, 0 } };
        const Hw__Update *u;
        struct feed *feed = feed_of("exec sleep 600");

        (void)state;
        assert_int_equal(sigaction(SIGALRM, &action, &old), 0);
        assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
        assert_int_equal(feed_next(feed, -1, &u), FEED_NOTHING);
        assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
        assert_int_equal(sigaction(SIGALRM, &old, NULL), 0);
        feed_close(&feed);
}

static int setup(void **state)
{
        char path[4096];

        (void)state;
        if (!mkdtemp(directory))
                return -1;
        snprintf(script, sizeof(script), "%s/heapwatchd", directory);
        snprintf(path, sizeof(path), "%s:%s", directory, getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
        return setenv("PATH", path, 1);
}

static int teardown(void **state)
{
        (void)state;
        (void)unlink(script);
        return rmdir(directory);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_end_of_a_silent_reader_is_told),
                cmocka_unit_test(nothing_means_that_the_time_is_up),
                cmocka_unit_test(a_signal_ends_a_wait),
        };

        return cmocka_run_group_tests(tests, setup, teardown);
}
