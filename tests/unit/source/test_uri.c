/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>

#include "daemon/source/uri.h"
#include "proto/base/error.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

TEST(good_uris)
{
        static const struct {
                const char *text, *canonical, *name, *path, *host;
                enum source_kind kind;
                unsigned port;
        } cases[] = {
                { "x.eventlog", "file:x.eventlog", "x", "x.eventlog", "", SOURCE_FILE, 0 },
                { "file:/a/b c.eventlog", "file:/a/b c.eventlog", "b-c", "/a/b c.eventlog", "", SOURCE_FILE, 0 },
                { "./a:b=c", "file:./a:b=c", "a-b-c", "./a:b=c", "", SOURCE_FILE, 0 },
                { "file:http:x", "file:http:x", "http-x", "http:x", "", SOURCE_FILE, 0 },
                { "fifo:/run/p", "fifo:/run/p", "p", "/run/p", "", SOURCE_FIFO, 0 },
                { "stdin:", "stdin:", "stdin", "", "", SOURCE_STDIN, 0 },
                { "unix:/run/s.sock", "unix:/run/s.sock", "s.sock", "/run/s.sock", "", SOURCE_UNIX, 0 },
                { "unix-listen:s", "unix-listen:s", "s", "s", "", SOURCE_UNIX_LISTEN, 0 },
                { "tcp:10.0.0.1:4242", "tcp:10.0.0.1:4242", "10.0.0.1-4242", "", "10.0.0.1", SOURCE_TCP, 4242 },
                { "tcp:localhost:1", "tcp:localhost:1", "localhost-1", "", "localhost", SOURCE_TCP, 1 },
                { "tcp:[fe80::1]:65535", "tcp:[fe80::1]:65535", "fe80--1-65535", "", "fe80::1", SOURCE_TCP, 65535 },
                { "tcp-listen:127.3.2.1:9", "tcp-listen:127.3.2.1:9", "127.3.2.1-9", "", "127.3.2.1", SOURCE_TCP_LISTEN,
                  9 },
                { "tcp-listen:[::1]:9", "tcp-listen:[::1]:9", "_-1-9", "", "::1", SOURCE_TCP_LISTEN, 9 },
                { "/a/.eventlog", "file:/a/.eventlog", "_eventlog", "/a/.eventlog", "", SOURCE_FILE, 0 },
                { "pid:1234", "pid:1234", "pid-1234", "", "", SOURCE_PROCESS, 0 },
                { "outside:7", "outside:7", "pid-7", "", "", SOURCE_OUTSIDE, 0 },
                { "outside:7@42", "outside:7@42", "pid-7", "", "", SOURCE_OUTSIDE, 0 },
                { "pid:007@42", "pid:7@42", "pid-7", "", "", SOURCE_PROCESS, 0 },
                { "-x", "file:-x", "_x", "-x", "", SOURCE_FILE, 0 },
        };

        for (size_t i = 0; i < N_OF(cases); i++) {
                char name[TARGET_NAME_MAX + 1];
                struct error error = { "" };
                struct source_uri u;
                if (!target_spec_parse(cases[i].text, name, &u, &error))
                        fail_msg("%s: %s", cases[i].text, error.text);
                assert_string_equal(u.text, cases[i].canonical);
                assert_string_equal(name, cases[i].name);
                assert_true(target_name_valid(name));
                assert_string_equal(source_uri_path(&u), cases[i].path);
                assert_string_equal(u.host, cases[i].host);
                assert_int_equal(u.kind, cases[i].kind);
                assert_int_equal(u.port, cases[i].port);
                struct source_uri again;
                assert_true(source_uri_parse(u.text, &again, &error)); /* canonical: parses to itself */
                assert_memory_equal(&again, &u, sizeof(u));
        }
}

