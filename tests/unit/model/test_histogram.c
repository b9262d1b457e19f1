/* SPDX-License-Identifier: BSD-3-Clause */
/* The histogram against a sorted list of the same values. */
#include <stdlib.h>

#include "tests/unit/test.h"

#include "daemon/model/gc.h"

static int by_value(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
        return (x > y) - (x < y);
}

TEST(test_quantiles_are_within_a_32nd)
{
        static uint64_t values[5000];
        static struct histogram h;
        uint64_t x = 42;

        assert_int_equal(histogram_quantile(&h, 0.5), 0);
        for (size_t n = 1; n <= 5000; n++) {
                x = x * UINT64_C(6364136223846793005) + 1;
                values[n - 1] = (x >> 23) >> (x >> 33) % 40;
                histogram_add(&h, values[n - 1]);
                if (n % 617 && n > 3)
                        continue;
                uint64_t sorted[5000];
                for (size_t i = 0; i < n; i++)
                        sorted[i] = values[i];
                qsort(sorted, n, sizeof(sorted[0]), by_value);
                for (int q = 0; q <= 1000; q++) {
                        size_t rank = ((size_t)q * n + 999) / 1000; /* ceil */
                        uint64_t want = sorted[rank ? rank - 1 : 0], got = histogram_quantile(&h, q / 1000.0);
                        if (got < want || got - want > want / 32)
                                fail_msg("q %d of %zu: %llu, want %llu", q, n, (unsigned long long)got,
                                         (unsigned long long)want);
                }
                assert_int_equal(h.max, sorted[n - 1]);
                assert_int_equal(histogram_quantile(&h, 1), sorted[n - 1]);
        }
        assert_int_equal(h.count, 5000);
        histogram_add(&h, UINT64_MAX);
        assert_int_equal(histogram_quantile(&h, 1), UINT64_MAX);
        assert_int_equal(h.cells.counts[h.cells.n - 1].cell, HISTOGRAM_CELLS - 1);
        assert_int_equal(h.cells.counts[h.cells.n - 1].count, 1);
        histogram_done(&h);
        assert_int_equal(histogram_quantile(&h, 0.5), 0);
}

/* Without memory for a cell the count and the maximum are true, and quantiles are not known. */
TEST(test_what_is_lost_is_not_known)
{
        struct histogram h = { 0 };

        histogram_add(&h, 1000);
        assert_true(histogram_is_known(&h));
        h.cells.lost = true; /* as sketch_add leaves it */
        histogram_add(&h, 7000);
        assert_true(h.count == 2 && h.max == 7000 && !histogram_is_known(&h));
        assert_int_equal(histogram_quantile(&h, 1), 0);
        histogram_done(&h);
}
