/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/test.h"

#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "daemon/log.h"

static int ends[2], kept; /* what the log writes to, and the end that reads it */

static int use(int reader, int writer)
{
        ends[0] = reader;
        ends[1] = writer;
        if (dup2(writer, STDERR_FILENO) != STDERR_FILENO)
                return -1;
        log_open();
        return 0;
}

static int set_up(void **state)
{
        struct log_levels info = log_level_everywhere(LOG_INFO);

        kept = dup(STDERR_FILENO);
        log_set_levels(&info);
        return pipe2(ends, 0) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 ? use(ends[0], ends[1]) : -1;
}

static int tear_down(void **state)
{
        unsetenv("JOURNAL_STREAM");
        for (char got[4096]; read(ends[0], got, sizeof(got)) > 0;)
                ;
        log_detach();
        close(ends[0]);
        close(ends[1]);
        if (dup2(kept, STDERR_FILENO) != STDERR_FILENO || close(kept) != 0)
                return -1;
        log_open();
        return 0;
}

static void expect(const char *text)
{
        char got[4096];
        ssize_t n = read(ends[0], got, sizeof(got) - 1);

        got[n < 0 ? 0 : n] = '\0';
        assert_string_equal(got, text);
}

static void set_levels(const char *text)
{
        struct log_levels levels;

        assert_true(log_parse_level(text, &levels));
        log_set_levels(&levels);
}

TEST_WITH(levels, set_up, tear_down)
{
        log_debug("not shown");
        log_info("target=%s attached", "x");
        expect("info target=x attached\n");
        set_levels("error");
        log_warning("not shown");
        log_error("disk=%d full", 7);
        expect("error disk=7 full\n");
        set_levels("debug");
        log_debug("shown");
        expect("debug daemon: shown\n");
}

/* As the rooms' own lines are: by the name of the file. */
static void say_from(const char *file, enum log_level level)
{
        struct log_site *site = calloc(1, sizeof(*site)); /* kept by nothing while it suppresses nothing */

        *site = (struct log_site){ .file = file, .level = level };
        log_write(site, "hello");
        free(site);
}

TEST_WITH(levels_by_room, set_up, tear_down)
{
        set_levels("warning,source=debug,targets=info");
        say_from("daemon/watch/control/requests.c", LOG_INFO);
        say_from("daemon/watch/targets/once.c", LOG_DEBUG);
        say_from("daemon/main.c", LOG_INFO);
        say_from("daemon/elsewhere/x.c", LOG_INFO);
        expect("");
        say_from("daemon/source/tail.c", LOG_DEBUG);
        say_from("daemon/watch/targets/once.c", LOG_INFO);
        say_from("daemon/watch/control/requests.c", LOG_WARNING);
        expect("debug source: hello\ninfo hello\nwarning hello\n");
        set_levels("debug,source=error");
        say_from("daemon/source/tail.c", LOG_WARNING);
        say_from("daemon/publish/transport/bus.c", LOG_DEBUG);
        expect("debug transport: hello\n");
}

TEST(levels_are_parsed)
{
        static const char *const wrong[] = {
                "",       "Debug", "info,",       "info,debug", "sauce=debug",       "source=",           "source=loud",
                "=debug", "info;", "info,source", "model=info", "source=debug,info", "info,,source=debug"
        };
        static const char *const right[][2] = {
                { "debug", "debug" },
                { "source=debug", "info,source=debug" },
                { "error,source=debug,control=info", "error,control=info,source=debug" },
                { "info,source=debug,source=error", "info,source=error" },
                { "info,source=info", "info" },
        };
        struct log_levels levels = log_level_everywhere(LOG_ERROR);
        char text[LOG_LEVELS_TEXT];

        for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
                assert_false(log_parse_level(wrong[i], &levels));
                log_print_levels(text, &levels);
                assert_string_equal(text, "error"); /* unchanged */
        }
        for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++) {
                assert_true(log_parse_level(right[i][0], &levels));
                log_print_levels(text, &levels);
                assert_string_equal(text, right[i][1]);
        }
        assert_non_null(strstr(log_room_names(), "source, "));
}

