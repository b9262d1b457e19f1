/* SPDX-License-Identifier: BSD-3-Clause */
/* A sample of a made-up heap of 16 MiB: how often its intervals have the truth in them, and what is exact. */
#include "tests/unit/test.h"

#define DRAFT_MEGABLOCKS 16u

#include "inspect/ghc/sample.h"
#include "proto/base/outside_census.h"
#include "proto/base/array.h"
#include "proto/base/hash.h"
#include "tests/unit/inspect/draft.h"

#define MEMORY  (UINT64_C(4) << 30)
#define SAMPLE  (UINT64_C(2) << 20)
#define OBJECTS 620000u
#define SEEDS   100u

static bool always(void *ctx)
{
        return true;
}

struct heap {
        struct draft *draft;
        struct ghc ghc;
        struct heap_bands truth;
        uint64_t pinned_blocks, pinned_bytes, pinned_first_bytes;
};

/*
 * Types that are everywhere, one that is in one stretch, one of which a few are in one of sixteen pieces, and arrays:
 * large ones, and some that are pinned.
 */
static void fill(struct draft *d)
{
        const uint64_t even = draft_table(d, CONSTR, 0, 2, "p:M.Even"),
                       spread = draft_table(d, CONSTR, 0, 1, "p:M.Spread");
        const uint64_t run = draft_table(d, CONSTR, 0, 4, "p:M.Run"), rare = draft_table(d, CONSTR, 0, 3, "p:M.Rare");
        const uint64_t bytes = draft_table(d, ARR_WORDS, 0, 0, NULL),
                       refs = draft_table(d, MUT_ARR_PTRS_CLEAN, 0, 0, NULL);
        uint64_t large[700] = { refs, 600, 697 }, words[5] = { 0 };

        for (uint32_t i = 0; i < OBJECTS; i++) {
                const bool is_run = i > OBJECTS * 3 / 10 && i < OBJECTS * 4 / 10;
                const bool is_rare = i % 34000 < 5;
                const unsigned chance = (unsigned)(hash_u64(i, 1) % 4);
                words[0] = is_rare ? rare : is_run && chance ? run : chance < 3 ? even : spread;
                (void)draft_object(d, 1, words, is_rare ? 4 : words[0] == run ? 5 : chance < 3 ? 3 : 2);
                if (i % 40000 == 7)
                        (void)draft_append(d, draft_group(d, 1, BLOCK_LARGE, 2), large, ARRAY_SIZE(large));
                if (i % 9000 == 8)
                        (void)draft_append(d, draft_group(d, 1, BLOCK_LARGE | BLOCK_PINNED, 1),
                                           (uint64_t[]){ bytes, 16, 1, 2, bytes, 8, 3 }, 7);
        }
}

static int prepare(void **state)
{
        static struct heap h;
        struct heap_census c = { .n = 0 };
        struct heap_snapshot s;
        struct error error = { "" };

        h.draft = draft_new(&draft_9_0);
        fill(h.draft);
        (void)draft_thread(h.draft, 1, 8, NULL, 0);
        draft_finish(h.draft);
        if (!ghc_find(&h.ghc, &h.draft->program, &error) || !snapshot_prepare(&s, &h.ghc, MEMORY, 5, &error) ||
            !snapshot_copy(&s, false, NULL, NULL, &error) || !snapshot_index(&s))
                fail_msg("%s", error.text);
        heap_census_count(&c, &s);
        assert_int_equal(c.rest.unknown_bytes, 0);
        assert_true(c.total_bytes > 13 << 20);
        assert_true(heap_bands_of(&h.truth, &c, &h.ghc, false));
        heap_bands_sort_by_name(&h.truth);
        h.pinned_blocks = c.pinned_blocks;
        h.pinned_bytes = c.pinned_bytes;
        h.pinned_first_bytes = c.pinned_first_bytes;
        heap_census_done(&c);
        snapshot_done(&s);
        *state = &h;
        return 0;
}

