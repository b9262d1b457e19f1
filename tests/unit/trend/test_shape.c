/* SPDX-License-Identifier: BSD-3-Clause */
/* shape.c: blocks, increments, clipping, holes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "daemon/judge/trend/life.h"

static void blocks_of_three(void **state)
{
        const double p[18] = { 1, 900, 2, 4, 3, 5, 6, 6, 6, 0, 9, 10, 12, 11, 13, 15, 14, 16 };
        const double want[] = { 2, 2, 3, 3, 3 }; /* medians 2 4 6 9 12 15 */
        struct increments inc;

        (void)state;
        increments_of_blocks(p, 18, 6, &inc);
        assert_int_equal(inc.n, 5);
        assert_int_equal(inc.filled, 5);
        for (unsigned i = 0; i < 5; i++)
                assert_true(inc.d[i] == want[i]);
}

static void uneven_blocks(void **state)
{
        /* 12 places in 8 blocks: 1 2 1 2 1 2 1 2 places */
        const double p[12] = { 0, 10, 12, 20, 30, 32, 40, 50, 52, 60, 70, 72 };
        const double want[] = { 11, 9, 11, 9, 11, 9, 11 };
        struct increments inc;

        (void)state;
        increments_of_blocks(p, 12, 8, &inc);
        assert_int_equal(inc.n, 7);
        for (unsigned i = 0; i < 7; i++)
                assert_true(inc.d[i] == want[i]);
}

static void one_step_is_clipped(void **state)
{
        double p[24];
        struct increments inc;

        (void)state;
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

static void holes(void **state)
{
        double p[18];
        struct increments inc;
        unsigned filled;

        (void)state;
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

static void all_equal_and_empty(void **state)
{
        double p[18];
        struct increments inc;

        (void)state;
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

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(blocks_of_three),     cmocka_unit_test(uneven_blocks),
                cmocka_unit_test(one_step_is_clipped), cmocka_unit_test(holes),
                cmocka_unit_test(all_equal_and_empty),
        };

        return cmocka_run_group_tests_name("shape", tests, NULL, NULL);
}