TEST_WITH(one_message_is_one_line, set_up, tear_down)
{
        char text[5000], got[8192];

        log_info("a\nerror forged\x1b[2J");
        expect("info a?error forged?[2J\n");
        memset(text, 'x', sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';
        log_info("%s", text);
        ssize_t n = read(ends[0], got, sizeof(got));
        assert_in_range(n, 1000, 4096);
        assert_ptr_equal(memchr(got, '\n', (size_t)n), got + n - 1);
}

/* Reads all there is; keeps the last bytes in `text`, size bytes. */
static size_t read_all(char *text, size_t size)
{
        static char got[65536];
        size_t total = 0;

        text[0] = '\0';
        for (ssize_t n; (n = read(ends[0], got, sizeof(got) - 1)) > 0; total += (size_t)n) {
                got[n] = '\0';
                size_t all = strlen(text) + (size_t)n, away = all < size ? 0 : all - size + 1;
                size_t old = away < strlen(text) ? away : strlen(text);
                memmove(text, text + old, strlen(text) - old + 1);
                strncat(text, got + (away - old), size - strlen(text) - 1);
        }
        return total;
}

/* Long lines from a place that may write many: a place for each thousand. */
static void fill(int thousands)
{
        char x[512];

        memset(x, 'x', sizeof(x) - 1);
        x[sizeof(x) - 1] = '\0';
        for (int i = 0; i < thousands; i++) {
                struct log_site site = { .file = "daemon/main.c", .level = LOG_INFO };
                for (int k = 0; k < 1000; k++)
                        log_write(&site, "line %d %s", i * 1000 + k, x);
        }
}

/* A reader that stopped must not stop us; losses are reported, after the lines that were kept. */
static void unread_does_not_block(void)
{
        char tail[8192];
        int flags = fcntl(STDERR_FILENO, F_GETFL);

        alarm(300); /* the test dies if a line blocks */
        fill(2);
        assert_int_equal(fcntl(STDERR_FILENO, F_GETFL), flags); /* others have the same open file */
        assert_true(read_all(tail, sizeof(tail)) > 4096);
        for (int i = 0; i < 200; i++) { /* each moves what was kept on */
                log_info("after");
                (void)read_all(tail, sizeof(tail));
                if (strstr(tail, "info after"))
                        break;
        }
        alarm(0);
        log_info("and");
        (void)read_all(tail, sizeof(tail));
        assert_non_null(strstr(tail, "info and"));
}

TEST_WITH(a_full_pipe_does_not_block, set_up, tear_down)
{
        char got[8192];

        assert_int_equal(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0); /* as stderr is */
        unread_does_not_block();
        fill(2);
        (void)read_all(got, sizeof(got)); /* what the pipe had */
        log_info("moves the rest");
        (void)read_all(got, sizeof(got));
        log_info("last");
        (void)read_all(got, sizeof(got));
        assert_non_null(strstr(got, "info last"));
}

/* Lines that were lost are counted, where they are missing. */
TEST_WITH(losses_are_counted, set_up, tear_down)
{
        static char got[1 << 20];
        size_t size = 0, lines = 0;
        unsigned long lost = 0;

        fill(2);
        for (int i = 0; i < 3; i++) { /* the pipe holds less than the pipe and the log's buffer together */
                for (ssize_t n; (n = read(ends[0], got + size, sizeof(got) - 1 - size)) > 0;)
                        size += (size_t)n;
                if (i == 0)
                        log_info("after");
                log_detach();
        }
        got[size] = '\0';
        char *report = strstr(got, "warning stderr was blocked or full; lines lost=");
        assert_non_null(report);
        for (char *p = got; p < report; p++)
                lines += *p == '\n';
        assert_int_equal(sscanf(report, "warning stderr was blocked or full; lines lost=%lu", &lost), 1);
        assert_int_equal(lines + lost, 2000);
        assert_string_equal(strchr(report, '\n'), "\ninfo after\n");
}

/* What has no room waits, the half of a line that was written as well, and is lost only beyond that. */
TEST_WITH(a_full_disk_loses_what_does_not_fit_alone, set_up, tear_down)
{
        static char got[LOG_BUFFER_BYTES * 2];
        char path[] = "/tmp/test_log-XXXXXX";
        struct rlimit before;
        unsigned long lines = 0, lost = 0;

        close(ends[0]);
        close(ends[1]);
        const int writer = mkstemp(path);
        assert_true(writer >= 0 && unlink(path) == 0 && getrlimit(RLIMIT_FSIZE, &before) == 0);
        (void)signal(SIGXFSZ, SIG_IGN); /* as the daemon does */
        assert_int_equal(use(dup(writer), writer), 0);
        const struct rlimit full = { .rlim_cur = 1001, .rlim_max = before.rlim_max };
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
        fill(2);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        log_info("after");
        const ssize_t n = pread(writer, got, sizeof(got) - 1, 0);
        assert_true(n > 1001);
        got[n] = '\0';
        for (char *rest = got, *line; (line = strsep(&rest, "\n")) && *line;) {
                const char *text = strchr(line, ' ') + 1; /* after its time */
                const bool is_report = sscanf(text, "warning stderr was blocked or full; lines lost=%lu", &lost) == 1;
                assert_true(is_report || !strncmp(text, "info line ", 10) || !strcmp(text, "info after"));
                lines += !is_report;
        }
        assert_int_equal(lines + lost, 2001);
}

/* The bug was: a terminal claims to have room for a line, and then does not. */
TEST_WITH(an_unread_terminal_does_not_block, set_up, tear_down)
{
        int reader = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);

        assert_true(reader >= 0 && grantpt(reader) == 0 && unlockpt(reader) == 0);
        int writer = open(ptsname(reader), O_RDWR | O_NOCTTY);
        assert_true(writer >= 0);
        close(ends[0]);
        close(ends[1]);
        assert_int_equal(use(reader, writer), 0);
        unread_does_not_block();
}

TEST_WITH(a_socket_does_not_block, set_up, tear_down)
{
        int pair[2];

        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        assert_int_equal(fcntl(pair[0], F_SETFL, O_NONBLOCK), 0);
        close(ends[0]);
        close(ends[1]);
        assert_int_equal(use(pair[0], pair[1]), 0);
        unread_does_not_block();
}

