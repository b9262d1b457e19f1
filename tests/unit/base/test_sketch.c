/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells of quantile sketches of every precision, and quantiles against a sorted list of the same values. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/test.h"

#include "proto/base/sketch.h"

static uint64_t random_state = 42;

/* Of any magnitude. */
static uint64_t random_value(void)
{
        random_state = random_state * UINT64_C(6364136223846793005) + 1;
        return (random_state ^ random_state >> 31) >> (random_state >> 33) % 64;
}

TEST(test_cells_tile_the_line)
{
        for (unsigned bits = 0; bits <= 12; bits++) {
                uint64_t next = 0, share = UINT64_C(1) << bits;
                for (unsigned cell = 0; cell < SKETCH_CELLS(bits, 64); cell++) {
                        uint64_t width = sketch_width(bits, cell);
                        assert_int_equal(sketch_low(bits, cell), next);
                        assert_int_equal(sketch_cell(bits, next), cell);
                        assert_int_equal(sketch_cell(bits, next + (width - 1)), cell);
                        assert_true(width == 1 || width <= next / share);
                        next += width;
                }
                assert_int_equal(next, 0); /* 2^64 */
        }
}

/* The formula of the header, with the logarithm computed in another way. */
TEST(test_cells_are_the_formula)
{
        for (uint64_t v = 1; v < UINT64_C(1) << 61; v = v * 3 / 2 + 1) {
                unsigned e = 0;
                while (v >> e > 1)
                        e++;
                for (unsigned bits = 1; bits < 12; bits++)
                        assert_int_equal(sketch_cell(bits, v),
                                         v < 1u << bits ? v : (uint64_t)(e - bits) * (1u << bits) + (v >> (e - bits)));
        }
}

/* The same table as the page's test. */
TEST(test_cells_are_those_of_the_page)
{
        FILE *f = fopen("client/page/test/sketch_cells.json", "r");
        unsigned long long cell, low, width;
        unsigned rows = 0;

        assert_non_null(f);
        assert_int_equal(fscanf(f, " [ "), 0);
        while (fscanf(f, " [ %llu , %llu , %llu ] ,", &cell, &low, &width) == 3) {
                assert_int_equal(sketch_low(5, (unsigned)cell), low);
                assert_int_equal(sketch_width(5, (unsigned)cell), width);
                rows++;
        }
        assert_int_equal(rows, 42);
        fclose(f);
}

TEST(test_real_cells)
{
        for (int i = 0; i < 100000; i++) {
                double v = ldexp(1 + (double)(random_value() % 1000000) / 1e6, (int)(random_value() % 64));
                for (unsigned bits = 1; bits <= 10; bits += 3) {
                        unsigned cell = sketch_real_cell(bits, v);
                        double low = sketch_real_low(bits, cell), high = sketch_real_low(bits, cell + 1);
                        /* single precision may round up to the next cell */
                        assert_true(low <= v * (1 + 1e-7) && v < high && (high - low) * (1u << bits) <= low);
                        assert_int_equal(sketch_real_cell(bits - 1, v), cell / 2);
                }
        }
        for (uint64_t v = 1 << 10; v < 1 << 20; v++) /* whole numbers: only the number of the first cell differs */
                assert_int_equal(sketch_real_cell(10, (double)v), sketch_cell(10, v) + 9 * 1024);
}

static int by_value(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
        return (x > y) - (x < y);
}

/* Two sketches, read together. */
static void quantiles(unsigned bits, unsigned n)
{
        static uint64_t values[3000], counts[SKETCH_CELLS(8, 64)];
        struct sketch s[2] = { { 0 } };
        struct sketch_sum sum = { .counts = counts, .n_cells = SKETCH_CELLS(bits, 64) };
        size_t held = 0;

        memset(counts, 0, sizeof(counts));
        assert_true(isnan(sketch_sum_quantile(&sum, bits, 0.5)));
        for (unsigned i = 0; i < n; i++) {
                values[i] = i % 3 ? random_value() : values[i ? i - 1 : 0];
                held += sketch_add(&s[i % 5 == 0], (uint16_t)sketch_cell(bits, values[i]));
        }
        assert_int_equal(held, (size_t)(s[0].room + s[1].room) * sizeof(struct sketch_count));
        sketch_sum_add(&sum, &s[0]);
        sketch_sum_add(&sum, &s[1]);
        assert_int_equal(sum.n, n);
        qsort(values, n, sizeof(values[0]), by_value);
        for (int q = 0; q <= 100; q++) {
                size_t rank = ((size_t)q * n + 99) / 100;
                double want = (double)values[rank ? rank - 1 : 0], got = sketch_sum_quantile(&sum, bits, q / 100.0);
                if (!(fabs(got - want) <= want / (2 << bits)))
                        fail_msg("bits %u, q %d of %u: %.17g, want %.17g", bits, q, n, got, want);
        }
        assert_true(isnan(sketch_sum_quantile(&sum, bits, 1.1)) && isnan(sketch_sum_quantile(&sum, bits, (double)NAN)));
        s[1].lost = true;
        sketch_sum_add(&sum, &s[1]);
        assert_true(isnan(sketch_sum_quantile(&sum, bits, 0.5))); /* a lost value may have been the answer */
        sketch_clear(&s[0]);
        assert_true(s[0].n == 0 && !s[0].lost);
        sketch_done(&s[0]);
        sketch_done(&s[1]);
}

TEST(test_quantiles_are_within_half_a_cell)
{
        for (unsigned bits = 0; bits <= 8; bits++)
                for (unsigned n = 1; n <= 3000; n = n * 3 + 1)
                        quantiles(bits, n);
}
