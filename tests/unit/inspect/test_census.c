/* SPDX-License-Identifier: BSD-3-Clause */
/* The heap of made-up programs: what is counted, what is a gap, what is not understood. */
#include "tests/unit/test.h"

#include "inspect/ghc/census.h"
#include "inspect/ghc/threads.h"
#include "proto/base/array.h"
#include "tests/unit/inspect/draft.h"

#define MEMORY (UINT64_C(4) << 30)

struct taken {
        struct ghc ghc;
        struct heap_snapshot snapshot;
        struct heap_census census;
        struct heap_bands bands;
};

/* A packed copy of the same has the same words and closures. Returns how many of its megablocks are packed. */
static size_t compare_packed(struct taken *t)
{
        struct heap_snapshot s;
        struct heap_census census = { .n = 0 };
        struct error error;
        size_t packed = 0;

        assert_true(snapshot_prepare_packed(&s, &t->ghc, MEMORY, 5, &error));
        assert_true(snapshot_copy(&s, true, NULL, NULL, &error));
        assert_true(snapshot_index(&s));
        assert_int_equal(s.n_megablocks, t->snapshot.n_megablocks);
        for (size_t i = 0; i < s.n_megablocks; i++) {
                const uint64_t at = s.megablocks[i].at;
                packed += s.megablocks[i].wide != NULL;
                for (uint64_t k = 0; k < MEGABLOCK_BYTES; k += 8)
                        if (snapshot_word(&s, at + k) != snapshot_word(&t->snapshot, at + k))
                                fail_msg("another word at %#lx", (unsigned long)(at + k));
        }
        heap_census_count(&census, &s);
        assert_int_equal(census.total_bytes, t->census.total_bytes);
        assert_int_equal(s.lost_links, t->snapshot.lost_links);
        heap_census_done(&census);
        snapshot_done(&s);
        return packed;
}

static void count_closures(struct taken *t, struct draft *d)
{
        struct error error = { "" };

        *t = (struct taken){ .census = { .n = 0 } };
        (void)draft_thread(d, 1, 8, NULL, 0);
        draft_finish(d);
        if (!ghc_find(&t->ghc, &d->program, &error) || !snapshot_prepare(&t->snapshot, &t->ghc, MEMORY, 5, &error) ||
            !snapshot_copy(&t->snapshot, true, NULL, NULL, &error))
                fail_msg("%s", error.text);
        assert_true(snapshot_index(&t->snapshot));
        heap_census_count(&t->census, &t->snapshot);
        assert_true(heap_bands_of(&t->bands, &t->census, &t->ghc, false));
        (void)compare_packed(t);
}

static void done(struct taken *t, struct draft *d)
{
        heap_bands_done(&t->bands);
        heap_census_done(&t->census);
        snapshot_done(&t->snapshot);
        ghc_done(&t->ghc);
        draft_destroy(d);
}

static struct heap_band band(const struct taken *t, const char *name)
{
        for (size_t i = 0; i < t->bands.n; i++)
                if (!strcmp(t->bands.items[i].name, name))
                        return t->bands.items[i];
        return (struct heap_band){ .name = NULL };
}

