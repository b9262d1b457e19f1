/* SPDX-License-Identifier: BSD-3-Clause */
/* Which arguments are the runtime's, as rts/RtsFlags.c splits them. */
#include <string.h>

#include "tests/unit/test.h"

#include "proto/base/rts_options.h"

/* Of each argument: . the program's, | a mark, o an option. */
static const struct {
        const char *arguments[8], *expected;
} rows[] = {
        { { "a", "-hT" }, ".." },
        { { "a", "+RTS", "-hT", "-l" }, ".|oo" },
        { { "+RTS", "-hT", "-RTS", "-l", "+RTS", "-i1" }, "|o|.|o" },
        { { "+RTS", "-hT", "+RTS", "-l", "-RTS", "b" }, "|o|o|." },
        { { "-RTS", "+RTS", "-l" }, ".|o" },
        { { "+RTS", "-l", "--RTS", "+RTS", "-hT" }, "|o..." },
        { { "+RTS", "-l", "--", "+RTS", "-hT", "-RTS" }, "|o...." },
        { { "--", "+RTS", "-hT" }, "..." },
        { { "+RTSX", "+RT", "--RTSX", "", "+RTS", "" }, "....|o" },
};

TEST(split_as_the_runtime_does)
{
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                struct rts_options s = { .inside = false };
                char got[9] = "";

                for (size_t k = 0; k < 8 && rows[i].arguments[k]; k++)
                        got[k] = ".|o"[rts_argument(&s, rows[i].arguments[k], strlen(rows[i].arguments[k]))];
                assert_string_equal(got, rows[i].expected);
        }
}

TEST(an_argument_needs_no_end)
{
        struct rts_options s = { .inside = false };

        assert_int_equal(rts_argument(&s, "+RTS-l", 4), RTS_MARK);
        assert_int_equal(rts_argument(&s, "-l", 2), RTS_OPTION);
        assert_int_equal(rts_argument(&s, "-RTS", 3), RTS_OPTION);
        assert_int_equal(rts_argument(&s, "-RTSx", 4), RTS_MARK);
        assert_int_equal(rts_argument(&s, "-l", 2), RTS_NONE);
}
