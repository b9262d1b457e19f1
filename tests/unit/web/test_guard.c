/* SPDX-License-Identifier: BSD-3-Clause */
/* Who may ask. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "client/web/guard.h"

static void hosts(void **state)
{
        static const char *const names[] = { "watch.example" };
        struct guard g = { .hosts = names, .n_hosts = 1 };
        static const char *const good[] = { "127.0.0.1",   "127.0.0.1:8077", "localhost:8077",
                                            "LOCALHOST",   "[::1]:8077",     "[::1]",
                                            "10.1.2.3:80", "watch.example",  "Watch.Example:443" };
        static const char *const bad[] = { "",
                                           ":80",
                                           "evil.example",
                                           "evil.example:8077",
                                           "localhost.evil.example",
                                           "127.0.0.1.evil.example",
                                           "127.0.0.1:80:80",
                                           "localhost:8077x",
                                           "[::1",
                                           "[evil.example]:80",
                                           "watch.example.evil",
                                           "127.0.0.1:80@evil.example",
                                           "2130706433" };

        (void)state;
        for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
                assert_true(guard_host(&g, good[i]));
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                assert_false(guard_host(&g, bad[i]));
        assert_false(guard_host(&g, NULL));
}

static void origins(void **state)
{
        (void)state;
        assert_true(guard_origin(NULL, "localhost:8077"));
        assert_true(guard_origin("http://localhost:8077", "localhost:8077"));
        assert_true(guard_origin("https://watch.example", "watch.example"));
        assert_false(guard_origin("null", "localhost:8077"));
        assert_false(guard_origin("http://localhost:8078", "localhost:8077"));
        assert_false(guard_origin("http://evil.example", "localhost:8077"));
        assert_false(guard_origin("http://localhost:8077.evil.example", "localhost:8077"));
        assert_false(guard_origin("http://localhost:8077", NULL));
}

static void tokens(void **state)
{
        struct guard open = { .n_hosts = 0 }, g = { .token = "0123456789abcdef" };
        char huge[2000];

        (void)state;
        memset(huge, 'x', sizeof(huge) - 1);
        huge[sizeof(huge) - 1] = '\0';
        memcpy(huge, "heapwatch=", 10);
        assert_true(guard_token(&open, NULL, NULL));
        assert_false(guard_token(&g, NULL, NULL));
        assert_true(guard_token(&g, "Bearer 0123456789abcdef", NULL));
        assert_false(guard_token(&g, "Bearer 0123456789abcde", NULL));
        assert_false(guard_token(&g, "Bearer 0123456789abcdef0", NULL));
        assert_false(guard_token(&g, "Bearer ", NULL));
        assert_false(guard_token(&g, "Basic 0123456789abcdef", NULL));
        assert_true(guard_token(&g, NULL, "a=b; heapwatch=0123456789abcdef"));
        assert_true(guard_token(&g, NULL, "heapwatch=0123456789abcdef; c=d"));
        assert_false(guard_token(&g, NULL, "heapwatch="));
        assert_false(guard_token(&g, NULL, "xheapwatch=0123456789abcdef"));
        assert_false(guard_token(&g, NULL, huge));
        assert_true(guard_equal("", ""));
        assert_false(guard_equal("a", ""));
        assert_false(guard_equal("", "a"));
}

static bool read_text(const char *text, struct guard *g)
{
        char path[] = "/tmp/hw-token-XXXXXX", error[512];
        int fd = mkstemp(path);
        bool good;

        assert_true(fd >= 0);
        assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
        close(fd);
        good = guard_read_token(g, path, error, sizeof(error));
        unlink(path);
        assert_true(good || strstr(error, path));
        return good;
}

static void token_files(void **state)
{
        struct guard g = { .n_hosts = 0 };
        char longest[TOKEN_MOST + 3], error[64];

        (void)state;
        assert_true(read_text("0123456789abcdef\nmore\n", &g));
        assert_string_equal(g.token, "0123456789abcdef");
        assert_false(read_text("short\n", &g));
        assert_false(read_text("", &g));
        assert_false(read_text("0123456789abcdef;x\n", &g));
        assert_false(read_text("0123456789 abcdef\n", &g));
        memset(longest, 'a', sizeof(longest));
        longest[TOKEN_MOST] = '\0';
        assert_true(read_text(longest, &g));
        longest[TOKEN_MOST] = 'a';
        longest[TOKEN_MOST + 1] = '\0';
        assert_false(read_text(longest, &g));
        assert_false(guard_read_token(&g, "/nonexistent/token", error, sizeof(error)));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(hosts),
                cmocka_unit_test(origins),
                cmocka_unit_test(tokens),
                cmocka_unit_test(token_files),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