static int finish(void **state)
{
        struct heap *h = *state;

        heap_bands_done(&h->truth);
        ghc_done(&h->ghc);
        draft_destroy(h->draft);
        return 0;
}

struct taken {
        struct heap_sample sample;
        struct heap_census census;
        struct heap_bands bands;
};

static void count_sample(struct taken *t, struct heap *h, uint64_t seed, uint64_t sample_bytes)
{
        struct heap_snapshot s;
        struct error error = { "" };

        *t = (struct taken){ .sample = { .seed = seed } };
        if (!heap_sample_prepare(&t->sample, &s, &h->ghc, sample_bytes, MEMORY, &error) ||
            !snapshot_copy(&s, false, NULL, NULL, &error) || !heap_sample_copy(&t->sample, &s, NULL, NULL, &error) ||
            !snapshot_index(&s))
                fail_msg("%s", error.text);
        assert_true(heap_sample_count(&t->sample, &s, false, &t->census, &t->bands));
        assert_int_equal(t->census.rest.unknown_bytes, 0);
        heap_bands_sort_by_name(&t->bands);
        snapshot_done(&s);
}

static void done(struct taken *t)
{
        heap_bands_done(&t->bands);
        heap_census_done(&t->census);
        heap_sample_done(&t->sample);
}

/* How many of the intervals have the truth in them, and how far the estimates are from it on average. */
struct score {
        const char *name;
        unsigned least_of_100; /* so many of 100 must have it */
        unsigned covered, covered_objects;
        double sum;
};

static void add(struct score *s, const struct heap *h, const struct taken *t)
{
        const struct heap_band *truth = heap_bands_find(&h->truth, s->name), *b = heap_bands_find(&t->bands, s->name);

        assert_non_null(truth);
        if (!b)
                return;
        assert_true(b->low_bytes <= b->bytes && b->bytes <= b->high_bytes && b->high_objects >= b->objects);
        s->covered += b->low_bytes <= truth->bytes && truth->bytes <= b->high_bytes;
        s->covered_objects += b->low_objects <= truth->objects && truth->objects <= b->high_objects;
        s->sum += (double)b->bytes / (double)truth->bytes;
}

/* One number bounds the errors of all bands, and is no larger than the one that needs it most. */
static void check_spread(const struct taken *t)
{
        const double spread = heap_sample_spread(&t->sample, &t->bands);
        double total = 0, closest = 0;

        for (size_t i = 0; i < t->bands.n; i++)
                total += (double)t->bands.items[i].bytes;
        for (size_t i = 0; i < t->bands.n; i++) {
                const struct heap_band *b = &t->bands.items[i];
                const double margin = census_margin(spread, (double)b->bytes, total);
                assert_true((double)(b->high_bytes - b->bytes) <= margin * (1 + 1e-9));
                closest = fmax(closest, (double)(b->high_bytes - b->bytes) / margin);
        }
        assert_true(fabs(closest - 1) < 1e-9);
}

TEST_WITH(test_intervals, NULL, NULL)
{
        struct heap *h = *state;
        struct score scores[] = {
                { .name = "p:M.Even", .least_of_100 = 90 },
                { .name = "p:M.Spread", .least_of_100 = 90 },
                { .name = "p:M.Run", .least_of_100 = 85 },
                { .name = "p:M.Rare", .least_of_100 = 75 },
                { .name = "ARR_WORDS (ByteArray#)", .least_of_100 = 90 },
        };

        double pinned = 0, first = 0;

        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
                struct taken t;
                count_sample(&t, h, seed, SAMPLE);
                assert_int_equal(t.sample.n_chosen, 32);
                assert_int_equal(t.sample.n_pieces, 15 * 16); /* in use */
                for (size_t i = 0; i < ARRAY_SIZE(scores); i++)
                        add(&scores[i], h, &t);
                check_spread(&t);
                pinned += (double)t.census.pinned_bytes / (double)h->pinned_bytes / SEEDS;
                first += (double)t.census.pinned_first_bytes / (double)h->pinned_first_bytes / SEEDS;
                done(&t);
        }
        assert_true(fabs(pinned - 1) < 0.1 && fabs(first - 1) < 0.1);
        for (size_t i = 0; i < ARRAY_SIZE(scores); i++) {
                const struct score *s = &scores[i];
                print_message("%s: %u, %u of %u; mean %.3f\n", s->name, s->covered, s->covered_objects, SEEDS,
                              s->sum / SEEDS);
                assert_true(s->covered * 100 >= s->least_of_100 * SEEDS);
                assert_true(s->covered_objects * 100 >= s->least_of_100 * SEEDS);
                assert_true(s->sum / SEEDS > 0.9 && s->sum / SEEDS < 1.1);
        }
}

