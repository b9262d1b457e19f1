/* SPDX-License-Identifier: BSD-3-Clause */
/* Which sources a request may add. */
#include "tests/unit/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/source/allow.h"

#define OTHER_USER 54321

static bool allowed(const struct source_allow *allow, const char *text, struct error *error)
{
        struct source_uri uri;

        assert_true(source_uri_parse(text, &uri, error));
        return source_allowed(allow, &uri, false, error);
}

TEST(patterns)
{
        static const char *const given[] = { "unix-listen:/run/hw/*", "tcp-listen:127.0.0.1:*", "/srv/*/log/*.eventlog",
                                             "unix-listen:/run/user/*/x.sock" };
        static const struct {
                const char *uri;
                bool good;
        } cases[] = {
                { "unix-listen:/run/hw/x.sock", true },      { "unix-listen:/run/hw/../../etc/x.sock", false },
                { "unix-listen:/run/hw/sub/x.sock", false }, { "unix-listen:/run/other/x.sock", false },
                { "unix-listen:run/hw/x.sock", false },      { "tcp-listen:127.0.0.1:4242", true },
                { "tcp-listen:[::1]:4242", false },          { "tcp:10.0.0.1:4242", true },
                { "unix-listen:/run/user/7/x.sock", true },  { "unix-listen:/run/user/../x.sock", false },
        };
        struct source_allow allow = { .n = 0 };
        struct error error;

        assert_false(allowed(&allow, "unix-listen:/run/hw/x.sock", &error));
        assert_non_null(strstr(error.text, "sources.allow"));
        for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
                assert_true(source_allow_add(&allow, given[i], &error));
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                if (allowed(&allow, cases[i].uri, &error) != cases[i].good)
                        fail_msg("%s", cases[i].uri);
        }
        source_allow_done(&allow);
}

TEST(bad_patterns)
{
        static const char *const bad[] = { "", "x.eventlog", "*", "unix-listen:x", "stdin:", "http://x", "file:x" };
        struct source_allow allow = { .n = 0 };
        struct error error;

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                assert_false(source_allow_add(&allow, bad[i], &error));
        for (size_t i = 0; i < LIMIT_ALLOW_PATTERNS; i++)
                assert_true(source_allow_add(&allow, "/a/*", &error));
        assert_false(source_allow_add(&allow, "/a/*", &error));
        source_allow_done(&allow);
}

/* What only root's privileges reach is refused, existing or not, in the same words; what anybody may read is not. */
TEST(reach)
{
        char folder[] = "/tmp/hw-allow-XXXXXX", log[64], missing[64], fifo[64], pattern[64];
        struct source_allow allow = { .n = 0 };
        struct error there, not_there;

        assert_non_null(mkdtemp(folder));
        (void)snprintf(log, sizeof(log), "%s/a.eventlog", folder);
        (void)snprintf(missing, sizeof(missing), "%s/b.eventlog", folder);
        (void)snprintf(fifo, sizeof(fifo), "fifo:%s/b.fifo", folder);
        (void)snprintf(pattern, sizeof(pattern), "%s/*", folder);
        int fd = open(log, O_CREAT | O_WRONLY, 0600);
        assert_true(fd >= 0 && close(fd) == 0);
        assert_true(allowed(&allow, log, &there) && allowed(&allow, missing, &there) && allowed(&allow, fifo, &there));
        if (geteuid() != 0) {
                print_message("not root: there are no privileges to be kept back\n");
        } else {
                assert_int_equal(chown(folder, OTHER_USER, OTHER_USER), 0);
                assert_false(allowed(&allow, log, &there));
                assert_false(allowed(&allow, missing, &not_there));
                there.text[strcspn(there.text, ",")] = not_there.text[strcspn(not_there.text, ",")] = '\0';
                there.text[strlen(there.text) - 10] = not_there.text[strlen(not_there.text) - 10] = '?';
                assert_string_equal(there.text, not_there.text);
                assert_int_equal(chmod(folder, 0755), 0);
                assert_int_equal(chown(log, OTHER_USER, OTHER_USER), 0);
                assert_false(allowed(&allow, log, &there));
                assert_int_equal(access(log, R_OK), 0); /* the privileges are back */
                assert_true(source_allow_add(&allow, pattern, &there));
                assert_true(allowed(&allow, log, &there));
        }
        source_allow_done(&allow);
        (void)unlink(log);
        (void)rmdir(folder);
}

/* The agent in another user's program, when root asks root's daemon; nothing else, and nobody else. */
TEST(agents_for_root)
{
        static const char *const names[] = { "agent-1.sock", "other.sock" };
        char folder[] = "/tmp/hw-allow-XXXXXX", text[160];
        struct source_uri uri;
        struct error error;

        if (geteuid() != 0)
                skip();
        assert_non_null(mkdtemp(folder));
        assert_int_equal(chown(folder, OTHER_USER, OTHER_USER), 0);
        for (size_t i = 0; i < 2; i++) {
                snprintf(text, sizeof(text), "unix:/proc/%ld/root%s/%s", (long)getpid(), folder, names[i]);
                assert_true(source_uri_parse(text, &uri, &error));
                assert_int_equal(source_allowed(NULL, &uri, true, &error), i == 0);
                assert_false(source_allowed(NULL, &uri, false, &error));
        }
        snprintf(text, sizeof(text), "unix:%s/agent-1.sock", folder);
        assert_true(source_uri_parse(text, &uri, &error));
        assert_false(source_allowed(NULL, &uri, true, &error));
        (void)rmdir(folder);
}

/* The daemon's rights to read memory are not everybody's. */
TEST(memory_of_others)
{
        struct source_allow allow = { .n = 0 };
        struct source_uri uri;
        struct error error;

        if (getuid() != 0)
                skip();
        assert_true(source_uri_parse("outside:1", &uri, &error));
        assert_false(source_allowed(NULL, &uri, false, &error));
        assert_non_null(strstr(error.text, "memory of process 1"));
        assert_true(source_allowed(NULL, &uri, true, &error));
        assert_true(source_allow_add(&allow, "outside:*", &error));
        assert_true(source_allowed(&allow, &uri, false, &error));
        source_allow_done(&allow);
}
