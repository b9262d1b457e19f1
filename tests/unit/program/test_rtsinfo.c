/* SPDX-License-Identifier: BSD-3-Clause */
/* rtsinfo: real answers of GHC 9.0.2 programs, other versions by their way and number, and damaged text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include "client/launch/program/inquire.h"

/* As `PROGRAM +RTS --info` prints it, some pairs left out. */
#define ANSWER(version, way, flags)                                                                                    \
        " [(\"GHC RTS\", \"YES\")\n ,(\"GHC version\", \"" version "\")\n ,(\"RTS way\", \"" way                       \
        "\")\n"                                                                                                        \
        " ,(\"Build platform\", \"x86_64-unknown-linux\")\n ,(\"Word size\", \"64\")\n"                                \
        " ,(\"Compiler unregisterised\", \"NO\")\n ,(\"Flag -with-rtsopts\", \"" flags "\")\n ]\n"

static struct rtsinfo parse(const char *text)
{
        struct rtsinfo info;

        assert_true(rtsinfo_parse(text, strlen(text), &info));
        return info;
}

TEST(real_answer)
{
        static const char path[] = "tests/data/rtsinfo/ghc902-thr_l.txt";
        char text[8192];
        FILE *f = fopen(path, "r");

        assert_non_null(f);
        size_t n = fread(text, 1, sizeof(text), f);
        fclose(f);
        struct rtsinfo info;
        assert_true(rtsinfo_parse(text, n, &info));
        assert_string_equal(info.version, "9.0.2");
        assert_string_equal(info.way, "rts_thr_l");
        assert_string_equal(info.with_rtsopts, "");
        assert_true(info.threaded && info.eventlog && !info.profiled && !info.debug);
}

TEST(ways)
{
        static const struct {
                const char *text;
                bool threaded, profiled, debug, eventlog;
        } t[] = {
                { ANSWER("9.0.2", "rts_v", ""), false, false, false, false },
                { ANSWER("9.0.2", "rts_l", ""), false, false, false, true },
                { ANSWER("9.0.2", "rts_p", ""), false, true, false, true },
                { ANSWER("9.0.2", "rts_thr_p", ""), true, true, false, true },
                { ANSWER("9.0.2", "rts_thr_debug", ""), true, false, true, true },
                { ANSWER("9.6.6", "rts_v", ""), false, false, false, true },
                { ANSWER("9.10.3", "rts_thr_p_dyn", ""), true, true, false, true },
        };

        for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
                struct rtsinfo info = parse(t[i].text);
                assert_int_equal(info.threaded, t[i].threaded);
                assert_int_equal(info.profiled, t[i].profiled);
                assert_int_equal(info.debug, t[i].debug);
                assert_int_equal(info.eventlog, t[i].eventlog);
        }
}

TEST(versions)
{
        struct rtsinfo info = parse(ANSWER("9.11.20240805", "rts_v", ""));

        assert_true(rtsinfo_at_least(&info, 9, 2) && rtsinfo_at_least(&info, 9, 11));
        assert_false(rtsinfo_at_least(&info, 9, 12) || rtsinfo_at_least(&info, 10, 0));
        info = parse(ANSWER("10.0.20260101", "rts_v", ""));
        assert_true(rtsinfo_at_least(&info, 9, 12) && rtsinfo_at_least(&info, 10, 0));
}

/* The RTS escapes nothing: quotes within the value are part of it. */
TEST(linked_flags)
{
        struct rtsinfo info = parse(ANSWER("9.0.2", "rts_l", "-N -hc\"a\", \"b\")"));

        assert_string_equal(info.with_rtsopts, "-N -hc\"a\", \"b\")");
}

TEST(damaged)
{
        static const char whole[] = ANSWER("9.0.2", "rts_l", "");
        static const char *const bad[] = {
                "",
                "[]",
                "[\"+RTS\",\"--info\"]\n",
                ANSWER("", "rts_l", ""),
                ANSWER("x.y", "rts_l", ""),
                ANSWER("9", "rts_l", ""),
                ANSWER("9.0.2", "", ""),
                ANSWER("99999999999.1", "rts_l", ""),
                " [(\"GHC RTS\", \"NO\")\n ,(\"GHC version\", \"9.0.2\")\n ,(\"RTS way\", \"rts_l\")\n ]\n",
        };
        struct rtsinfo info;

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                assert_false(rtsinfo_parse(bad[i], strlen(bad[i]), &info));
        /* Cut anywhere, in memory of exactly that size: read no further, and wrong only before the way is whole. */
        size_t way_end = (size_t)(strstr(whole, "rts_l\")") - whole) + 7;
        for (size_t n = 0; n <= sizeof(whole) - 1; n++) {
                char *exact = malloc(n > 0 ? n : 1);
                assert_non_null(exact);
                memcpy(exact, whole, n);
                assert_int_equal(rtsinfo_parse(exact, n, &info), n >= way_end);
                free(exact);
        }
}
