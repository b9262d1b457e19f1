/* SPDX-License-Identifier: BSD-3-Clause */
/* A pause begins with the first trouble and ends with the last; a disk counts as slow for ten seconds. */
#include "daemon/record/recorder.h"

#include <string.h>

#include "tests/unit/test.h"

#define S UINT64_C(1000000000)

static char why[PAUSE_DETAIL_BYTES];

TEST(test_the_disk)
{
        struct pause p;

        pause_init(&p, "/r");
        assert_false(pause_reason(&p, why));
        assert_string_equal(why, "");
        pause_disk(&p, "No space left on device");
        assert_true(pause_reason(&p, why));
        assert_string_equal(why, "No space left on device");
        pause_disk(&p, "");
        assert_false(pause_reason(&p, why));
        pause_done(&p);
}

TEST(test_too_slow)
{
        struct pause p;

        pause_init(&p, "/r");
        pause_refused(&p, 100 * S);
        assert_true(pause_reason(&p, why));
        assert_non_null(strstr(why, "in time"));
        pause_update(&p, 5, 1, 109 * S);
        assert_true(pause_reason(&p, why));
        pause_disk(&p, "Read-only file system"); /* is the better reason */
        assert_true(pause_reason(&p, why));
        assert_non_null(strstr(why, "Read-only"));
        pause_disk(&p, "");
        assert_true(pause_reason(&p, why));
        pause_update(&p, 5, 2, 110 * S);
        assert_false(pause_reason(&p, why));
        pause_done(&p);
}

/* Few events wait, so nothing is refused; but nothing is done either. */
TEST(test_hangs)
{
        struct pause p;

        pause_init(&p, "/r");
        for (uint64_t t = 100; t < 130; t++)
                pause_update(&p, 0, 7, t * S); /* nothing waits */
        assert_false(pause_reason(&p, why));
        for (uint64_t t = 130; t < 139; t++)
                pause_update(&p, 1, 7, t * S);
        assert_false(pause_reason(&p, why));
        pause_update(&p, 1, 7, 139 * S);
        assert_true(pause_reason(&p, why));
        assert_non_null(strstr(why, "not answered"));
        pause_update(&p, 1, 8, 140 * S);
        assert_false(pause_reason(&p, why));
        pause_done(&p);
}
