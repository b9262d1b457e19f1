/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime's counters are found among its variables, and what only looks like them is not. */
#include <string.h>

#include "tests/unit/test.h"

#include "inspect/ghc/rts_counters.h"

#define BSS       UINT64_C(0x600000)
#define BSS_BYTES 16384u
#define MIB       (UINT64_C(1) << 20)

static struct {
        uint8_t bytes[BSS_BYTES];
        struct memory memory;
        struct range variables;
        struct program program;
        struct generations g;
        struct rts_counters_search search;
} f;

static bool read_bss(void *ctx, uint64_t at, void *to, size_t n)
{
        if (at < BSS || at - BSS > BSS_BYTES || n > BSS_BYTES - (at - BSS))
                return false;
        memcpy(to, f.bytes + (at - BSS), n);
        return true;
}

static int begin(void **unused)
{
        memset(&f, 0, sizeof(f));
        f.memory.read = read_bss;
        f.variables = (struct range){ BSS, BSS + BSS_BYTES };
        f.program = (struct program){ .memory = &f.memory, .variables = &f.variables, .n_variables = 1 };
        f.g.n = 2;
        return 0;
}

static void put(size_t place, size_t at, uint64_t value)
{
        memcpy(f.bytes + place + at, &value, sizeof(value));
}

static void put_half(size_t place, size_t at, uint32_t value)
{
        memcpy(f.bytes + place + at, &value, sizeof(value));
}

/* As the runtime would have them after the collections that its generations have counted. */
static void count_at(size_t place)
{
        const uint32_t minor = f.g.items[0].collections, major = f.g.items[1].collections;

        put_half(place, 0, minor + major);
        put_half(place, 4, major);
        put(place, 8, UINT64_C(4000000) * (minor + major));
        put(place, 16, major ? 5000 : 0);
        put(place, 48, 8 * MIB);
        put(place, 56, UINT64_C(5000) * major);
        put(place, 64, UINT64_C(700) * (minor + major));
        put_half(place, 160, 1);
        put(place, 168, 4000000);
        put(place, 176, 5000);
        put(place, 208, 6 * MIB);
        put(place, 216, 700);
}

static void collect(uint32_t minor, uint32_t major)
{
        f.g.items[0].collections += minor;
        f.g.items[1].collections += major;
}

static bool read_it(struct rts_counters *ret)
{
        return rts_counters_read(&f.search, &f.program, &f.g, ret);
}

/* Collects and counts at these places until they would be believed. True: they are. */
static bool prove(const size_t *places, size_t n)
{
        struct rts_counters s;
        bool found = false;

        for (unsigned i = 0; i < 4; i++) {
                collect(3 + i, i % 2);
                for (size_t k = 0; k < n; k++)
                        count_at(places[k]);
                found = read_it(&s);
        }
        return found;
}

TEST_WITH(test_found_after_further_collections, begin, NULL)
{
        struct rts_counters s;

        assert_false(read_it(&s)); /* nothing was collected: anything would fit */
        for (unsigned i = 0; i < 3; i++) {
                collect(2, 1);
                count_at(4000);
                assert_int_equal(read_it(&s), i == 2);
                if (i < 2)
                        assert_false(read_it(&s)); /* the same once more proves nothing */
        }
        assert_int_equal(s.allocated_bytes, 9 * UINT64_C(4000000));
        assert_int_equal(s.copied_bytes, 9 * 700);
        assert_int_equal(s.live_sum_bytes, 3 * 5000);
        assert_int_equal(s.newest_live_bytes, 5000);
        assert_true(s.newest_is_major);
        assert_true(s.collecting_ns == RTS_COUNTER_UNKNOWN);
        put(4000, 136, 12345);
        assert_true(read_it(&s));
        assert_int_equal(s.collecting_ns, 12345);
}

TEST_WITH(test_while_a_collection_ends, begin, NULL)
{
        const size_t place = 800;
        struct rts_counters s;

        assert_true(prove(&place, 1));
        collect(1, 0); /* its generation is counted, the rest is not yet */
        assert_false(read_it(&s));
        count_at(place);
        assert_true(read_it(&s));
}

