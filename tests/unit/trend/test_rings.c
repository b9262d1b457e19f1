/* SPDX-License-Identifier: BSD-3-Clause */
/* rings.c: cells stay where they belong while rings grow in any order; a trend without memory. */
#include <math.h>
#include <string.h>
#include "tests/unit/test.h"

#include "daemon/judge/trend/trend.h"
#include "tests/unit/base/short_memory.h"
#include "tests/unit/trend/random.h"

#define MIN  UINT64_C(60000000000)
#define MOST 12u

static const struct rings_shape shape = {
        .n = 3, .most = MOST, .grain = 4, .fill = 0xff, .size = { sizeof(double), sizeof(double), sizeof(float) }
};

static void write_cell(void *cell, unsigned ring, unsigned place)
{
        if (shape.size[ring] == sizeof(double))
                *(double *)cell = ring * 100 + place;
        else
                *(float *)cell = (float)(ring * 100 + place);
}

static double read_cell(const void *cell, unsigned ring)
{
        return shape.size[ring] == sizeof(double) ? *(const double *)cell : (double)*(const float *)cell;
}

/* Cells hold what was written, others with memory are NaN, and no ring is longer than it must be. */
static void check(const struct rings *r, bool written[3][MOST])
{
        size_t held = 0;

        assert_true(rings_are_sound(&shape, r));
        for (unsigned ring = 0; ring < shape.n; ring++) {
                unsigned last = 0;

                for (unsigned place = 0; place < MOST; place++) {
                        const void *cell = rings_at(&shape, r, ring, place);
                        assert_true(cell || !written[ring][place]);
                        if (written[ring][place])
                                assert_true(read_cell(cell, ring) == ring * 100 + place);
                        else if (cell)
                                assert_true(isnan(read_cell(cell, ring)));
                        last = written[ring][place] ? place + 1 : last;
                }
                assert_int_equal(rings_room(&shape, r, ring), (last + 3) / 4 * 4);
                held += (size_t)rings_room(&shape, r, ring) * shape.size[ring];
        }
        assert_int_equal(rings_held(r), held);
}

TEST(grow_in_any_order)
{
        for (uint64_t seed = 1; seed < 200; seed++) {
                struct random random = { seed };
                struct rings r = { .cells = NULL };
                bool written[3][MOST] = { { false } };

                check(&r, written);
                for (unsigned k = 0; k < 30; k++) {
                        unsigned ring = random_below(&random, 3), place = random_below(&random, MOST);
                        void *cell = rings_reach(&shape, &r, ring, place);

                        assert_non_null(cell);
                        write_cell(cell, ring, place);
                        written[ring][place] = true;
                        check(&r, written);
                }
                rings_done(&r);
                assert_int_equal(rings_held(&r), 0);
        }
}

/* Ends from a file. */
TEST(unsound)
{
        struct rings r = { .cells = NULL };

        assert_true(rings_are_sound(&shape, &r));
        for (unsigned i = 0; i < RINGS_MAX; i++)
                r.ends[i] = 96;
        assert_true(rings_are_sound(&shape, &r)); /* the first ring is full */
        r.ends[2] = 95;
        assert_false(rings_are_sound(&shape, &r)); /* before it begins */
        r.ends[2] = 98;
        assert_false(rings_are_sound(&shape, &r)); /* half a cell */
        r.ends[2] = 100;
        assert_false(rings_are_sound(&shape, &r)); /* the next one ends before */
        for (unsigned i = 3; i < RINGS_MAX; i++)
                r.ends[i] = 100;
        assert_true(rings_are_sound(&shape, &r));
        r.ends[RINGS_MAX - 1] = 104;
        assert_false(rings_are_sound(&shape, &r)); /* a ring that there is none of */
        for (unsigned i = 0; i < RINGS_MAX; i++)
                r.ends[i] = 104;
        assert_false(rings_are_sound(&shape, &r)); /* too long */
}

/* Whichever allocation fails, alone or with all after it: some answer, nothing leaks, and memory may come back. */
TEST(without_memory)
{
        const struct trend_config config = trend_config_scaled(MIN);
        struct trend_result r;
        struct trend t;
        unsigned long n = 1;

        for (unsigned after = 0; after < 2; after++) {
                for (unsigned long fail = 0; fail <= n; fail++) {
                        trend_init(&t, &config);
                        calls = 0;
                        fail_at = fail;
                        ever_after = after;
                        counting = true;
                        for (unsigned m = 0; m < 700; m++)
                                (void)trend_push(&t, m * MIN, 1e9 + 1e6 * m);
                        counting = false;
                        n = fail ? n : calls;
                        trend_result(&t, &r);
                        assert_int_equal(trend_closed_minutes(&t), 699);
                        assert_true(fail || r.verdict == TREND_LEAK);
                        assert_true(fail != 1 || !after || r.verdict == TREND_UNKNOWN || r.verdict == TREND_STEADY);
                        for (unsigned m = 700; m < 1400; m++)
                                (void)trend_push(&t, m * MIN, 1e9 + 1e6 * m);
                        trend_result(&t, &r);
                        assert_int_equal(r.verdict, TREND_LEAK);
                        trend_done(&t);
                }
                assert_true(n > 20);
        }
}
