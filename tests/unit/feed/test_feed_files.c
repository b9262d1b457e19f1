/* SPDX-License-Identifier: BSD-3-Clause */
/* The feed of finished logs: read in this process, in steps, from files and from pipes. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/cli/options.h"
#include "client/world/feed/feed.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"

#define LOG      "tests/data/logs/parallel-full-ghc902/run.eventlog"
#define LOG_SIZE 16384u /* more than it has */

static char directory[] = "/tmp/hw-feed-XXXXXX";

static struct feed *feed_of(const char *const *paths, size_t n)
{
        struct error error = { "" };
        struct feed *feed = feed_files(paths, n, NULL, &error);

        if (!feed)
                fail_msg("%s", error.text);
        return feed;
}

static struct feed *feed_of_one(const char *path)
{
        return feed_of(&path, 1);
}

/* Reads to the end, however that is; counts the updates of targets, and keeps their names, one after the other. */
static enum feed_event read_all(struct feed *feed, size_t *ret_n, char *names, size_t size)
{
        const Hw__Update *u;
        enum feed_event event;
        size_t used = 0;

        *ret_n = 0;
        if (names)
                names[0] = '\0';
        while ((event = feed_next(feed, -1, &u)) == FEED_UPDATE) {
                if (u->body_case == HW__UPDATE__BODY_DAEMON)
                        continue;
                ++*ret_n;
                const char *last = names ? strrchr(names, ' ') : NULL;
                if (names && strcmp(last ? last + 1 : names, u->target))
                        used += (size_t)snprintf(names + used, size - used, "%s%s", used ? " " : "", u->target);
        }
        return event;
}

static bool is_readable(const struct feed *feed)
{
        struct pollfd p = { .fd = feed_fd(feed), .events = POLLIN };

        return poll(&p, 1, 0) == 1;
}

TEST(a_log_is_read_without_another_process)
{
        struct feed *feed = feed_of_one(LOG);
        size_t n;

        assert_true(is_readable(feed));
        assert_int_equal(read_all(feed, &n, NULL, 0), FEED_END);
        assert_true(n > 3);
        assert_true(is_readable(feed)); /* to find the end */
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
        assert_int_equal(errno, ECHILD);
        feed_close(&feed);
        assert_null(feed);
}

/* What is handed over within the process passes the checks of the wire, as if another process had received it. */
TEST(messages_are_as_they_would_travel)
{
        struct feed *feed = feed_of_one(LOG);
        const Hw__Update *u;
        size_t n = 0;

        while (feed_next(feed, -1, &u) == FEED_UPDATE) {
                const char *reason = "";
                const size_t size = hw__update__get_packed_size(u);
                uint8_t *bytes = malloc(2 * size);
                assert_int_equal(hw__update__pack(u, bytes), size);
                Hw__Update *received = hw_update_unpack(bytes, size, &reason);
                if (!received)
                        fail_msg("%s", reason);
                assert_int_equal(hw__update__pack(received, bytes + size), size);
                assert_memory_equal(bytes, bytes + size, size);
                hw_update_unref(received);
                free(bytes);
                n++;
        }
        assert_true(n > 3);
        feed_close(&feed);
}

/* Those that can be read are, and the failure is reported after them, each time it is asked for. */
TEST(a_log_that_cannot_be_read_is_a_failure_at_the_end)
{
        static const char *const paths[] = { "/nonexistent/a.eventlog", LOG, "/nonexistent/b.eventlog" };
        struct feed *feed = feed_of(paths, 3);
        size_t n;

        assert_int_equal(read_all(feed, &n, NULL, 0), FEED_FAILED);
        assert_true(n > 3);
        assert_string_equal(feed_error(feed),
                            "/nonexistent/a.eventlog: No such file or directory; 1 other could not be "
                            "read either");
        assert_int_equal(read_all(feed, &n, NULL, 0), FEED_FAILED);
        assert_int_equal(n, 0);
        feed_close(&feed);
}

TEST(logs_that_are_not_there_are_reported_at_once)
{
        static const char *const paths[] = { "/nonexistent/a.eventlog", "api~1", "api" };
        struct error error;

        assert_null(feed_files(paths, 2, NULL, &error));
        assert_non_null(strstr(error.text, "the others cannot be read either"));
        assert_null(feed_files(paths + 1, 1, NULL, &error));
        assert_string_equal(strstr(error.text, "recording:"), "recording:api~1");
        assert_null(feed_files(paths + 2, 1, NULL, &error));
        assert_string_equal(strstr(error.text, "recording:"), "recording:api");
}