TEST_WITH(journald_gets_priorities, set_up, tear_down)
{
        char name[64];
        struct stat s;

        assert_int_equal(fstat(STDERR_FILENO, &s), 0);
        snprintf(name, sizeof(name), "%llu:%llu", (unsigned long long)s.st_dev, (unsigned long long)s.st_ino);
        setenv("JOURNAL_STREAM", name, 1);
        log_open();
        set_levels("debug");
        log_error("a");
        log_warning("b");
        log_info("c");
        log_debug("d");
        expect("<3>error a\n<4>warning b\n<6>info c\n<7>debug daemon: d\n");
        setenv("JOURNAL_STREAM", "1:1", 1); /* stderr was redirected: not the journal's */
        log_open();
        log_info("c");
        expect("info c\n");
}

/* A log statement in an endless loop writes a burst, then a few a second; the rest is counted. */
TEST_WITH(repeats_are_left_out_and_counted, set_up, tear_down)
{
        unsigned long lines = 0, left_out = 0;
        char line[256];

        FILE *f = fdopen(dup(ends[0]), "r");
        for (int i = 0; i < 20000; i++) {
                log_info("damaged again");
                while (fgets(line, sizeof(line), f)) {
                        unsigned long n = 0;
                        if (sscanf(line, "info %lu more like the previous one were left out", &n) == 1)
                                left_out += n;
                        else
                                lines++;
                }
                clearerr(f);
        }
        log_info("another message is not kept back");
        assert_true(lines >= 1000 && lines < 10000);
        log_detach(); /* reports what no further line did */
        while (fgets(line, sizeof(line), f)) {
                unsigned long n = 0;
                if (sscanf(line, "info %lu more like the previous one were left out", &n) == 1)
                        left_out += n;
                else
                        assert_string_equal(line, "info another message is not kept back\n");
        }
        assert_int_equal(lines + left_out, 20000);
        fclose(f);
}

/* With a loop the rest comes without another message. */
TEST_WITH(a_timer_writes_what_waits, set_up, tear_down)
{
        struct event_base *base = event_base_new();
        char tail[8192];
        size_t total = 0;

        log_attach(base);
        fill(1);
        for (int i = 0; i < 1000 && !(total && strstr(tail, "lines lost=")); i++) {
                total += read_all(tail, sizeof(tail));
                event_base_loop(base, EVLOOP_ONCE);
        }
        assert_non_null(strstr(tail, "lines lost="));
        log_detach();
        event_base_free(base);
}

/* A file is emptied at its bound, and its lines go to the older one: also those that others wrote to it. */
TEST_WITH(bounded_file, set_up, tear_down)
{
        char path[] = "/tmp/log-XXXXXX", older[32], line[1024];
        struct stat now, before;
        int fd = mkstemp(path);

        assert_true(fd >= 0);
        assert_int_equal(fcntl(fd, F_SETFL, O_APPEND), 0);
        assert_int_equal(use(open("/dev/null", O_RDONLY), fd), 0);
        snprintf(older, sizeof(older), "%s.1", path);
        log_bound_file(older);
        memset(line, 'x', sizeof(line));
        for (unsigned i = 0; i < LOG_FILE_BYTES / sizeof(line); i++)
                assert_int_equal(write(fd, line, sizeof(line)), sizeof(line));
        log_info("first");
        assert_int_equal(fstat(fd, &now), 0);
        assert_int_equal(now.st_size, strlen("2026-05-01T12:30:59.123Z info first\n"));
        assert_int_equal(stat(older, &before), 0);
        assert_int_equal(before.st_size, LOG_FILE_BYTES);
        log_info("second");
        assert_int_equal(fstat(fd, &now), 0);
        assert_int_equal(now.st_size, 2 * strlen("2026-05-01T12:30:59.123Z info first\n") + 1);
        log_bound_file("");
        unlink(path);
        unlink(older);
}

/* In a file each line begins with its time: nobody else adds one. */
TEST_WITH(time_in_a_file, set_up, tear_down)
{
        char path[] = "/tmp/log-XXXXXX", line[256] = "";
        int fd = mkstemp(path), ms = -1, end = 0;
        struct tm utc = { 0 };

        assert_true(fd >= 0);
        const time_t before = time(NULL);
        assert_int_equal(use(open("/dev/null", O_RDONLY), dup(fd)), 0);
        log_warning("disk full");
        assert_true(pread(fd, line, sizeof(line) - 1, 0) > 0);
        assert_int_equal(sscanf(line, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ warning disk full\n%n", &utc.tm_year, &utc.tm_mon,
                                &utc.tm_mday, &utc.tm_hour, &utc.tm_min, &utc.tm_sec, &ms, &end),
                         7);
        assert_int_equal(end, strlen(line));
        utc.tm_year -= 1900;
        utc.tm_mon--;
        const time_t then = timegm(&utc);
        assert_true(then >= before && then <= time(NULL) && ms >= 0);
        close(fd);
        unlink(path);
}