/* Closures of every shape have the size that GHC gives them. */
TEST(test_sizes)
{
        struct draft *d = draft_new(&draft_9_0);
        struct taken t;
        const struct {
                unsigned type;
                uint32_t pointers, others;
                uint64_t words[6];
                unsigned n;
                const char *name, *band;
        } shapes[] = {
                { CONSTR, 1, 2, { 0, 1, 2, 3 }, 4, "main:Main.Order", "main:Main.Order" },
                { CONSTR_0_2, 0, 2, { 0, 1, 2 }, 3, "main:Main.Item", "main:Main.Item" },
                { BLACKHOLE, 1, 0, { 0, 8 }, 2, NULL, "BLACKHOLE" },
                { ARR_WORDS, 0, 0, { 0, 17, 1, 2, 3 }, 5, NULL, "ARR_WORDS (ByteArray#)" },
                { MUT_ARR_PTRS_CLEAN, 0, 0, { 0, 2, 3, 8, 8, 0 }, 6, NULL, "MUT_ARR_PTRS (Array#)" },
                { SMALL_MUT_ARR_PTRS_CLEAN, 0, 0, { 0, 2, 8, 8 }, 4, NULL, "SMALL_MUT_ARR_PTRS (SmallArray#)" },
                { MUT_VAR_CLEAN, 1, 0, { 0, 8 }, 2, NULL, "MUT_VAR (IORef, STRef)" },
                { PAP, 0, 0, { 0, (uint64_t)2 << 32, 8, 8, 8 }, 5, NULL, "PAP" },
                { AP, 0, 0, { 0, 0, (uint64_t)1 << 32, 8, 8 }, 5, NULL, "AP" },
                { TVAR, 3, 0, { 0, 8, 8, 8 }, 4, NULL, "TVAR" },
                { CONSTR, 0, 5, { 0, 1, 2, 3, 4, 5 }, 6, "DEAD_WEAK", "DEAD_WEAK" },
                { CONSTR, 1, 4, { 0, 8, 2, 3, 4, 5 }, 6, "C_FINALIZER_LIST", "C_FINALIZER_LIST" },
                { PRIM, 0, 1, { 0, 1 }, 2, NULL, "PRIM" },
                { MUT_PRIM, 2, 1, { 0, 8, 8, 1 }, 4, NULL, "MUT_PRIM" },
                { BLOCKING_QUEUE, 4, 0, { 0, 8, 8, 8, 8 }, 5, NULL, "BLOCKING_QUEUE" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
                uint64_t words[6];
                memcpy(words, shapes[i].words, sizeof(words));
                words[0] = draft_table(d, shapes[i].type, shapes[i].pointers, shapes[i].others, shapes[i].name);
                for (size_t k = 0; k <= i; k++)
                        (void)draft_object(d, 1, words, shapes[i].n);
        }
        count_closures(&t, d);
        assert_int_equal(t.census.rest.unknown_bytes, 0);
        for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
                const struct heap_band b = band(&t, shapes[i].band);
                assert_int_equal(b.objects, i + 1);
                assert_int_equal(b.bytes, (i + 1) * 8 * shapes[i].n);
        }
        assert_int_equal(band(&t, "TSO (thread)").bytes, 15 * 8);
        assert_int_equal(band(&t, "STACK (of a thread)").bytes, (1 + 2 + 8 + 1) * 8);
        done(&t, d);
}

/* Functions and thunks by their symbols; what an evaluated thunk leaves behind is a gap; anything else is not known. */
TEST(test_gaps_and_names)
{
        struct draft *d = draft_new(&draft_9_6);
        const uint64_t hole = draft_table(d, BLACKHOLE, 1, 0, NULL), thunk = draft_table(d, THUNK, 3, 0, NULL);
        const uint64_t fun = draft_table(d, FUN_1_0, 1, 0, NULL), con = draft_table(d, CONSTR, 2, 1, "p:M.C");
        struct taken t;

        draft_symbol(d, thunk, 16, "Main_total_info");
        draft_symbol(d, fun, 16, "Main_zdwgo_s4nN_info");
        (void)draft_object(d, 1, (uint64_t[]){ thunk, 0, 1, 2, 3 }, 5);
        (void)draft_object(d, 1, (uint64_t[]){ hole, 8, 77, 78, 79 }, 5);
        (void)draft_object(d, 1, (uint64_t[]){ fun, 8 }, 2);
        (void)draft_object(d, 1, (uint64_t[]){ con, 8, 8, 1, 99, 0 }, 6);
        count_closures(&t, d);
        assert_int_equal(band(&t, "Main.total (thunk)").bytes, 40);
        assert_int_equal(band(&t, "Main.$wgo (function)").bytes, 16);
        assert_int_equal(band(&t, "BLACKHOLE").bytes, 16);
        assert_int_equal(t.census.rest.unused_bytes, 24 + 8);
        assert_int_equal(t.census.rest.unknown_bytes, 8);
        done(&t, d);
}

