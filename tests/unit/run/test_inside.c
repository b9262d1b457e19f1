/* SPDX-License-Identifier: BSD-3-Clause */
/* What the claim on a socket tells about the program that has it. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "client/launch/program/agent_fit.h"
#include "client/launch/run/inside.h"

static char directory[] = "/tmp/test_inside-XXXXXX", socket_path[64];

/* As the agent claims it; returns when it has. */
static pid_t start_owner(void (*then)(void))
{
        int ready[2];
        char byte;

        assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
        const pid_t pid = fork();
        if (pid == 0) {
                const struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
                const int fd = open(inside_claim(socket_path), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
                if (fd < 0 || fcntl(fd, F_SETLK, &lock) < 0 || dprintf(fd, "%d\n", (int)getpid()) < 0 ||
                    write(ready[1], "", 1) != 1)
                        _exit(1);
                then();
                _exit(0);
        }
        assert_true(pid > 0);
        assert_int_equal(read(ready[0], &byte, 1), 1);
        close(ready[0]);
        close(ready[1]);
        return pid;
}

static void wait_for_signal(void)
{
        pause();
}

/* As a program that becomes a daemon: the lock of the claim goes with its descriptor, the agent stays. */
static void close_all_descriptors(void)
{
        char path[96];

        (void)snprintf(path, sizeof(path), "%s/" AGENT_LIBRARY ".so", directory);
        const int fd = open(path, O_RDWR | O_CREAT, 0600);
        if (ftruncate(fd, 1) < 0 || mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED || unlink(path) < 0)
                _exit(1);
        for (int i = 3; i < 256; i++)
                (void)close(i);
        pause();
}

static void execute(void)
{
        execl("/bin/sleep", "sleep", "1000", (char *)NULL);
}

static void end(void)
{
}

TEST(test_only_what_executes_another_program_has)
{
        siginfo_t info;

        const pid_t lives = start_owner(wait_for_signal);
        assert_true(inside_owner_lives(socket_path));
        assert_false(inside_has_executed(socket_path, lives));
        kill(lives, SIGKILL);
        assert_int_equal(waitpid(lives, NULL, 0), lives);
        assert_false(inside_has_executed(socket_path, lives));

        const pid_t executes = start_owner(execute);
        while (!inside_has_executed(socket_path, executes))
                usleep(1000);
        assert_false(inside_owner_lives(socket_path));
        kill(executes, SIGKILL);
        assert_int_equal(waitpid(executes, NULL, 0), executes);

        const pid_t closes = start_owner(close_all_descriptors);
        while (inside_owner_lives(socket_path))
                usleep(1000);
        assert_false(inside_has_executed(socket_path, closes));
        kill(closes, SIGKILL);
        assert_int_equal(waitpid(closes, NULL, 0), closes);

        /* Until we have waited for it, it is a process still. */
        const pid_t ended = start_owner(end);
        assert_int_equal(waitid(P_PID, (id_t)ended, &info, WEXITED | WNOWAIT), 0);
        assert_int_equal(kill(ended, 0), 0);
        assert_false(inside_has_executed(socket_path, ended));
        assert_int_equal(waitpid(ended, NULL, 0), ended);
}

static int set_up(void **state)
{
        if (!mkdtemp(directory))
                return -1;
        (void)snprintf(socket_path, sizeof(socket_path), "%s/agent", directory);
        return 0;
}

static int tear_down(void **state)
{
        inside_clean(socket_path);
        return rmdir(directory);
}

TEST_GROUP(set_up, tear_down)
