/* SPDX-License-Identifier: BSD-3-Clause */
/* hung: real processes whose threads wait for each other, wait with a limit, or wait for input. */
#include "tests/unit/test.h"

#include <pthread.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client/launch/run/session.h"

static pthread_mutex_t never = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t nobody = PTHREAD_COND_INITIALIZER;

static void *wait_for_ever(void *unused)
{
        pthread_mutex_lock(&never);
        for (;;)
                pthread_cond_wait(&nobody, &never);
        return NULL;
}

static void *wait_with_limit(void *unused)
{
        struct timespec t;

        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_sec += 1000;
        pthread_mutex_lock(&never);
        for (;;)
                pthread_cond_timedwait(&nobody, &never, &t);
        return NULL;
}

static void *wait_for_input(void *unused)
{
        (void)poll(NULL, 0, -1);
        return unused;
}

/* A process with two threads, one waiting forever and one in `other`. */
static pid_t start(void *(*other)(void *))
{
        pid_t pid = fork();

        if (pid == 0) {
                pthread_t t;
                if (pthread_create(&t, NULL, other, NULL) != 0)
                        _exit(1);
                wait_for_ever(NULL);
        }
        assert_true(pid > 0);
        return pid;
}

static void end(pid_t pid)
{
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
}

/* Looks until the answer is not 0, for at most `looks` times 10 ms; time is ours. */
static long long look(pid_t pid, int looks)
{
        struct hung h;
        long long stuck = 0;

        hung_init(&h, pid);
        for (int i = 0; i < looks && stuck == 0; i++) {
                stuck = hung_check(&h, "", 1000LL * i);
                poll(NULL, 0, 10);
        }
        return stuck;
}

TEST(all_wait)
{
        pid_t pid = start(wait_for_ever);
        struct hung h;

        assert_true(look(pid, 10000) >= 1000);
        hung_init(&h, pid);
        assert_int_equal(hung_check(&h, "", 5000), 0);
        assert_int_equal(hung_check(&h, "", 9000), 4000);
        end(pid);
        assert_int_equal(hung_check(&h, "", 99000), 0); /* ended is not hung */
}

TEST(one_can_wake)
{
        pid_t limit = start(wait_with_limit), input = start(wait_for_input);
        poll(NULL, 0, 200); /* either way the answer must be no; this makes it the answer of a settled process */
        assert_int_equal(look(limit, 20), 0);
        assert_int_equal(look(input, 20), 0);
        end(limit);
        end(input);
}