/* A word that is no closure of the heap, and one that may be none there: how often, and of what type. */
TEST(test_not_understood)
{
        struct draft *d = draft_new(&draft_9_6);
        const uint64_t list = draft_table(d, CONSTR, 2, 0, "SRT_2"), frame = draft_table(d, RET_SMALL, 1, 0, NULL);
        const uint64_t just = draft_table(d, CONSTR, 1, 0, "p:M.Just");
        struct taken t;

        for (unsigned i = 0; i < 3; i++)
                (void)draft_object(d, 1, (uint64_t[]){ just, 8, list, 8, 8, frame, 99 }, 7);
        (void)draft_object(d, 1, (uint64_t[]){ just, 8, 99, 98, just, 8 }, 6);
        count_closures(&t, d);
        assert_int_equal(band(&t, "p:M.Just").objects, 5);
        assert_int_equal(t.census.rest.unknown_bytes, 3 * 5 * 8 + 16);
        assert_int_equal(t.census.rest.met[CONSTR], 3);
        assert_int_equal(t.census.rest.met[RET_SMALL], 3);
        assert_int_equal(t.census.rest.met[0], 1);
        done(&t, d);
}

/* Byte arrays by size; of those with the same contents, also as part of a longer one, only the same length counts. */
TEST(test_equal_arrays)
{
        struct draft *d = draft_new(&draft_profiled);
        const uint64_t bytes = draft_table(d, ARR_WORDS, 0, 0, NULL), con = draft_table(d, CONSTR_0_2, 0, 2, "p:M.C");
        const uint64_t pair[] = { bytes, 0, 0, 13, 0x0807060504030201, 0x0d0c0b0a09 };
        const uint64_t same_but_for_its_end[] = { bytes, 0, 0, 13, 0x0807060504030201, 0xffffff0d0c0b0a09 };
        const uint64_t shorter[] = { bytes, 0, 0, 12, 0x0807060504030201, 0x0d0c0b0a09 };
        uint64_t large[4 + 16] = { bytes, 0, 0, 128 }, other[4 + 16];
        struct heap_arrays a;
        struct taken t;

        memset(large + 4, 7, 128);
        memcpy(other, large, sizeof(large));
        other[19]++;
        (void)draft_object(d, 1, pair, 6);
        (void)draft_object(d, 1, large, 20);
        (void)draft_object(d, 1, same_but_for_its_end, 6); /* what is behind its length is no part of it */
        (void)draft_object(d, 1, shorter, 6);
        (void)draft_object(d, 1, (uint64_t[]){ con, 0, 0, 13, 0x0807060504030201 }, 5);
        (void)draft_object(d, 1, large, 20);
        (void)draft_object(d, 1, other, 20);
        (void)draft_object(d, 1, large, 20);
        count_closures(&t, d);
        assert_true(heap_arrays_count(&a, &t.snapshot));
        assert_int_equal(a.arrays, 7);
        assert_int_equal(a.bytes, 13 + 13 + 12 + 4 * 128);
        assert_int_equal(a.classes[0].arrays, 3);
        assert_int_equal(a.classes[1].arrays, 0);
        assert_int_equal(a.classes[2].arrays, 4);
        assert_int_equal(a.classes[2].bytes, 4 * 128);
        assert_int_equal(a.repeated, 1 + 2);
        assert_int_equal(a.repeated_bytes, 13 + 2 * 128);
        assert_int_equal(a.not_compared, 0);
        heap_arrays_sort(&a);
        assert_int_equal(a.n_contents, 2);
        assert_int_equal(a.contents[0].arrays, 3);
        assert_int_equal(a.contents[0].bytes, 128);
        assert_int_equal(a.contents[1].arrays, 2);
        assert_int_equal(a.contents[1].bytes, 13);
        heap_arrays_done(&a);
        done(&t, d);
}

