/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a run in its directory, as other processes read it, with a child as the runner. */
#include "tests/unit/test.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/run_life.h"

struct run {
        char parent[64], directory[128], program_text[16];
        pid_t runner, program;
};

/* A runner that has started a program, which sleeps; both live. */
static struct run begin(int ended)
{
        struct run r = { .parent = "/tmp/hw-test-XXXXXX" };
        int ready[2];

        assert_non_null(mkdtemp(r.parent));
        (void)snprintf(r.directory, sizeof(r.directory), "%s/" RUN_LIFE_DIRECTORY, r.parent);
        assert_non_null(mkdtemp(r.directory));
        assert_int_equal(pipe(ready), 0);
        r.runner = fork();
        if (r.runner == 0) {
                const int life = run_life_begin(r.directory);
                pid_t program = fork();
                if (program == 0)
                        for (;;)
                                pause();
                run_life_started(life, program);
                if (ended >= 0)
                        run_life_ended(life, ended);
                if (write(ready[1], &program, sizeof(program)) != sizeof(program))
                        _exit(1);
                for (;;)
                        pause();
        }
        assert_int_equal(read(ready[0], &r.program, sizeof(r.program)), sizeof(r.program));
        (void)close(ready[0]);
        (void)close(ready[1]);
        return r;
}

static void kill_runner(const struct run *r)
{
        assert_int_equal(kill(r->runner, SIGKILL), 0);
        assert_int_equal(waitpid(r->runner, NULL, 0), r->runner);
}

/* It has no parent that waits for it: until it is gone, or has no program any more. */
static void kill_program(const struct run *r)
{
        char path[64], target[1];

        assert_int_equal(kill(r->program, SIGKILL), 0);
        (void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)r->program);
        while (readlink(path, target, sizeof(target)) > 0)
                usleep(1000);
        while (kill(r->program, 0) == 0)
                usleep(1000);
}

static enum run_life_end end_of(const struct run *r, struct run_life *ret)
{
        run_life_read(r->directory, ret);
        return ret->end;
}

TEST(test_killed)
{
        struct run r = begin(-1);
        struct run_life life;

        assert_int_equal(end_of(&r, &life), RUN_LIFE_RUNS);
        kill_runner(&r);
        assert_int_equal(end_of(&r, &life), RUN_LIFE_RUNS); /* its program goes on */
        kill_program(&r);
        assert_int_equal(end_of(&r, &life), RUN_LIFE_KILLED);
        run_life_sweep(r.parent);
        assert_int_equal(access(r.directory, F_OK), 0); /* its daemon may not know yet */
        struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
        assert_int_equal(utimensat(AT_FDCWD, r.directory, old, 0), 0);
        run_life_sweep(r.parent);
        assert_int_equal(end_of(&r, &life), RUN_LIFE_NONE);
        assert_int_equal(rmdir(r.parent), 0);
}

TEST(test_ended)
{
        static const struct {
                int wait_status;
                uint32_t status, signal;
        } ends[] = { { 0, 0, 0 }, { 3 << 8, 3, 0 }, { SIGSEGV, 0, SIGSEGV } };
        struct run_life life;

        for (unsigned i = 0; i < 3; i++) {
                struct run r = begin(ends[i].wait_status);
                assert_int_equal(end_of(&r, &life), RUN_LIFE_RUNS);
                kill_runner(&r);
                assert_int_equal(end_of(&r, &life), RUN_LIFE_ENDED);
                assert_int_equal(life.status, ends[i].status);
                assert_int_equal(life.signal, ends[i].signal);
                kill_program(&r);
                run_life_remove(r.directory);
                assert_int_equal(end_of(&r, &life), RUN_LIFE_NONE);
                assert_int_equal(rmdir(r.parent), 0);
        }
}

/* What has the name of the file may be anything; output of the program stays. */
TEST(test_hostile)
{
        static const char *const texts[] = { "", "program 1 2", "program 99999999999999999999 1\nended 256 1\n",
                                             "ended -1 -1\n", "\n\n\0ended 1 1" };
        struct run r = begin(-1);
        char path[160], output[160];
        struct run_life life;

        kill_runner(&r);
        kill_program(&r);
        (void)snprintf(path, sizeof(path), "%s/life", r.directory);
        (void)snprintf(output, sizeof(output), "%s/output", r.directory);
        for (unsigned i = 0; i < 5; i++) {
                FILE *f = fopen(path, "w");
                assert_non_null(f);
                assert_true(fputs(texts[i], f) >= 0);
                assert_int_equal(fclose(f), 0);
                assert_int_equal(end_of(&r, &life), RUN_LIFE_KILLED);
        }
        assert_int_equal(unlink(path), 0);
        assert_int_equal(end_of(&r, &life), RUN_LIFE_UNKNOWN);
        assert_int_equal(mkfifo(path, 0600), 0);
        assert_int_equal(end_of(&r, &life), RUN_LIFE_UNKNOWN);
        FILE *f = fopen(output, "w");
        assert_non_null(f);
        assert_true(fputs("lines", f) >= 0);
        assert_int_equal(fclose(f), 0);
        run_life_remove(r.directory);
        assert_int_equal(access(path, F_OK), -1);
        assert_int_equal(unlink(output), 0);
        assert_int_equal(rmdir(r.directory), 0);
        assert_int_equal(rmdir(r.parent), 0);
}

/* The daemon may not have connected yet to a process that goes on after its run. */
TEST(test_sockets_of_the_living)
{
        static const char *const gone[] = { "agent", "agent.pid", "agent-0", "agent-1073741823" };
        struct run r = begin(-1);
        char path[200], own[200];

        kill_runner(&r);
        kill_program(&r);
        (void)snprintf(own, sizeof(own), "%s/agent-%d", r.directory, getpid());
        assert_int_equal(close(open(own, O_WRONLY | O_CREAT, 0600)), 0);
        assert_true(run_life_has_living_socket(own));
        for (size_t i = 0; i < sizeof(gone) / sizeof(*gone); i++) {
                (void)snprintf(path, sizeof(path), "%s/%s", r.directory, gone[i]);
                assert_int_equal(close(open(path, O_WRONLY | O_CREAT, 0600)), 0);
                assert_false(run_life_has_living_socket(path));
        }
        run_life_remove(r.directory);
        assert_int_equal(access(own, F_OK), 0);
        assert_int_equal(access(path, F_OK), -1);
        assert_int_equal(unlink(own), 0);
        assert_int_equal(rmdir(r.directory), 0); /* all else is gone */
        assert_int_equal(rmdir(r.parent), 0);
}

TEST(test_directory)
{
        char directory[64];

        assert_true(run_life_directory("/r/heapwatch/run-a1B2c3/agent", directory, sizeof(directory)));
        assert_string_equal(directory, "/r/heapwatch/run-a1B2c3");
        assert_true(run_life_directory("/run-a1B2c3/agent-17", directory, sizeof(directory)));
        assert_false(run_life_directory("/r/run-a1B2c/agent", directory, sizeof(directory)));
        assert_false(run_life_directory("/r/run-a1B2c3/log", directory, sizeof(directory)));
        assert_false(run_life_directory("agent", directory, sizeof(directory)));
        assert_false(run_life_directory("/r/heapwatch/run-a1B2c3/agent", directory, 16));
}
