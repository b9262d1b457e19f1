/* SPDX-License-Identifier: BSD-3-Clause */
/* When what roots reach is live data, and what contradicts it. */
#include "tests/unit/test.h"

#include "inspect/ghc/reach.h"

#define MIB (UINT64_C(1) << 20)

/* Before the first major collection. */
static struct reach_result result(uint64_t least_mib, uint64_t most_mib)
{
        return (struct reach_result){ .least_bytes = least_mib * MIB,
                                      .most_bytes = most_mib * MIB,
                                      .held_bytes = 200 * MIB,
                                      .nursery_bytes = MIB };
}

static bool is_known(uint64_t least_mib, uint64_t most_mib)
{
        const struct reach_result l = result(least_mib, most_mib);
        struct reached r = { .is_known = false };

        const bool known = reached_add(&r, &l);
        assert_int_equal(known, r.is_known);
        return known;
}

TEST(test_little_doubt)
{
        assert_true(is_known(100, 100));
        assert_true(is_known(91, 100));
        assert_false(is_known(89, 100));
        assert_false(is_known(1, 100)); /* a root that had just been moved */
        assert_false(is_known(0, 0));
        assert_false(is_known(101, 100));
}

/* What a major collection leaves after a look at 100 MiB; 250 were held just before. */
static bool agrees(uint32_t nth, uint64_t left_mib)
{
        const struct reach_result l = result(100, 100);
        struct reached r = { .is_known = false };

        assert_true(reached_add(&r, &l));
        const bool good = reached_compare(&r, nth, left_mib * MIB, 250 * MIB);
        assert_false(r.is_known);
        assert_int_equal(good, reached_add(&r, &l)); /* once wrong, always wrong */
        return good;
}

TEST(test_a_collection_contradicts)
{
        assert_true(agrees(1, 10));   /* it may have died since */
        assert_true(agrees(1, 150));  /* or come */
        assert_false(agrees(1, 170)); /* but no more than that */
        assert_true(agrees(2, 170));  /* another collection was between them */
}

TEST(test_nothing_to_contradict)
{
        struct reached r = { .is_known = false };

        assert_true(reached_compare(&r, 1, 170 * MIB, 250 * MIB));
        assert_false(r.is_wrong);
}
