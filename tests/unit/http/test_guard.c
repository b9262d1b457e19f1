/* SPDX-License-Identifier: BSD-3-Clause */
/* Which requests are allowed. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/unit/test.h"

#include "client/out/http/guard.h"
#include "proto/base/error.h"

TEST(hosts)
{
        static const char *const names[] = { "watch.example", "192.0.2.7" };
        struct guard g = { .hosts = names, .n_hosts = 2 };
        static const struct {
                const char *local, *host;
                bool good;
        } cases[] = {
                { "127.0.0.1", "127.0.0.1", true },
                { "127.0.0.1", "127.0.0.1:8077", true },
                { "127.0.0.1", "localhost:8077", true },
                { "127.0.0.1", "LOCALHOST", true },
                { "127.0.0.1", "[::1]:8077", true }, /* the near end of an ssh -L */
                { "::1", "127.0.0.1:8077", true },
                { "10.1.2.3", "10.1.2.3:80", true },
                { "::ffff:10.1.2.3", "10.1.2.3:80", true }, /* [::] was listened on */
                { "2001:db8::1", "[2001:db8:0::1]:80", true },
                { "10.1.2.3", "watch.example", true },
                { "127.0.0.1", "Watch.Example:443", true },
                { "10.1.2.3", "192.0.2.7:80", true }, /* given */
                { "", "watch.example", true },
                { "", "localhost", true },
                { "127.0.0.1", "10.1.2.3:80", false },
                { "10.1.2.3", "10.1.2.4", false },
                { "10.1.2.3", "127.0.0.1", false },
                { "10.1.2.3", "localhost", false },
                { "2001:db8::1", "2001:db8::1", false },
                { "", "127.0.0.1", false },
                { "127.0.0.1", "", false },
                { "127.0.0.1", ":80", false },
                { "127.0.0.1", "evil.example", false },
                { "127.0.0.1", "evil.example:8077", false },
                { "127.0.0.1", "localhost.evil.example", false },
                { "127.0.0.1", "127.0.0.1.evil.example", false },
                { "127.0.0.1", "127.0.0.1:80:80", false },
                { "127.0.0.1", "localhost:8077x", false },
                { "127.0.0.1", "[::1", false },
                { "127.0.0.1", "[127.0.0.1]", false },
                { "127.0.0.1", "[evil.example]:80", false },
                { "127.0.0.1", "watch.example.evil", false },
                { "127.0.0.1", "127.0.0.1:80@evil.example", false },
                { "127.0.0.1", "2130706433", false },
                { "127.0.0.1", NULL, false },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                if (guard_host(&g, cases[i].host, cases[i].local) != cases[i].good)
                        fail_msg("%s on %s", cases[i].host, cases[i].local);
        }
}

TEST(origins)
{
        assert_true(guard_origin(NULL, "localhost:8077"));
        assert_true(guard_origin("http://localhost:8077", "localhost:8077"));
        assert_true(guard_origin("https://watch.example", "watch.example"));
        assert_false(guard_origin("null", "localhost:8077"));
        assert_false(guard_origin("http://localhost:8078", "localhost:8077"));
        assert_false(guard_origin("http://evil.example", "localhost:8077"));
        assert_false(guard_origin("http://localhost:8077.evil.example", "localhost:8077"));
        assert_false(guard_origin("http://localhost:8077", NULL));
}

TEST(tokens)
{
        struct guard open = { .n_hosts = 0 }, g = { .cookie = "heapwatch-80",
                                                    .n_tokens = 1,
                                                    .tokens = { { "token", ROLE_CONTROL, "0123456789abcdef" } } };
        char huge[2000];

        memset(huge, 'x', sizeof(huge) - 1);
        huge[sizeof(huge) - 1] = '\0';
        memcpy(huge, "heapwatch-80=", 13);
        assert_true(guard_token(&open, NULL, NULL));
        assert_false(guard_token(&g, NULL, NULL));
        assert_true(guard_token(&g, "Bearer 0123456789abcdef", NULL));
        assert_false(guard_token(&g, "Bearer 0123456789abcde", NULL));
        assert_false(guard_token(&g, "Bearer 0123456789abcdef0", NULL));
        assert_false(guard_token(&g, "Bearer ", NULL));
        assert_false(guard_token(&g, "Basic 0123456789abcdef", NULL));
        assert_true(guard_token(&g, NULL, "a=b; heapwatch-80=0123456789abcdef"));
        assert_true(guard_token(&g, NULL, "heapwatch-80=0123456789abcdef; c=d"));
        assert_false(guard_token(&g, NULL, "heapwatch-80="));
        assert_false(guard_token(&g, NULL, "xheapwatch-80=0123456789abcdef"));
        assert_false(guard_token(&g, NULL, huge));
        assert_false(guard_token(&g, NULL, "heapwatch-80800123456789abcdef"));
        assert_false(guard_token(&g, NULL, "heapwatch-8080=0123456789abcdef"));
        assert_false(guard_token(&g, NULL, "heapwatch-80"));
        assert_true(guard_equal("", ""));
        assert_false(guard_equal("a", ""));
        assert_false(guard_equal("", "a"));
}

static bool read_text(const char *text, struct guard *g)
{
        char path[] = "/tmp/hw-token-XXXXXX";
        struct error error;
        int fd = mkstemp(path);
        bool good;

        assert_true(fd >= 0);
        assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
        close(fd);
        good = guard_read_token(g, path, &error);
        unlink(path);
        assert_true(good || strstr(error.text, path));
        return good;
}

TEST(token_files)
{
        struct guard g = { .n_hosts = 0 };
        char longest[TOKEN_MOST + 3];
        struct error error;

        assert_true(read_text("0123456789abcdef\nmore\n", &g));
        assert_string_equal(g.tokens[0].text, "0123456789abcdef");
        assert_false(read_text("short\n", &g));
        assert_false(read_text("", &g));
        assert_false(read_text("0123456789abcdef;x\n", &g));
        assert_false(read_text("0123456789 abcdef\n", &g));
        assert_true(read_text("# who\nalice control 0123456789abcdef\n\n prom@mon read\tfedcba9876543210\r\n", &g));
        assert_int_equal(g.n_tokens, 2);
        assert_string_equal(guard_token(&g, "Bearer fedcba9876543210", NULL)->name, "prom@mon");
        assert_int_equal(guard_find(&g, "fedcba9876543210")->role, ROLE_READ);
        assert_null(guard_find(&g, "fedcba987654321"));
        assert_false(read_text("alice root 0123456789abcdef\n", &g));
        assert_false(read_text("alice read short\n", &g));
        assert_false(read_text("alice read 0123456789abcdef\nbob read 0123456789abcdef\n", &g));
        assert_false(read_text("alice read 0123456789abcdef more\n", &g));
        assert_false(read_text("# nobody\n", &g));
        memset(longest, 'a', sizeof(longest));
        longest[TOKEN_MOST] = '\0';
        assert_true(read_text(longest, &g));
        longest[TOKEN_MOST] = 'a';
        longest[TOKEN_MOST + 1] = '\0';
        assert_false(read_text(longest, &g));
        assert_false(guard_read_token(&g, "/nonexistent/token", &error));
}

TEST(made_tokens)
{
        struct guard a = { .n_hosts = 0 }, b = a;

        assert_true(guard_make_token(&a) && guard_make_token(&b));
        assert_int_equal(strlen(a.tokens[0].text), 48);
        assert_int_equal(strspn(a.tokens[0].text, "0123456789abcdef"), 48);
        assert_string_not_equal(a.tokens[0].text, b.tokens[0].text);
}
