/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "daemon/log.h"

static int ends[2], kept;

static int set_up(void **state)
{
        (void)state;
        kept = dup(STDERR_FILENO);
        return pipe2(ends, O_NONBLOCK) == 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO ? 0 : -1;
}

static int tear_down(void **state)
{
        (void)state;
        log_set_level(LOG_INFO);
        close(ends[0]);
        close(ends[1]);
        return dup2(kept, STDERR_FILENO) == STDERR_FILENO && close(kept) == 0 ? 0 : -1;
}

static void expect(const char *text)
{
        char got[4096];
        ssize_t n = read(ends[0], got, sizeof(got) - 1);

        got[n < 0 ? 0 : n] = '\0';
        assert_string_equal(got, text);
}

static void levels(void **state)
{
        enum log_level level = LOG_ERROR;

        (void)state;
        log_debug("not shown");
        log_info("target=%s attached", "x");
        expect("info target=x attached\n");
        log_set_level(LOG_ERROR);
        log_warning("not shown");
        log_error("disk=%d full", 7);
        expect("error disk=7 full\n");
        assert_true(log_parse_level("debug", &level));
        assert_int_equal(level, LOG_DEBUG);
        assert_false(log_parse_level("Debug", &level));
        assert_int_equal(level, LOG_DEBUG);
}

static void one_message_is_one_line(void **state)
{
        char text[5000], got[8192];

        (void)state;
        log_info("a\nerror forged\x1b[2J");
        expect("info a?error forged?[2J\n");
        memset(text, 'x', sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';
        log_info("%s", text);
        ssize_t n = read(ends[0], got, sizeof(got));
        assert_in_range(n, 1000, 4096);
        assert_ptr_equal(memchr(got, '\n', (size_t)n), got + n - 1);
}

/* A reader that stopped must not stop us; what was lost is told. */
static void a_full_pipe_does_not_block(void **state)
{
        char got[65536];
        size_t size = 0;

        (void)state;
        assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0); /* as stderr is: blocking */
        alarm(120);                                      /* the test dies if a line blocks */
        for (int i = 0; i < 20000; i++)
                log_info("line number %d", i);
        for (ssize_t n; (n = read(ends[0], got, sizeof(got))) > 0;)
                size += (size_t)n;
        assert_true(size > 4096);
        log_info("after");
        ssize_t n = read(ends[0], got, sizeof(got) - 1);
        alarm(0);
        got[n < 0 ? 0 : n] = '\0';
        assert_ptr_equal(strstr(got, "warning stderr was blocked; lines lost="), got);
        assert_non_null(strstr(got, "\ninfo after\n"));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(levels, set_up, tear_down),
                cmocka_unit_test_setup_teardown(one_message_is_one_line, set_up, tear_down),
                cmocka_unit_test_setup_teardown(a_full_pipe_does_not_block, set_up, tear_down),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
