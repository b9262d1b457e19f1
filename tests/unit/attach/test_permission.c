/* SPDX-License-Identifier: BSD-3-Clause */
/* Who may attach, by kernel.yama.ptrace_scope and CAP_SYS_PTRACE. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "client/program/permission.h"

static void test_what_is_missing(void **state)
{
        (void)state;
        for (int scope = 0; scope < 3; scope++)
                assert_null(permission_missing(scope, true));
        assert_null(permission_missing(0, false));
        assert_non_null(
                strstr(permission_missing(1, false), "ptrace_scope is 1: attaching needs root or CAP_SYS_PTRACE"));
        assert_non_null(
                strstr(permission_missing(2, false), "ptrace_scope is 2: attaching needs root or CAP_SYS_PTRACE"));
        assert_non_null(strstr(permission_missing(3, false), "ptrace_scope is 3: nothing"));
        assert_non_null(strstr(permission_missing(3, true), "ptrace_scope is 3: nothing")); /* root neither */
}

int main(void)
{
        const struct CMUnitTest tests[] = { cmocka_unit_test(test_what_is_missing) };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
