/* SPDX-License-Identifier: BSD-3-Clause */
/* The command as it is run: in a child process, against real readers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client/cli/command.h"

#define LOG_BYTES  300000
#define DEADLINE_S 60

static char dir[] = "/tmp/heapwatch-replay-XXXXXX";
static char content[LOG_BYTES], got[3 * LOG_BYTES];

static const char *in_dir(const char *before, const char *name)
{
        static char path[4][256];
        static unsigned next;
        char *p = path[next++ % 4];

        snprintf(p, sizeof(path[0]), "%s%s/%s", before, dir, name);
        return p;
}

static void put(const char *name, const void *data, size_t size)
{
        int fd = open(in_dir("", name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

        assert_int_equal(write(fd, data, size), size);
        close(fd);
}

#define start(...) start_command((const char *[]){ "replay", __VA_ARGS__, NULL })

static pid_t start_command(const char **arguments)
{
        char *argv[16];
        int argc = 0;
        pid_t child = fork();

        if (child)
                return child;
        for (; arguments[argc]; argc++)
                argv[argc] = strdup(arguments[argc]);
        argv[argc] = NULL;
        alarm(3 * DEADLINE_S);
        int status = command_main(&command_replay, argc, argv);
        for (int i = 0; i < argc; i++)
                free(argv[i]);
        _exit(status);
}

static int finish(pid_t child)
{
        int status;

        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        return WEXITSTATUS(status);
}

/* Reads until the end or `max` bytes. */
static size_t read_up_to(int fd, size_t max)
{
        size_t size = 0;

        while (size < max) {
                struct pollfd p = { .fd = fd, .events = POLLIN };
                assert_int_equal(poll(&p, 1, DEADLINE_S * 1000), 1);
                ssize_t n = read(fd, got + size, max - size);
                assert_true(n >= 0);
                if (n == 0)
                        break;
                size += (size_t)n;
        }
        return size;
}

static int connect_when_there(const char *name)
{
        struct sockaddr_un un = { .sun_family = AF_UNIX };
        struct timespec pause = { 0, 10000000 };

        snprintf(un.sun_path, sizeof(un.sun_path), "%s", in_dir("", name));
        for (int i = 0; i < DEADLINE_S * 100; i++) {
                int fd = socket(AF_UNIX, SOCK_STREAM, 0);
                if (connect(fd, (struct sockaddr *)&un, sizeof(un)) == 0)
                        return fd;
                close(fd);
                nanosleep(&pause, NULL);
        }
        fail_msg("nobody listens at %s", un.sun_path);
        return -1;
}

static void to_a_file(void **state)
{
        struct stat st;

        (void)state;
        put("out", "something longer that must go", 29);
        assert_int_equal(finish(start(in_dir("", "log"), "--to", in_dir("file:", "out"))), EXIT_OK);
        int fd = open(in_dir("", "out"), O_RDONLY);
        assert_int_equal(read_up_to(fd, sizeof(got)), LOG_BYTES);
        assert_memory_equal(got, content, LOG_BYTES);
        close(fd);
        /* The log itself is never overwritten, whatever name it is given. */
        assert_int_equal(link(in_dir("", "log"), in_dir("", "same")), 0);
        assert_int_equal(finish(start(in_dir("", "log"), "--to", in_dir("file:", "same"))), EXIT_USAGE);
        assert_int_equal(stat(in_dir("", "log"), &st), 0);
        assert_int_equal(st.st_size, LOG_BYTES);
}

static void to_a_fifo_at_the_recorded_pace(void **state)
{
        struct timespec a, b;
        struct stat st;

        (void)state;
        put("timing", "0.1 1000\n0.8 300000\n", 20);
        assert_int_equal(mkfifo(in_dir("", "p"), 0600), 0);
        clock_gettime(CLOCK_MONOTONIC, &a);
        pid_t child = start(in_dir("", "log"), "--timing", in_dir("", "timing"), "--speed", "2", "--to",
                            in_dir("fifo:", "p"));
        int fd = open(in_dir("", "p"), O_RDONLY);
        assert_int_equal(read_up_to(fd, sizeof(got)), LOG_BYTES);
        clock_gettime(CLOCK_MONOTONIC, &b);
        assert_memory_equal(got, content, LOG_BYTES);
        double took = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
        assert_true(took > 0.34); /* 0.7 s at double speed */
        close(fd);
        assert_int_equal(finish(child), EXIT_OK);
        assert_int_equal(stat(in_dir("", "p"), &st), 0); /* not ours: stays */
}