/* Large objects are counted one by one; the same seed gives the same; all pieces give the truth, with no interval. */
TEST_WITH(test_what_is_exact, NULL, NULL)
{
        struct heap *h = *state;
        struct taken a, b, all;

        count_sample(&a, h, 5, SAMPLE);
        count_sample(&b, h, 5, SAMPLE);
        count_sample(&all, h, 5, UINT64_C(16) << 20);
        assert_int_equal(all.sample.n_chosen, all.sample.n_pieces);
        assert_int_equal(heap_sample_may_miss(&all.sample), 0);
        assert_true(heap_sample_spread(&all.sample, &all.bands) == 0);
        assert_true(h->pinned_first_bytes > 0 && a.census.pinned_blocks == h->pinned_blocks);
        assert_true(all.census.pinned_blocks == h->pinned_blocks && all.census.pinned_bytes == h->pinned_bytes &&
                    all.census.pinned_first_bytes == h->pinned_first_bytes);
        assert_int_equal(a.bands.n, b.bands.n);
        assert_int_equal(all.bands.n, h->truth.n);
        for (size_t i = 0; i < a.bands.n; i++) {
                assert_string_equal(a.bands.items[i].name, b.bands.items[i].name);
                assert_int_equal(a.bands.items[i].bytes, b.bands.items[i].bytes);
                assert_int_equal(a.bands.items[i].high_bytes, b.bands.items[i].high_bytes);
        }
        for (size_t i = 0; i < all.bands.n; i++) {
                const struct heap_band *x = &all.bands.items[i], *truth = &h->truth.items[i];
                assert_string_equal(x->name, truth->name);
                assert_int_equal(x->bytes, truth->bytes);
                assert_int_equal(x->objects, truth->objects);
                assert_true(x->low_bytes == x->bytes && x->high_bytes == x->bytes);
        }
        const struct heap_band *large = heap_bands_find(&a.bands, "MUT_ARR_PTRS (Array#)");
        assert_int_equal(large->objects, (OBJECTS - 7 + 39999) / 40000);
        assert_int_equal(large->bytes, large->objects * 700 * 8);
        assert_true(large->low_bytes == large->bytes && large->high_bytes == large->bytes);
        done(&a);
        done(&b);
        done(&all);
}

/* Too little memory, and too little time, are said. */
TEST_WITH(test_refused, NULL, NULL)
{
        struct heap *h = *state;
        struct heap_sample x = { .seed = 1 };
        struct heap_snapshot s;
        struct error error = { "" };

        assert_false(heap_sample_prepare(&x, &s, &h->ghc, SAMPLE, UINT64_C(100) << 20, &error));
        assert_non_null(strstr(error.text, "--memory"));
        heap_sample_done(&x);
        assert_true(heap_sample_prepare(&x, &s, &h->ghc, SAMPLE, MEMORY, &error));
        assert_true(snapshot_copy(&s, false, NULL, NULL, &error));
        assert_false(heap_sample_copy(&x, &s, always, NULL, &error));
        assert_non_null(strstr(error.text, "--max-pause"));
        assert_true(s.expired);
        snapshot_done(&s);
        heap_sample_done(&x);
}

TEST_GROUP(prepare, finish)