/* Large closures, of which one has shrunk, pinned arrays, what is young, and blocks that are the runtime's own. */
TEST(test_blocks)
{
        struct draft *d = draft_new(&draft_9_0);
        const uint64_t bytes = draft_table(d, ARR_WORDS, 0, 0, NULL), con = draft_table(d, CONSTR, 1, 0, "p:M.C");
        uint64_t words[600] = { bytes, 598 * 8 };
        struct taken t;

        (void)draft_append(d, draft_group(d, 1, BLOCK_LARGE, 2), words, 600);
        words[1] = 16;
        (void)draft_append(d, draft_group(d, 1, BLOCK_LARGE, 2), words, 600);
        const unsigned pinned = draft_group(d, 1, BLOCK_LARGE | BLOCK_PINNED, 1);
        (void)draft_append(d, pinned, (uint64_t[]){ bytes, 8, 1, 0, bytes, 16, 2, 3 }, 8);
        (void)draft_append(d, draft_group(d, DRAFT_GENERATIONS, 0, 1), (uint64_t[]){ con, 8 }, 2);
        count_closures(&t, d);
        assert_int_equal(t.census.large_objects, 2);
        assert_int_equal(t.census.pinned_blocks, 1);
        assert_int_equal(t.census.pinned_bytes, 3 * 8 + 4 * 8);
        assert_int_equal(band(&t, "ARR_WORDS (ByteArray#)").objects, 4);
        assert_int_equal(band(&t, "ARR_WORDS (ByteArray#)").bytes, 2 * 600 * 8 + 3 * 8 + 4 * 8);
        assert_int_equal(band(&t, "p:M.C").objects, 0);
        assert_int_equal(t.census.rest.unknown_bytes, 0);
        done(&t, d);
}

/* As the runtime's own census counts them, so that the band is the same whoever makes it. */
TEST(test_pinned_arrays_as_the_runtime_counts_them)
{
        static const uint64_t expected[] = { BLOCK_BYTES, 3 * 8 };
        const struct draft_layout *const layouts[] = { &draft_9_0, &draft_9_6 };

        for (unsigned i = 0; i < 2; i++) {
                struct draft *d = draft_new(layouts[i]);
                const uint64_t bytes = draft_table(d, ARR_WORDS, 0, 0, NULL);
                struct taken t;

                (void)draft_object(d, 1, (uint64_t[]){ bytes, 8, 1 }, 3);
                const unsigned pinned = draft_group(d, 1, BLOCK_LARGE | BLOCK_PINNED, 1);
                (void)draft_append(d, pinned, (uint64_t[]){ bytes, 8, 1, 0, bytes, 16, 2, 3 }, 8);
                count_closures(&t, d);
                heap_bands_done(&t.bands);
                assert_true(heap_bands_of(&t.bands, &t.census, &t.ghc, true));
                assert_int_equal(band(&t, "ARR_WORDS").bytes, 3 * 8 + 3 * 8 + 4 * 8);
                heap_bands_pinned_as_runtime(&t.bands, &t.census, &t.ghc);
                assert_int_equal(band(&t, "ARR_WORDS").bytes, 3 * 8 + expected[i]);
                done(&t, d);
        }
}

/* A transaction has entries of three words, in the threaded runtime of four. */
TEST(test_transactions)
{
        struct draft_layout threaded = draft_9_0;

        threaded.generation_bytes = 384;
        for (unsigned i = 0; i < 2; i++) {
                struct draft *d = draft_new(i ? &threaded : &draft_9_0);
                uint64_t words[1 + 2 + 64] = { draft_table(d, TREC_CHUNK, 0, 0, NULL) };
                const uint64_t con = draft_table(d, CONSTR, 1, 0, "p:M.C");
                struct taken t;

                words[3 + 16 * (3 + i) - 1] = 77;
                (void)draft_object(d, 1, words, 3 + 16 * (3 + i));
                (void)draft_object(d, 1, (uint64_t[]){ con, 8 }, 2);
                count_closures(&t, d);
                assert_int_equal(band(&t, "TREC_CHUNK").bytes, 8 * (3 + 16 * (3 + i)));
                assert_int_equal(band(&t, "p:M.C").objects, 1);
                assert_int_equal(t.census.rest.unknown_bytes, 0);
                done(&t, d);
        }
}