static void loops_until_its_reader_leaves(void **state)
{
        (void)state;
        pid_t child = start(in_dir("", "log"), "--loop", "--to", in_dir("fifo:", "made"));
        int fd = -1;
        for (int i = 0; i < DEADLINE_S * 100 && fd < 0; i++) {
                struct timespec pause = { 0, 10000000 };
                nanosleep(&pause, NULL);
                fd = open(in_dir("", "made"), O_RDONLY);
        }
        assert_true(fd >= 0);
        assert_int_equal(read_up_to(fd, 2 * LOG_BYTES), 2 * LOG_BYTES);
        assert_memory_equal(got + LOG_BYTES, content, LOG_BYTES);
        close(fd);
        assert_int_equal(finish(child), EXIT_OK);
        assert_int_equal(access(in_dir("", "made"), F_OK), -1); /* what it made is gone */
}

static void serves_a_socket_and_stops_when_told(void **state)
{
        struct stat st;

        (void)state;
        pid_t child = start(in_dir("", "log"), "--loop", "--to", in_dir("unix-listen:", "s"));
        for (int i = 0; i < 2; i++) {
                int fd = connect_when_there("s");
                assert_int_equal(stat(in_dir("", "s"), &st), 0);
                assert_int_equal(st.st_mode & 0777, 0600);
                assert_int_equal(read_up_to(fd, sizeof(got)), LOG_BYTES);
                assert_memory_equal(got, content, LOG_BYTES);
                close(fd);
        }
        kill(child, SIGINT);
        assert_int_equal(finish(child), EXIT_OK);
        assert_int_equal(stat(in_dir("", "s"), &st), -1);
}

/* Nothing ever makes it wait here, yet it hears a signal; an empty log is no exception. */
static void a_loop_into_a_file_can_be_stopped(void **state)
{
        static const char *const logs[] = { "log", "empty" };
        struct stat st;

        (void)state;
        put("empty", "", 0);
        for (size_t i = 0; i < 2; i++) {
                pid_t child = start(in_dir("", logs[i]), "--loop", "--to", in_dir("file:", "out"));
                while (stat(in_dir("", "out"), &st) < 0) /* until it has begun; its alarm is the deadline */
                        assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
                kill(child, SIGTERM);
                assert_int_equal(finish(child), EXIT_OK);
                assert_int_equal(unlink(in_dir("", "out")), 0);
        }
}

static void bad_usage(void **state)
{
        const char *log = in_dir("", "log"), *out = in_dir("file:", "out2");

        (void)state;
        put("bad", "1 x\n", 4);
        assert_int_equal(finish(start("--to", out)), EXIT_USAGE);
        assert_int_equal(finish(start(log)), EXIT_USAGE);
        assert_int_equal(finish(start(log, log, "--to", out)), EXIT_USAGE);
        assert_int_equal(finish(start(log, "--to", "tcp:1")), EXIT_USAGE);
        assert_int_equal(finish(start(log, "--to", "file:")), EXIT_USAGE);
        assert_int_equal(finish(start(log, "--to")), EXIT_USAGE);
        assert_int_equal(finish(start(log, "--speed", "0", "--to", out)), EXIT_USAGE);
        assert_int_equal(finish(start(log, "--speed", "1x", "--to", out)), EXIT_USAGE);
        assert_int_equal(finish(start(log, "--rate", "nan", "--to", out)), EXIT_USAGE);
        assert_int_equal(finish(start(log, "--what", "--to", out)), EXIT_USAGE);
        assert_int_equal(finish(start("/nonexistent/log", "--to", out)), EXIT_USAGE);
        assert_int_equal(finish(start(dir, "--to", out)), EXIT_USAGE);
        assert_int_equal(finish(start(log, "--timing", in_dir("", "bad"), "--to", out)), EXIT_USAGE);
        assert_int_equal(finish(start(log, "--to", "file:/nonexistent/x")), EXIT_USAGE);
        assert_int_equal(access(in_dir("", "out2"), F_OK), -1); /* nothing was begun */
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
        (void)st;
        (void)type;
        (void)ftw;
        return remove(path);
}

static int set_up(void **state)
{
        (void)state;
        memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
        if (!mkdtemp(dir))
                return -1;
        for (size_t i = 0; i < LOG_BYTES; i++)
                content[i] = (char)(i * 2654435761u >> 13);
        put("log", content, LOG_BYTES);
        return 0;
}

static int tear_down(void **state)
{
        (void)state;
        return nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#define in_a_dir(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
        const struct CMUnitTest tests[] = {
                in_a_dir(to_a_file),
                in_a_dir(to_a_fifo_at_the_recorded_pace),
                in_a_dir(loops_until_its_reader_leaves),
                in_a_dir(serves_a_socket_and_stops_when_told),
                in_a_dir(a_loop_into_a_file_can_be_stopped),
                in_a_dir(bad_usage),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
