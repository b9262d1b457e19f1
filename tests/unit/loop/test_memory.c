/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's memory against its budget: the marks, their hysteresis, and that freed memory is returned. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include "daemon/source/loop/memory.h"
#include "daemon/source/procfs.h"
#include "proto/base/process.h"
#include "tests/unit/valgrind.h"

#define MIB         (UINT64_C(1) << 20)
#define LIVES       4000
#define LARGE       64
#define LARGE_BYTES (900u << 10)

static enum memory_state at(uint64_t mib)
{
        memory_update_usage(mib * MIB, 0);
        return memory_now();
}

TEST(marks)
{
        memory_set_budget(100 * MIB);
        assert_int_equal(at(79), MEMORY_PLENTY);
        assert_null(memory_words());
        assert_int_equal(at(81), MEMORY_TIGHT);
        assert_non_null(strstr(memory_words(), "get no new bands"));
        assert_null(strstr(memory_words(), "no target"));
        assert_non_null(strstr(memory_words(), "; give it more (--memory, MemoryMax=) or remove targets"));
        assert_int_equal(at(77), MEMORY_TIGHT); /* not back yet */
        assert_int_equal(at(74), MEMORY_PLENTY);
        assert_int_equal(at(96), MEMORY_FULL);
        assert_non_null(strstr(memory_words(), "no target is added; give it more (--memory, MemoryMax=)"));
        assert_int_equal(at(91), MEMORY_FULL);
        assert_int_equal(at(89), MEMORY_TIGHT);
        assert_int_equal(at(10), MEMORY_PLENTY);
}

/* Half of what is used when it becomes tight, divided by the targets. */
TEST(shares)
{
        memory_set_budget(100 * MIB);
        (void)at(50);
        assert_false(memory_closes(90 * MIB));
        memory_set_targets(4);
        (void)at(85);
        assert_true(memory_closes(11 * MIB));
        assert_false(memory_closes(9 * MIB));
        (void)at(97);
        assert_true(memory_closes(0));
}

/* The fuller it is the sooner it is looked at again; a program's bytes become so much more. */
TEST(looks)
{
        memory_set_budget(100 * MIB);
        (void)at(16);
        assert_false(memory_is_due(512 << 10));
        assert_true(memory_is_due(600 << 10));
        (void)at(16);
        assert_false(memory_is_due(1000 << 10)); /* counts from the last look */
        (void)at(72);
        assert_true(memory_is_due(200 << 10));
        (void)at(85);
        assert_true(memory_is_due(1));
        (void)at(97);
        assert_false(memory_is_due(1 << 20)); /* nothing is left to be closed */
        memory_set_budget(UNKNOWN_U64);
        assert_false(memory_is_due(SIZE_MAX / 2));
}

TEST(without_a_budget)
{
        memory_set_budget(UNKNOWN_U64);
        assert_int_equal(at(1 << 20), MEMORY_PLENTY);
}

/* It visits every free block, which a heap of a thousand targets has too many of. */
struct mallinfo2 mallinfo2(void)
{
        fail_msg("each free block is visited");
        return (struct mallinfo2){ 0 };
}

#ifndef __SANITIZE_ADDRESS__ /* its allocator keeps what is freed */

/* Blocks that are freed below one that is not. */
TEST(what_was_freed_goes_back)
{
        static char *blocks[LIVES];
        uint64_t before, full;

        if (under_valgrind())
                skip();
        before = procfs_own_rss();
        for (unsigned i = 0; i < LIVES; i++) {
                blocks[i] = malloc(16000);
                assert_non_null(blocks[i]);
                memset(blocks[i], 1, 16000);
        }
        full = procfs_own_rss();
        assert_true(full > before + 50 * MIB);
        for (unsigned i = 0; i + 1 < LIVES; i++)
                free(blocks[i]);
        memory_update_usage(full, 100 * MEMORY_TRIM_NS);
        assert_true(procfs_own_rss() < before + 20 * MIB);
        free(blocks[LIVES - 1]);
}

/* As decoders of targets are allocated: of what they have little is ever written. Each is below a block that stays. */
static void large_blocks(void *large[LARGE], void *above[LARGE])
{
        for (unsigned i = 0; i < LARGE; i++) {
                large[i] = calloc(1, LARGE_BYTES);
                above[i] = malloc(100);
                assert_true(large[i] && above[i]);
        }
}

static void free_all(void *blocks[LARGE])
{
        for (unsigned i = 0; i < LARGE; i++)
                free(blocks[i]);
}

/* However often such blocks were written and freed, new ones cost nothing until they are written. */
TEST(large_blocks_cost_what_is_written)
{
        static void *large[LARGE];
        static void *above[3][LARGE];
        const uint64_t before = procfs_own_rss();

        if (under_valgrind())
                skip();
        memory_begin();
        for (unsigned round = 0; round < 2; round++) {
                large_blocks(large, above[round]);
                for (unsigned i = 0; i < LARGE; i++)
                        memset(large[i], 1, LARGE_BYTES);
                free_all(large);
        }
        large_blocks(large, above[2]);
        assert_true(procfs_own_rss() < before + 8 * MIB);
        free_all(large);
        for (unsigned round = 0; round < 3; round++)
                free_all(above[round]);
}

#endif