/* More memory than is allowed is refused before anything is copied. */
TEST(test_limit)
{
        struct draft *d = draft_new(&draft_9_0);
        struct error error = { "" };
        struct heap_snapshot s;
        struct ghc g;

        (void)draft_thread(d, 1, 8, NULL, 0);
        draft_finish(d);
        assert_true(ghc_find(&g, &d->program, &error));
        assert_false(snapshot_prepare(&s, &g, 1 << 20, 5, &error));
        assert_non_null(strstr(error.text, "to inspect it takes 0.2 GiB of memory"));
        ghc_done(&g);
        draft_destroy(d);
}

/* What a block says of the length of its group is believed where the group is there; the rest is found all the same. */
TEST(test_damaged_length)
{
        struct draft *d = draft_new(&draft_9_0);
        struct ghc g;
        struct error error;

        (void)draft_thread(d, 1, 8, NULL, 0);
        draft_finish(d);
        assert_true(ghc_find(&g, &d->program, &error));
        const uint64_t whole = snapshot_heap_bytes(&g);
        const uint64_t descriptor = draft_descriptor(d->block[1]);
        draft_u64(d, descriptor + 48, 1 << 24); /* blocks: 64 GiB */
        assert_true(snapshot_heap_bytes(&g) <= whole);
        ghc_done(&g);
        draft_destroy(d);
}

/* Words of every form; and a megablock with too many that have no short one stays as it was read. */
TEST(test_packed)
{
        struct draft *d = draft_new(&draft_9_0);
        const uint64_t array = draft_table(d, ARR_WORDS, 0, 0, NULL);
        const uint64_t words[] = { array, 6 * 8, 0, UINT32_MAX, DRAFT_HEAP + 8, UINT64_MAX, UINT64_C(1) << 63, array };
        uint64_t noise[512] = { 0 };
        struct taken t;

        (void)draft_object(d, 1, words, ARRAY_SIZE(words));
        const unsigned large = draft_group(d, 1, BLOCK_LARGE, 250);
        memset(noise, 0x5a, sizeof(noise));
        for (unsigned i = 0; i < 250; i++)
                (void)draft_append(d, large, noise, ARRAY_SIZE(noise));
        draft_put(d, draft_block_start(large), (uint64_t[]){ array, 250 * BLOCK_BYTES - 16 }, 16);
        count_closures(&t, d);
        assert_int_equal(band(&t, "ARR_WORDS (ByteArray#)").bytes, sizeof(words) + 250 * BLOCK_BYTES);
        assert_int_equal(compare_packed(&t), t.snapshot.n_megablocks - 1);
        done(&t, d);
}

/* A group that is not a megablock's first one ends with it, whatever its descriptor says. */
TEST(test_damaged_length_inside)
{
        struct draft *d = draft_new(&draft_9_0);
        const uint64_t con = draft_table(d, CONSTR, 1, 0, "p:M.C");
        struct taken t;

        (void)draft_object(d, 1, (uint64_t[]){ con, 8 }, 2);
        const unsigned second = draft_group(d, 1, 0, 1);
        (void)draft_append(d, second, (uint64_t[]){ con, 8 }, 2);
        draft_u64(d, draft_descriptor(second) + 8, draft_block_start(second) + (UINT64_C(4) << 30)); /* free */
        draft_u64(d, draft_descriptor(second) + 48, 1 << 20);                                        /* blocks */
        count_closures(&t, d);
        assert_int_equal(t.snapshot.lost_links, 1); /* of the list that begins with it */
        assert_true(t.census.rest.unused_bytes + t.census.rest.unknown_bytes < MEGABLOCK_BYTES);
        done(&t, d);
}

/* Links of blocks that lead nowhere, or round in a circle, end. */
TEST(test_damaged_links)
{
        struct draft *d = draft_new(&draft_9_0);
        const uint64_t con = draft_table(d, CONSTR, 1, 0, "p:M.C");
        struct taken t;

        (void)draft_object(d, 1, (uint64_t[]){ con, 8 }, 2);
        draft_u64(d, draft_descriptor(d->block[1]) + 16, draft_descriptor(d->block[1]));
        draft_u64(d, draft_generation(d, 0) + 32, DRAFT_HEAP + 0x123450);
        count_closures(&t, d);
        assert_int_equal(band(&t, "p:M.C").objects, 1);
        assert_int_equal(t.snapshot.lost_links, 1);
        done(&t, d);
}

