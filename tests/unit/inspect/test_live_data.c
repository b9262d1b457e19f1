/* SPDX-License-Identifier: BSD-3-Clause */
/* Live data from readings of the generations: what is known right after a major collection, and what is not. */
#include "tests/unit/test.h"

#include "inspect/ghc/rts_counters.h"

#define WORDS (BLOCK_BYTES / 8)

struct state {
        struct live_data live;
        struct generations g;
};

/* A program with two generations, of which the older one has `blocks` full blocks. */
static struct state begin(uint64_t blocks)
{
        struct state s = { .g = { .n = 2 } };

        s.g.items[1].n_words = blocks * WORDS;
        s.g.items[1].max_blocks = 2 * blocks;
        return s;
}

static bool read_it(struct state *s, uint64_t *ret)
{
        *ret = 0;
        return live_data_update(&s->live, &s->g, ret);
}

/* The old generation is collected: `blocks` are left in it, and the runtime computes when the next one comes. */
static void collect(struct state *s, uint64_t blocks, double factor)
{
        const uint64_t max = (uint64_t)((double)blocks * factor);

        s->g.items[1].collections++;
        s->g.items[1].n_words = blocks * WORDS;
        s->g.items[1].max_blocks = max > 256 ? max : 256;
}

static void promote(struct state *s, uint64_t blocks)
{
        s->g.items[0].collections++;
        s->g.items[1].n_words += blocks * WORDS;
}

TEST(test_nothing_before_a_major_collection)
{
        struct state s = begin(1000);
        uint64_t bytes;

        assert_false(read_it(&s, &bytes));
        promote(&s, 10);
        assert_false(read_it(&s, &bytes));
        assert_false(read_it(&s, &bytes));
        assert_int_equal(s.live.known + s.live.unknown, 0);
}

TEST(test_exact_when_nothing_follows)
{
        struct state s = begin(1000);
        uint64_t bytes;

        (void)read_it(&s, &bytes);
        collect(&s, 700, 2);
        s.g.items[0].n_words = 3;
        s.g.items[1].n_large_words = 5000;
        s.g.items[1].n_large_blocks = 10;
        assert_false(read_it(&s, &bytes)); /* it may not be over */
        assert_true(read_it(&s, &bytes));
        assert_int_equal(bytes, 8 * (700 * WORDS + 5000 + 3));
        assert_false(read_it(&s, &bytes)); /* once */
}

TEST(test_what_was_promoted_since_does_not_count)
{
        struct state s = begin(1000);
        uint64_t bytes;

        (void)read_it(&s, &bytes);
        collect(&s, 700, 2);
        promote(&s, 50);
        (void)read_it(&s, &bytes);
        promote(&s, 50);
        assert_true(read_it(&s, &bytes));
        assert_int_equal(bytes, 8 * 700 * WORDS);
        assert_int_equal(s.live.known, 1);
}

TEST(test_another_factor)
{
        struct state s = begin(1000);
        uint64_t bytes;

        (void)read_it(&s, &bytes);
        /* with -F4 max_blocks would say more than there is: not known, until the factor has been seen */
        collect(&s, 700, 4);
        promote(&s, 50);
        (void)read_it(&s, &bytes);
        assert_false(read_it(&s, &bytes));
        assert_int_equal(s.live.unknown, 1);
        /* with -F1.5 it would say less */
        collect(&s, 700, 1.5);
        promote(&s, 50);
        (void)read_it(&s, &bytes);
        assert_false(read_it(&s, &bytes));
        collect(&s, 800, 1.5);
        (void)read_it(&s, &bytes);
        assert_true(read_it(&s, &bytes));
        collect(&s, 900, 1.5);
        promote(&s, 300);
        (void)read_it(&s, &bytes);
        assert_true(read_it(&s, &bytes));
        assert_int_equal(bytes, 8 * 900 * WORDS);
}

TEST(test_a_small_heap_says_nothing)
{
        struct state s = begin(100);
        uint64_t bytes;

        (void)read_it(&s, &bytes);
        collect(&s, 100, 2); /* max_blocks is the least, whatever is live */
        promote(&s, 20);
        (void)read_it(&s, &bytes);
        assert_false(read_it(&s, &bytes));
}

TEST(test_collections_that_follow_each_other)
{
        struct state s = begin(1000);
        uint64_t bytes;

        (void)read_it(&s, &bytes);
        for (int i = 0; i < 3; i++) {
                collect(&s, 600, 2);
                assert_false(read_it(&s, &bytes));
        }
        assert_int_equal(s.live.unknown, 2);
        assert_true(read_it(&s, &bytes));
        assert_int_equal(bytes, 8 * 600 * WORDS);
}

TEST(test_the_last_part_of_a_collection)
{
        struct state s = begin(1000);
        uint64_t bytes;

        (void)read_it(&s, &bytes);
        s.g.items[1].collections++; /* counted, but the sizes are still the old ones */
        assert_false(read_it(&s, &bytes));
        collect(&s, 500, 2);
        s.g.items[1].collections--;
        assert_true(read_it(&s, &bytes));
        assert_int_equal(bytes, 8 * 500 * WORDS);
}

/* What minor collections have put into the middle one since cannot be told from what was left in it. */
TEST(test_three_generations)
{
        struct state s = { .g = { .n = 3 } };
        uint64_t bytes;

        (void)read_it(&s, &bytes);
        for (int promotes = 0; promotes < 2; promotes++) {
                s.g.items[2].collections++;
                s.g.items[2].n_words = 700 * WORDS;
                s.g.items[2].max_blocks = 1400;
                s.g.items[0].collections += (uint32_t)promotes;
                s.g.items[1].n_words = (uint64_t)promotes * 300 * WORDS;
                (void)read_it(&s, &bytes);
                assert_int_equal(read_it(&s, &bytes), !promotes);
                assert_int_equal(bytes, promotes ? 0 : 8 * 700 * WORDS);
        }
}

TEST(test_one_generation)
{
        struct state s = { .g = { .n = 1 } };
        uint64_t bytes;

        (void)read_it(&s, &bytes);
        s.g.items[0].collections++;
        s.g.items[0].n_words = 12345;
        s.g.items[0].n_compact_blocks = 2;
        (void)read_it(&s, &bytes);
        assert_false(read_it(&s, &bytes)); /* the next collection may have begun, and have emptied it */
        assert_int_equal(s.live.unknown, 1);
}