TEST(bad_uris)
{
        static const struct {
                const char *text, *says;
        } cases[] = {
                { "", "empty" },
                { "file:", "the path is empty" },
                { "fifo:", "the path is empty" },
                { "/tmp/", "names a directory" },
                { "tpc:127.0.0.1:9", "unknown scheme 'tpc:'" },
                { "http://x/", "unknown scheme 'http:'" },
                { ":", "unknown scheme" },
                { "stdin:x", "nothing after the colon" },
                { "a\nb", "control character" },
                { "file:\x1b[2J", "control character" },
                { "tcp:", "no port" },
                { "tcp:127.0.0.1", "no port" },
                { "tcp::80", "no usable host" },
                { "tcp:[]:80", "no usable host" },
                { "tcp:[:80", "is not [ADDRESS]:PORT" },
                { "tcp:]:80", "not a numeric address" },
                { "tcp:[::1:80", "is not [ADDRESS]:PORT" },
                { "tcp:::1:80", "IPv6 address in brackets" },
                { "tcp:[127.0.0.1]:80", "IPv6 address in brackets" },
                { "tcp:example.org:80", "names are not looked up" },
                { "tcp:127.0.0.1:", "is not a port" },
                { "tcp:127.0.0.1:0", "is not a port" },
                { "tcp:127.0.0.1:65536", "is not a port" },
                { "tcp:127.0.0.1:123456", "is not a port" },
                { "tcp:127.0.0.1:99999999999999999999", "is not a port" },
                { "tcp:127.0.0.1:+80", "is not a port" },
                { "tcp:127.0.0.1:80 ", "is not a port" },
                { "tcp-listen:0.0.0.0:80", "loopback" },
                { "tcp-listen:[::]:80", "loopback" },
                { "tcp-listen:10.0.0.1:80", "loopback" },
                { "pid:", "not the number of a process" },
                { "pid:0", "not the number of a process" },
                { "pid:-1", "not the number of a process" },
                { "pid:12x", "not the number of a process" },
                { "pid:2147483648", "not the number of a process" },
                { "pid:99999999999999999999", "not the number of a process" },
                { "outside:x", "not the number of a process" },
                { "pid:12@", "not the start of a process" },
                { "pid:12@0", "not the start of a process" },
                { "pid:12@7 ", "not the start of a process" },
                { "pid:12@-7", "not the start of a process" },
                { "a b=x", "the name before '='" },
                { "=x", "the name before '='" },
                { ".x=y", "the name before '='" },
                { "-x=y", "the name before '='" },
                { "a=", "empty" },
        };

        for (size_t i = 0; i < N_OF(cases); i++) {
                char name[TARGET_NAME_MAX + 1] = "untouched";
                struct error error = { "" };
                struct source_uri u = { .port = 7 };
                if (target_spec_parse(cases[i].text, name, &u, &error))
                        fail_msg("accepted: %s", cases[i].text);
                if (!strstr(error.text, cases[i].says))
                        fail_msg("%s: says \"%s\", not \"%s\"", cases[i].text, error.text, cases[i].says);
                assert_string_equal(name, "untouched");
        }
}

TEST(names_are_kept_and_split)
{
        char name[TARGET_NAME_MAX + 1];
        struct error error;
        struct source_uri u;

        assert_true(target_spec_parse("api-1=tcp:127.0.0.1:9", name, &u, &error));
        assert_string_equal(name, "api-1");
        assert_int_equal(u.kind, SOURCE_TCP);
        assert_true(target_spec_parse("a=b=c", name, &u, &error));
        assert_string_equal(name, "a");
        assert_string_equal(source_uri_path(&u), "b=c");
        assert_true(target_spec_parse("file:a=b", name, &u, &error));
        assert_string_equal(source_uri_path(&u), "a=b");
}

TEST(lengths)
{
        char text[4096], name[TARGET_NAME_MAX + 1];
        struct error error;
        struct source_uri u;

        for (size_t n = 1; n < sizeof(text) - 1; n++) {
                memset(text, 'x', n);
                text[n] = '\0';
                bool fits = n < SOURCE_PATH_MAX;
                assert_int_equal(target_spec_parse(text, name, &u, &error), fits);
                if (fits)
                        assert_int_equal(strlen(name), n < TARGET_NAME_MAX ? n : TARGET_NAME_MAX);
                assert_int_equal(target_name_valid(text), n <= TARGET_NAME_MAX);
                assert_true(strlen(error.text) < sizeof(error.text));
        }
        memset(text, 'x', 200);
        memcpy(text, "unix:/", 6);
        text[5 + 107] = '\0';
        assert_true(source_uri_parse(text, &u, &error));
        text[5 + 107] = 'x';
        text[5 + 108] = '\0';
        assert_false(source_uri_parse(text, &u, &error)); /* more than a socket address holds */
}

/* Any bytes: an answer, a terminated error, and valid results. */
TEST(any_bytes)
{
        static const char alphabet[] = "tcpfileunx-stdio:[]/=.0123456789 a%\x80\xff\n";
        uint32_t random = 1;

        for (int round = 0; round < 200000; round++) {
                char text[40], name[TARGET_NAME_MAX + 1];
                struct error error;
                size_t size = (random >> 8) % (sizeof(text) - 1);
                struct source_uri u;
                for (size_t i = 0; i < size; i++) {
                        random = random * 1664525u + 1013904223u;
                        text[i] = alphabet[(random >> 12) % (sizeof(alphabet) - 1)];
                }
                random = random * 1664525u + 1013904223u;
                text[size] = '\0';
                memset(error.text, 'x', sizeof(error.text));
                if (target_spec_parse(text, name, &u, &error)) {
                        assert_true(target_name_valid(name));
                        assert_true(u.path_at || u.host[0] || u.kind == SOURCE_STDIN);
                } else {
                        assert_non_null(memchr(error.text, 0, sizeof(error.text)));
                }
        }
}
