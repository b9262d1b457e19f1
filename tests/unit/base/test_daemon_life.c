/* SPDX-License-Identifier: BSD-3-Clause */
/* How a daemon ended, as the next one and clients learn it; daemons are processes of their own here, as locks are. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "proto/base/clock.h"
#include "proto/base/daemon_life.h"
#include "proto/base/error.h"

#define NS_PER_S UINT64_C(1000000000)

static char root[64], path[128];

static int setup(void **state)
{
        snprintf(root, sizeof(root), "/tmp/daemon-life-XXXXXX");
        if (!mkdtemp(root))
                return -1;
        snprintf(path, sizeof(path), "%s/life", root);
        return 0;
}

static int teardown(void **state)
{
        (void)unlink(path);
        return rmdir(root);
}

enum way { STOPPED, CRASHED, KILLED, STAYS };

/* A daemon that lives and ends in this way. Its process; ret_before is not known outside of it. */
static pid_t live(enum way way)
{
        struct daemon_life before;
        int ready[2];
        char byte;

        assert_int_equal(pipe(ready), 0);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                int fd = daemon_life_begin(root, true, &before, NULL);

                if (fd < 0)
                        _exit(1);
                if (way == STOPPED)
                        daemon_life_stopped(fd);
                if (way == CRASHED)
                        daemon_life_crashed(fd, SIGSEGV);
                if (write(ready[1], "", 1) != 1)
                        _exit(1);
                if (way == STAYS)
                        pause();
                _exit(0);
        }
        assert_int_equal(read(ready[0], &byte, 1), 1);
        close(ready[0]);
        close(ready[1]);
        if (way != STAYS)
                assert_int_equal(waitpid(pid, NULL, 0), pid);
        return pid;
}

static struct daemon_life now(void)
{
        struct daemon_life life;

        daemon_life_read(root, &life);
        return life;
}

TEST_WITH(ends, setup, teardown)
{
        char text[DAEMON_LIFE_TEXT_MAX];

        assert_int_equal(now().end, LIFE_NONE);
        pid_t pid = live(STOPPED);
        struct daemon_life life = now();
        assert_int_equal(life.end, LIFE_STOPPED);
        assert_int_equal(life.pid, pid);
        assert_true(life.records);
        assert_false(daemon_life_died(&life));

        live(CRASHED);
        life = now();
        assert_int_equal(life.end, LIFE_SIGNAL);
        assert_int_equal(life.signal, SIGSEGV);
        assert_true(daemon_life_died(&life));
        assert_true(life.ended_ns >= life.began_ns && life.ended_ns - life.began_ns < 60 * NS_PER_S);
        assert_non_null(strstr(daemon_life_text(text, &life), "ended by SIGSEGV at 20"));

        live(KILLED);
        life = now();
        assert_int_equal(life.end, LIFE_KILLED);
        assert_int_equal(life.ended_ns, 0);
        assert_non_null(strstr(daemon_life_text(text, &life), "was killed"));
}

TEST_WITH(one_at_a_time, setup, teardown)
{
        struct daemon_life before;
        struct error error;
        char expected[64];

        pid_t pid = live(STAYS);
        assert_int_equal(now().end, LIFE_RUNS);
        assert_int_equal(daemon_life_begin(root, false, &before, &error), -EBUSY);
        snprintf(expected, sizeof(expected), "process %ld", (long)pid);
        assert_non_null(strstr(error.text, expected));
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        assert_int_equal(now().end, LIFE_KILLED);
}

/* The more daemons in a row have not lived for long, the later the next one. */
TEST_WITH(pauses, setup, teardown)
{
        static const uint64_t seconds[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300 };

        for (uint32_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
                live(i % 2 ? CRASHED : KILLED);
                struct daemon_life life = now();
                assert_int_equal(life.short_lives, i);
                assert_int_equal(daemon_life_failures(&life), i + 1);
                assert_int_equal(daemon_life_next_ns(&life) - life.began_ns, seconds[i] * NS_PER_S);
        }
        live(STOPPED);
        live(CRASHED);
        struct daemon_life life = now();
        assert_int_equal(daemon_life_failures(&life), 1);
}

static void write_life(const char *text)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

        assert_true(fd >= 0);
        assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
        close(fd);
}

TEST_WITH(others, setup, teardown)
{
        write_life("pid 7\nboot of-another-start\nbegan 1000\nshort-lives 2\nrecords 1\n");
        struct daemon_life life = now();
        assert_int_equal(life.end, LIFE_REBOOT);
        assert_false(daemon_life_died(&life));
        assert_int_equal(daemon_life_failures(&life), 0);

        for (const char *const *text = (const char *const[]){ "", "pid", "\n\n\n", "signal 11 99\n", "garbage", NULL };
             *text; text++) {
                write_life(*text);
                assert_int_equal(now().end, LIFE_NONE);
        }
        /* A long life does not count as one of a row, and its crash long ago is past. */
        write_life("pid 7\nbegan 1000\nshort-lives 5\nrecords 1\nsignal 11 60000001000\n");
        life = now();
        assert_int_equal(life.end, LIFE_SIGNAL);
        assert_int_equal(daemon_life_failures(&life), 0);
        assert_true(daemon_life_next_ns(&life) < clock_wall_ns());
}
