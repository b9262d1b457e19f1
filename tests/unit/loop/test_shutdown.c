/* SPDX-License-Identifier: BSD-3-Clause */
/* What the daemon waits for at its end shares one time. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "daemon/source/loop/shutdown.h"
#include "proto/base/time.h"

static void *end_at_once(void *ctx)
{
        return ctx;
}

static void *never_end(void *ctx)
{
        for (;;)
                pause();
        return ctx;
}

static pid_t start_child(int status)
{
        const pid_t pid = fork();

        if (pid == 0) {
                if (status < 0)
                        pause();
                _exit(status);
        }
        assert_true(pid > 0);
        return pid;
}

TEST(test_what_ends_is_not_waited_for)
{
        pthread_t thread;
        int status;

        assert_int_equal(pthread_create(&thread, NULL, end_at_once, NULL), 0);
        assert_true(shutdown_join(thread, STOP_CHECKPOINTS));
        assert_true(shutdown_reap(start_child(3), &status, STOP_SILENCES));
        assert_int_equal(WEXITSTATUS(status), 3);
        assert_true(shutdown_reap(getpid(), &status, STOP_SILENCES)); /* no child */
        assert_int_equal(status, 0);
}

TEST(test_what_does_not_end_has_its_part_alone)
{
        const pid_t child = start_child(-1);
        pthread_t thread;
        int status;

        const uint64_t whole = shutdown_left_ns(STOP_SILENCES);
        assert_true(whole <= STOP_S * NS_PER_S);
        shutdown_begin();
        assert_false(shutdown_reap(child, &status, STOP_NOTIFIER));
        assert_int_equal(shutdown_left_ns(STOP_NOTIFIER), 0);
        assert_int_equal(pthread_create(&thread, NULL, never_end, NULL), 0);
        assert_false(shutdown_join(thread, STOP_CHECKPOINTS));
        assert_int_equal(shutdown_left_ns(STOP_COPIES), 0);
        assert_int_equal(shutdown_left_ns(STOP_CHECKPOINTS), 0);
        assert_true(shutdown_left_ns(STOP_SILENCES) <= whole / 2); /* what others have used is gone */
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(pthread_cancel(thread), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
}