TEST_WITH(test_a_name_needs_no_proof, begin, NULL)
{
        struct elf_symbol symbol = { BSS + 4000, 376, "stats" };
        struct rts_counters s;

        f.program.symbols = (struct elf_symbols){ .items = &symbol, .n = 1 };
        f.program.has_symbols = true;
        collect(5, 1);
        count_at(4000);
        count_at(8000); /* and is not in doubt for what looks like it */
        assert_true(read_it(&s));
        assert_int_equal(s.allocated_bytes, 6 * UINT64_C(4000000));
}

TEST_WITH(test_a_name_of_something_else, begin, NULL)
{
        struct elf_symbol symbol = { BSS + 4000, 376, "stats" };
        const size_t place = 8000;

        f.program.symbols = (struct elf_symbols){ .items = &symbol, .n = 1 };
        f.program.has_symbols = true;
        put(4000, 8, 99);
        assert_true(prove(&place, 1));
        assert_int_equal(f.search.places[0], BSS + place);
}

TEST_WITH(test_two_that_both_fit_are_none, begin, NULL)
{
        const size_t places[] = { 800, 8000 };

        assert_false(prove(places, 2));
}

TEST_WITH(test_a_copy_that_falls_behind_is_left_out, begin, NULL)
{
        const size_t place = 8000;

        collect(7, 2);
        count_at(800);
        count_at(place);
        struct rts_counters s;
        assert_false(read_it(&s));
        assert_int_equal(f.search.n, 2);
        assert_true(prove(&place, 1));
        assert_int_equal(f.search.places[0], BSS + place);
}

/* Each of these alone: a number that is right by chance beside one that cannot be. */
TEST_WITH(test_what_contradicts_itself_is_refused, begin, NULL)
{
        static const struct {
                size_t at;
                uint64_t value;
        } lies[] = {
                { 8, 0 },            /* nothing allocated */
                { 48, 8 * MIB + 1 }, /* no whole megablocks */
                { 48, 0 },           /* no memory */
                { 208, 9 * MIB },    /* more than the most */
                { 208, 12345 },      /* no whole megablocks */
                { 16, 9 * MIB },     /* more live than there is memory */
                { 56, UINT64_MAX },  /* the sum is more than so many could have left */
                { 56, 1 },           /* and less than one of them has */
                { 160, 2 },          /* no such generation */
                { 168, UINT64_MAX }, /* more than in all */
                { 216, UINT64_MAX },
        };
        struct rts_counters s;

        for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
                (void)begin(NULL);
                for (unsigned k = 0; k < 6; k++) {
                        collect(4, 2);
                        count_at(800);
                        put(800, lies[i].at, lies[i].value);
                        assert_false(read_it(&s));
                }
                assert_int_equal(f.search.n, 0);
        }
}

TEST_WITH(test_one_that_changes_its_mind, begin, NULL)
{
        const size_t place = 800;
        struct rts_counters s;

        assert_true(prove(&place, 1));
        collect(2, 0);
        put_half(place, 0, 77);
        for (unsigned i = 0; i < 1000; i++)
                assert_false(read_it(&s));
        assert_false(f.search.is_found);
}

TEST_WITH(test_memory_full_of_it, begin, NULL)
{
        size_t places[BSS_BYTES / 224];

        for (size_t i = 0; i < BSS_BYTES / 224; i++)
                places[i] = i * 224;
        assert_false(prove(places, BSS_BYTES / 224));
        assert_int_equal(f.search.n, 0);
}

TEST_WITH(test_one_generation, begin, NULL)
{
        struct rts_counters s;

        f.g.n = 1;
        for (unsigned i = 0; i < 3; i++) {
                f.g.items[0].collections += 2;
                f.g.items[1].collections = 0;
                count_at(800);
                put_half(800, 4, f.g.items[0].collections);
                put(800, 16, 5000);
                put(800, 56, UINT64_C(5000) * f.g.items[0].collections);
                put_half(800, 160, 0);
                assert_int_equal(read_it(&s), i == 2);
        }
        assert_true(s.newest_is_major);
}