/* Three are called run: their folders tell them apart, then numbers. A '=' is part of a path. */
TEST(each_log_has_a_name_of_its_own)
{
        static const char *const files[] = { "a/x/run.eventlog", "b/x/run.eventlog", "run.eventlog", "a=b.eventlog" };
        char log[PATH_MAX], made[4][64], names[256];
        const char *paths[6];
        size_t n;

        assert_non_null(realpath(LOG, log));
        for (size_t i = 0; i < 4; i++) {
                (void)snprintf(made[i], sizeof(made[i]), "%s/%s", directory, files[i]);
                for (char *slash = strchr(made[i] + 5, '/'); slash; slash = strchr(slash + 1, '/')) {
                        *slash = '\0';
                        assert_true(mkdir(made[i], 0700) == 0 || errno == EEXIST);
                        *slash = '/';
                }
                assert_int_equal(symlink(log, made[i]), 0);
                paths[i] = made[i];
        }
        paths[4] = made[2];
        paths[5] = LOG;
        struct feed *feed = feed_of(paths, 6);
        assert_int_equal(read_all(feed, &n, names, sizeof(names)), FEED_END);
        char *folder = strrchr(directory, '/') + 1, expected[256];
        (void)snprintf(expected, sizeof(expected), "x x-2 %s a-b %s-2 parallel-full-ghc902", folder, folder);
        assert_string_equal(names, expected);
        feed_close(&feed);
}

TEST(how_to_judge_is_checked_before_anything_is_read)
{
        static const char *const path = LOG;
        struct judging judging = { .resolution = "1m", .leak_after = "5m" };
        struct error error;

        assert_null(feed_files(&path, 1, &judging, &error));
        assert_non_null(strstr(error.text, "with a resolution of 1m 00s"));
        judging = (struct judging){ .limit = "much" };
        assert_null(feed_files(&path, 1, &judging, &error));
        assert_string_equal(error.text, "--limit: 'much'; expected an amount of memory such as 512MiB or 2GiB");
        judging = (struct judging){ .rules = { .items = { "/nonexistent/rules.yaml" }, .n = 1 } };
        assert_string_equal(judging_given(&judging), "--rules");
        assert_null(feed_files(&path, 1, &judging, &error));
        assert_non_null(strstr(error.text, "/nonexistent/rules.yaml: cannot be read"));
}

/* ---------------------------------------------------------------------- pipes */

struct pipe_feed {
        int ends[2];
        struct feed *feed;
};

static struct pipe_feed feed_of_pipe(void)
{
        struct pipe_feed f;
        char path[64];

        assert_int_equal(pipe(f.ends), 0);
        (void)snprintf(path, sizeof(path), "/dev/fd/%d", f.ends[0]);
        assert_int_equal(write(f.ends[1], "hdrb", 4), 4); /* it is opened by its first bytes */
        f.feed = feed_of_one(path);
        return f;
}

static void close_pipe(struct pipe_feed *f)
{
        feed_close(&f->feed);
        (void)close(f->ends[0]);
        if (f->ends[1] >= 0)
                (void)close(f->ends[1]);
}

TEST(nothing_means_that_the_time_is_up)
{
        const Hw__Update *u;
        struct pipe_feed f = feed_of_pipe();
        uint64_t before_ms = clock_mono_ms();

        assert_int_equal(feed_next(f.feed, 300, &u), FEED_NOTHING);
        assert_true(clock_mono_ms() - before_ms >= 299);
        assert_int_equal(feed_next(f.feed, 0, &u), FEED_NOTHING);
        close_pipe(&f);
}

TEST(a_pipe_makes_the_feed_readable)
{
        uint8_t bytes[LOG_SIZE];
        const Hw__Update *u;
        struct pipe_feed f = feed_of_pipe();
        int fd = open(LOG, O_RDONLY | O_CLOEXEC);
        ssize_t size = read(fd, bytes, sizeof(bytes));
        size_t n;

        (void)close(fd);
        assert_true(size > 4 && size < (ssize_t)sizeof(bytes));
        assert_int_equal(feed_next(f.feed, 100, &u), FEED_NOTHING); /* it has taken the first bytes */
        assert_false(is_readable(f.feed));
        assert_int_equal(write(f.ends[1], bytes + 4, (size_t)size - 4), size - 4);
        assert_true(is_readable(f.feed));
        assert_int_equal(feed_next(f.feed, -1, &u), FEED_UPDATE);
        (void)close(f.ends[1]);
        f.ends[1] = -1;
        assert_int_equal(read_all(f.feed, &n, NULL, 0), FEED_END);
        assert_true(n > 3 && is_readable(f.feed));
        close_pipe(&f);
}

static void on_alarm(int number)
{
}

TEST(a_signal_ends_a_wait)
{
        struct sigaction action = { .sa_handler = on_alarm }, old;
        struct itimerval often = { { 0, 100000 }, { 0, 100000 } }, never = { { 0, 0 }, { 0, 0 } };
        const Hw__Update *u;
        struct pipe_feed f = feed_of_pipe();

        assert_int_equal(sigaction(SIGALRM, &action, &old), 0);
        assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
        assert_int_equal(feed_next(f.feed, -1, &u), FEED_NOTHING);
        assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
        assert_int_equal(sigaction(SIGALRM, &old, NULL), 0);
        close_pipe(&f);
}

static int setup(void **state)
{
        return mkdtemp(directory) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
        return remove(path);
}

static int teardown(void **state)
{
        return nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

TEST_GROUP(setup, teardown)
