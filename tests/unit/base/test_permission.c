/* SPDX-License-Identifier: BSD-3-Clause */
/* Who may attach and inspect, by kernel.yama.ptrace_scope and CAP_SYS_PTRACE. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/test.h"

#include "proto/base/permission.h"

TEST(test_what_is_missing)
{
        for (int scope = 0; scope < 3; scope++)
                assert_null(permission_missing(scope, true));
        assert_null(permission_missing(0, false));
        assert_non_null(strstr(permission_missing(1, false),
                               "ptrace_scope is 1: attaching and inspecting need root or CAP_SYS_PTRACE"));
        assert_non_null(strstr(permission_missing(2, false),
                               "ptrace_scope is 2: attaching and inspecting need root or CAP_SYS_PTRACE"));
        assert_non_null(strstr(permission_missing(3, false), "ptrace_scope is 3: nothing"));
        assert_non_null(strstr(permission_missing(3, true), "ptrace_scope is 3: nothing")); /* root neither */
}

static int scope_of(const char *text)
{
        char path[] = "/tmp/hw-scope-XXXXXX";
        const int fd = mkstemp(path);

        assert_true(fd >= 0);
        assert_int_equal(write(fd, text, strlen(text)), strlen(text));
        assert_int_equal(close(fd), 0);
        const int scope = permission_scope(path);
        assert_int_equal(unlink(path), 0);
        return scope;
}

TEST(test_the_setting)
{
        assert_int_equal(scope_of("0\n"), 0);
        assert_int_equal(scope_of("1\n"), 1);
        assert_int_equal(scope_of("3\n"), 3);
        assert_int_equal(scope_of(""), 0);
        assert_int_equal(permission_scope("/nowhere/at/all"), 0); /* a kernel without yama */
}
