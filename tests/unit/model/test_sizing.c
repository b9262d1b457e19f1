/* SPDX-License-Identifier: BSD-3-Clause */
/* test_sizing.c - the heap that the runtime holds for an amount of live data: by flags, release, and its own events. */
#include <stdlib.h>

#include "tests/unit/test.h"

#include "daemon/model/model.h"
#include "daemon/model/run.h"
#include "daemon/model/sizing.h"
#include "proto/base/process.h"

#define MIB UINT64_C(1048576)

/* Heap for `live` MiB of a program of four capabilities with -A4m. */
static uint64_t mib_for(uint64_t live, uint32_t ghc, double measured, size_t n, const char *const flags[])
{
        struct run run = {
                .ghc_number = ghc, .capabilities = 4, .allocation_area_bytes = 4 * MIB, .max_heap_bytes = 0
        };
        struct heap heap = { .size_factor = measured };

        run.args[run.n_args++] = "program";
        run.args[run.n_args++] = "+RTS";
        for (size_t i = 0; i < n; i++)
                run.args[run.n_args++] = flags[i];
        struct sizing s = sizing_of(&run, &heap);
        return sizing_heap(&s, live * MIB) / MIB;
}

#define MIB_FOR(live, ghc, ...)                                                                                        \
        mib_for(live, ghc, 0, sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *), (const char *[]){ __VA_ARGS__ })

TEST(by_flags)
{
        assert_int_equal(MIB_FOR(238, 900, "-l"), 32 + 4 * 238);
        assert_int_equal(MIB_FOR(238, 910, "-olfile.eventlog"), 32 + 4 * 238);
        assert_int_equal(MIB_FOR(100, 900, "-F1.5"), 32 + 350);
        assert_int_equal(MIB_FOR(100, 906, "-Fd8"), 32 + 400);
        assert_int_equal(MIB_FOR(100, 906, "-c"), 32 + 320);
        assert_int_equal(MIB_FOR(100, 906, "-xn"), 32 + 320);
        assert_int_equal(MIB_FOR(100, 906, "--nonmoving-gc"), 32 + 320);
        assert_int_equal(MIB_FOR(100, 906, "-xn", "--copying-gc"), 32 + 400);
        assert_int_equal(MIB_FOR(100, 900, "-xn"), 32 + 400); /* before 9.2 all collectors were given the same */
        assert_int_equal(MIB_FOR(100, 906, "-G1"), 32 + 600);
        assert_int_equal(MIB_FOR(0, 906, "-O64m"), 32 + 256);
        assert_int_equal(MIB_FOR(10, 906, "-H1g"), 1024);
        assert_int_equal(MIB_FOR(100, 906, "-F", "-F-3", "-Fx", "-F1e99"), 32 + 400); /* not believed */
}

TEST(as_the_collections_say)
{
        assert_int_equal(mib_for(100, 906, 6, 0, NULL), 32 + 600);   /* -F4, given where the log does not show it */
        assert_int_equal(mib_for(100, 906, 2.5, 0, NULL), 32 + 400); /* less is -Fd while idle, not a rule */
        assert_int_equal(mib_for(100, 906, 1e9, 0, NULL), 32 + 400); /* damage */
}

TEST(what_is_beyond)
{
        struct run run = { .capabilities = 1, .allocation_area_bytes = UNKNOWN_U64, .max_heap_bytes = UNKNOWN_U64 };
        struct heap heap = { .size_factor = 0 };
        struct sizing s = sizing_of(&run, &heap);

        assert_int_equal(sizing_beyond(&s, 238 * MIB, 610 * MIB), 0);
        assert_int_equal(sizing_beyond(&s, 100 * MIB, 1024 * MIB), 624 * MIB);
        assert_true(sizing_beyond(&s, UNKNOWN_U64, 1) == UNKNOWN_U64 &&
                    sizing_beyond(&s, 1, UNKNOWN_U64) == UNKNOWN_U64);
        run.max_heap_bytes = 200 * MIB;
        s = sizing_of(&run, &heap);
        assert_int_equal(sizing_heap(&s, 100 * MIB), 200 * MIB);
        assert_true(sizing_heap(&s, UINT64_MAX - 1) == 200 * MIB);
}

/* GHC 9.0.2 with -M20m ended with 19 MiB of live data, with -M48m with 47 MiB, of which 30 MiB had taken 61. */
TEST(under_a_limit_the_data_may_fill_the_heap)
{
        struct run run = { .capabilities = 1, .allocation_area_bytes = MIB, .max_heap_bytes = 20 * MIB };
        struct heap heap = { .size_factor = 0 };
        struct sizing s = sizing_of(&run, &heap);

        assert_int_equal(sizing_most_live(&s), 19 * MIB);
        s.most = 2000 * MIB;
        assert_int_equal(sizing_most_live(&s), 1970 * MIB);
        s.one_generation = true;
        assert_true(sizing_most_live(&s) == UNKNOWN_U64);
        s = (struct sizing){ .collector.nonmoving = true, .most = 20 * MIB };
        assert_true(sizing_most_live(&s) == UNKNOWN_U64);
        run.max_heap_bytes = 0;
        s = sizing_of(&run, &heap);
        assert_true(sizing_most_live(&s) == UNKNOWN_U64);
}
