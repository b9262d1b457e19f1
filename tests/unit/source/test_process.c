/* SPDX-License-Identifier: BSD-3-Clause */
/* A process alone as a source: found, gone, and told apart from a later one with its number. */
#include "tests/unit/source/harness.h"

#include <sys/wait.h>

#include "proto/base/process.h"
#include "tests/unit/test.h"

static struct heard a;
static struct process_identity found;
static unsigned n_found;

static void on_process(void *ctx, const struct process_identity *process)
{
        found = *process;
        n_found++;
}

static void watch(pid_t pid, uint64_t start_ticks)
{
        const struct source_sink sink = { &a, on_bytes, on_more, on_cut, on_state, on_process };
        struct source_uri uri;
        struct error error = { "" };
        char text[64];

        memset(&a, 0, sizeof(a));
        n_found = 0;
        if (start_ticks)
                snprintf(text, sizeof(text), "pid:%d@%llu", (int)pid, (unsigned long long)start_ticks);
        else
                snprintf(text, sizeof(text), "pid:%d", (int)pid);
        assert_true(source_uri_parse(text, &uri, &error));
        a.source = source_open(base, &uri, &sink, NULL, &error);
        assert_non_null(a.source);
        assert_int_equal(a.states, 0);
}

/* A child that waits to be killed. */
static pid_t child(void)
{
        pid_t pid = fork();

        assert_true(pid >= 0);
        if (pid == 0)
                for (;;)
                        (void)pause();
        return pid;
}

static void end(pid_t pid)
{
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
}

TEST_WITH(found_and_gone, set_up, tear_down)
{
        pid_t pid = child();

        watch(pid, 0);
        run_until(n_found);
        assert_int_equal(a.state, SOURCE_OPEN);
        assert_int_equal(found.pid, pid);
        assert_int_equal(found.parent_pid, getpid());
        assert_true(source_is_local(a.source));
        end(pid);
        run_until(a.state == SOURCE_ENDED);
        assert_non_null(strstr(a.why, "is gone"));
        assert_int_equal(n_found, 1);
        assert_int_equal(a.cuts, 0);
        source_close(&a.source);
}

/* Nobody reaps it: a zombie has ended, too. */
TEST_WITH(zombie, set_up, tear_down)
{
        pid_t pid = child();
        siginfo_t info;

        watch(pid, 0);
        run_until(n_found);
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
        run_until(a.state == SOURCE_ENDED);
        source_close(&a.source);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
}

TEST_WITH(another_of_that_number, set_up, tear_down)
{
        pid_t pid = child();

        watch(pid, 0);
        run_until(n_found);
        source_close(&a.source);
        watch(pid, found.start_ticks + 1);
        run_until(a.state == SOURCE_ENDED);
        assert_non_null(strstr(a.why, "started later"));
        assert_int_equal(n_found, 0);
        source_close(&a.source);
        watch(pid, found.start_ticks);
        run_until(n_found);
        source_close(&a.source);
        end(pid);
}

TEST_WITH(never_there, set_up, tear_down)
{
        pid_t pid = child();

        end(pid);
        watch(pid, 0);
        run_until(a.state == SOURCE_ENDED);
        assert_non_null(strstr(a.why, "there is no process"));
        assert_int_equal(n_found, 0);
        source_close(&a.source);
        watch(pid, 77); /* it was, before the daemon was started again */
        run_until(a.state == SOURCE_ENDED);
        assert_non_null(strstr(a.why, "is gone"));
        source_close(&a.source);
}