static struct heap_band band_of(const struct heap_bands *b, const char *name)
{
        for (size_t i = 0; i < b->n; i++)
                if (!strcmp(b->items[i].name, name))
                        return b->items[i];
        return (struct heap_band){ .name = NULL };
}

enum { ON_MVAR = 1, IN_STM = 6, MANY = 2 * (int)THREAD_BANDS_LEAST, FEW = (int)THREAD_BANDS_LEAST - 1 };

/* Many that wait at two places of one function are a band, few are none; who runs or has ended is in none. */
TEST(test_threads_that_wait)
{
        static const struct draft_layout *const layouts[] = { &draft_9_0, &draft_9_6, &draft_9_10 };

        for (size_t k = 0; k < ARRAY_SIZE(layouts); k++) {
                struct draft *d = draft_new(layouts[k]);
                const unsigned shift = (layouts[k]->header - 1) * 8;
                const uint64_t block = draft_table(d, RET_SMALL, 0, 0, NULL),
                               wait = draft_table(d, RET_SMALL, 1, 0, NULL);
                const uint64_t again = draft_table(d, RET_SMALL, 1, 0, NULL),
                               other = draft_table(d, RET_SMALL, 0, 0, NULL);
                struct heap_bands all, split, beside;
                struct taken t;
                uint64_t threads;

                draft_symbol(d, block, 16, "stg_block_takemvar_info");
                draft_symbol(d, wait, again - wait + 16, "Main_waitForReply_info");
                draft_symbol(d, other, 16, "Main_serve_info");
                for (int i = 0; i < MANY; i++)
                        (void)draft_thread(d, ON_MVAR, 8, (uint64_t[]){ block, i % 2 ? wait : again, 8 }, 3);
                for (int i = 0; i < FEW; i++)
                        (void)draft_thread(d, IN_STM, 8, (uint64_t[]){ other }, 1);
                for (int i = 0; i < MANY; i++)
                        (void)draft_thread(d, 0, 8, (uint64_t[]){ other }, 1); /* runnable */
                for (int i = 0; i < MANY; i++)
                        draft_u16(d, draft_thread(d, IN_STM, 8, (uint64_t[]){ other }, 1) + shift + 32, 4); /* ended */
                count_closures(&t, d);
                assert_int_equal(t.census.n_threads, 3 * MANY + FEW + 1);
                assert_true(heap_bands_of(&all, &t.census, &t.ghc, true));
                assert_true(heap_bands_of(&split, &t.census, &t.ghc, true));
                assert_true(heap_bands_split_threads(&split, &t.census, &t.snapshot, &threads));
                const struct heap_band waiting = band_of(&split, "threads blocked on an MVar in Main.waitForReply");
                const uint64_t tso = band_of(&all, "TSO").bytes / (3 * MANY + FEW + 1);
                assert_int_equal(waiting.objects, 2 * MANY);
                assert_int_equal(waiting.threads, MANY);
                assert_int_equal(threads, 2 * MANY + FEW + 1); /* without those that have ended */
                assert_int_equal(waiting.bytes, MANY * (tso + (layouts[k]->header + 2 + 8 + 3 + 1) * 8));
                assert_int_equal(split.n, all.n + 1);
                assert_true(heap_bands_of_threads(&beside, &t.census, &t.snapshot, &threads));
                assert_true(beside.n == 1 && beside.items[0].threads == MANY && beside.items[0].bytes == waiting.bytes);
                assert_string_equal(beside.items[0].name, waiting.name);
                heap_bands_done(&beside);
                assert_int_equal(band_of(&split, "TSO").objects, 2 * MANY + FEW + 1);
                assert_int_equal(band_of(&split, "TSO").bytes, tso * (2 * MANY + FEW + 1));
                assert_int_equal(band_of(&split, "STACK").bytes + waiting.bytes - MANY * tso,
                                 band_of(&all, "STACK").bytes);
                for (size_t i = 1; i < split.n; i++)
                        assert_true(split.items[i - 1].bytes >= split.items[i].bytes);
                heap_bands_done(&all);
                heap_bands_done(&split);
                done(&t, d);
        }
}
