/* SPDX-License-Identifier: BSD-3-Clause */
/* shape.c: blocks, increments, clipping, holes. */
#include <math.h>
#include "tests/unit/test.h"

#include "daemon/judge/trend/life.h"

TEST(blocks_of_three)
{
        const double p[18] = { 1, 900, 2, 4, 3, 5, 6, 6, 6, 0, 9, 10, 12, 11, 13, 15, 14, 16 };
        const double want[] = { 2, 2, 3, 3, 3 }; /* medians 2 4 6 9 12 15 */
        struct increments inc;

        increments_of_blocks(p, 18, 6, &inc);
        assert_int_equal(inc.n, 5);
        assert_int_equal(inc.filled, 5);
        for (unsigned i = 0; i < 5; i++)
                assert_true(inc.d[i] == want[i]);
}

TEST(uneven_blocks)
{
        /* 12 places in 8 blocks: 1 2 1 2 1 2 1 2 places */
        const double p[12] = { 0, 10, 12, 20, 30, 32, 40, 50, 52, 60, 70, 72 };
        const double want[] = { 11, 9, 11, 9, 11, 9, 11 };
        struct increments inc;

        increments_of_blocks(p, 12, 8, &inc);
        assert_int_equal(inc.n, 7);
        for (unsigned i = 0; i < 7; i++)
                assert_true(inc.d[i] == want[i]);
}

TEST(one_step_is_clipped)
{
        double p[24];
        struct increments inc;

        for (unsigned i = 0; i < 24; i++)
                p[i] = 10.0 * (i / 3) + (i >= 12 ? 1e6 : 0);
        increments_of_blocks(p, 24, 8, &inc);
        for (unsigned i = 0; i < 7; i++)
                assert_true(inc.d[i] == (i == 3 ? 20 : 10));
        for (unsigned i = 0; i < 24; i++)
                p[i] = 10.0 * (i / 3) - (i >= 12 ? 1e6 : 0);
        increments_of_blocks(p, 24, 8, &inc);
        assert_true(inc.d[3] == -20);
}

TEST(holes)
{
        double p[18];
        struct increments inc;
        unsigned filled;

        for (unsigned i = 0; i < 18; i++)
                p[i] = i / 3 == 1 ? NAN : 10.0 * (i / 3);
        increments_of_blocks(p, 18, 6, &inc);
        assert_int_equal(inc.filled, 3);
        assert_true(isnan(inc.d[0]) && isnan(inc.d[1]));
        assert_true(increments_sum(&inc, 0, 2, &filled) == 0);
        assert_int_equal(filled, 0);
        assert_true(increments_sum(&inc, 1, 5, &filled) == 30);
        assert_int_equal(filled, 3);
}

TEST(all_equal_and_empty)
{
        double p[18];
        struct increments inc;

        for (unsigned i = 0; i < 18; i++)
                p[i] = 7;
        increments_of_blocks(p, 18, 6, &inc);
        assert_true(inc.filled == 5 && increments_sum(&inc, 0, 5, NULL) == 0);
        for (unsigned i = 0; i < 18; i++)
                p[i] = NAN;
        increments_of_blocks(p, 18, 6, &inc);
        assert_int_equal(inc.filled, 0);
        assert_true(increments_sum(&inc, 0, 5, NULL) == 0);
}
