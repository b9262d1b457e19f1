/* SPDX-License-Identifier: BSD-3-Clause */
/* A copy of a notice owns everything, is valid UTF-8 and bounded; the fingerprint tells alerts apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/rules/notice.h"
#include "heapwatch/text.h"

static void fingerprint_tells_alerts_apart(void **state)
{
        uint64_t a = notice_fingerprint("g", "leak", "api", "Main.x", NULL);

        (void)state;
        assert_int_equal(a, notice_fingerprint("g", "leak", "api", "Main.x", NULL));
        assert_int_not_equal(a, notice_fingerprint("g", "leak", "api", "Main.x", "sat_info"));
        assert_int_not_equal(a, notice_fingerprint("g", "leak", "api", "Main.y", NULL));
        assert_int_not_equal(a, notice_fingerprint("g", "leak", "api", NULL, NULL));
        assert_int_not_equal(notice_fingerprint("g", "leak", "api", NULL, NULL),
                             notice_fingerprint("g", "leak", "api", "", NULL));
        assert_int_not_equal(notice_fingerprint("g", "ab", "c", NULL, NULL),
                             notice_fingerprint("g", "a", "bc", NULL, NULL));
        assert_int_not_equal(notice_fingerprint("g", "a", "b", NULL, NULL),
                             notice_fingerprint("g", "b", "a", NULL, NULL));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(fingerprint_tells_alerts_apart),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
