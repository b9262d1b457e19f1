/* SPDX-License-Identifier: BSD-3-Clause */
/* median.c against sorting. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/test.h"

#include "daemon/judge/trend/theil_sen.h"
#include "tests/unit/trend/random.h"

static int by_value(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

TEST(small_ones)
{
        double one[] = { 7 }, two[] = { 9, 4 }, three[] = { 3, 1, 2 }, equal[] = { 5, 5, 5, 5 };

        assert_true(isnan(median_of(NULL, 0)));
        assert_true(median_of(one, 1) == 7);
        assert_true(median_of(two, 2) == 6.5);
        assert_true(median_of(three, 3) == 2);
        assert_true(median_of(equal, 4) == 5);
}

TEST(like_sorting)
{
        struct random r = { 1 };
        double v[300];

        for (int round = 0; round < 20000; round++) {
                size_t n = 1 + random_below(&r, 300);
                unsigned kinds = 1 + random_below(&r, 400); /* few kinds: many equal values */

                for (size_t i = 0; i < n; i++)
                        v[i] = (double)random_below(&r, kinds) - 100;
                if (round % 3 == 0)
                        qsort(v, n, sizeof(*v), by_value); /* sorted input */
                double sorted[300];

                memcpy(sorted, v, n * sizeof(*v));
                qsort(sorted, n, sizeof(*sorted), by_value);
                double want = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
                assert_true(median_of(v, n) == want);
        }
}

TEST(infinities)
{
        double v[] = { INFINITY, -INFINITY, 3, INFINITY, 1 };

        assert_true(median_of(v, 5) == 3);
}
