/* SPDX-License-Identifier: BSD-3-Clause */
/* Censuses as columns, and statistics against hand-computed values (eventlog2html's definition, see docs/WEB.md). */
#include <math.h>
#include <string.h>
#include "tests/unit/test.h"

#include "client/world/history/history.h"

#define S UINT64_C(1000000000)

/* One census of up to three bands; 0 bytes: no row. */
static void census(struct grid *g, uint64_t number, uint64_t time_ns, uint64_t a, uint64_t b, uint64_t c)
{
        uint64_t values[3] = { a, b, c }, bytes[3];
        uint32_t ids[3];
        Hw__Census m = HW__CENSUS__INIT;

        SET(m, number, number);
        SET(m, time_ns, time_ns);
        m.band = ids;
        m.bytes = bytes;
        for (uint32_t i = 0; i < 3; i++) {
                if (!values[i])
                        continue;
                ids[m.n_band++] = i + 1;
                bytes[m.n_bytes++] = values[i];
        }
        assert_int_equal(grid_add(g, &m), 0);
}

static void near(double got, double want)
{
        if (fabs(got - want) > 1e-9 * (1 + fabs(want)))
                fail_msg("got %.12g, expected %.12g", got, want);
}

/* Times 1 2 3 4 s; band 1: 10 20 30 40; band 2: - 6 - 2; band 3: 5 5 5 5. */
TEST(statistics_by_hand)
{
        struct grid g = { .columns.max = 100, .max_cells = 1000 };
        struct stats_line line;
        struct band_stats s;

        census(&g, 1, 1 * S, 10, 0, 5);
        census(&g, 2, 2 * S, 20, 6, 5);
        census(&g, 3, 3 * S, 30, 0, 5);
        census(&g, 4, 4 * S, 40, 2, 5);

        s = grid_stats(&g, grid_band(&g, 1));
        near(stats_sum(&s), 100);
        near(s.integrated, 100); /* 10 + 20 + 30, and 40 held for one more second */
        near(stats_mean(&s, g.censuses), 25);
        near(stats_deviation(&s, g.censuses), sqrt(125)); /* sqrt(4 * 3000 - 100^2) / 4 */
        assert_true(stats_line(&s, &line));
        near(line.slope, 1); /* v / 40 = t / 4 */
        near(line.intercept, 0);
        near(line.fit, 1);
        near(line.slope_bps, 10);
        near(line.intercept_bytes, 0);

        s = grid_stats(&g, grid_band(&g, 2));
        near(stats_sum(&s), 8);
        near(s.integrated, 8);
        near(stats_mean(&s, g.censuses), 2);
        near(stats_deviation(&s, g.censuses), sqrt(4 * 40 - 64) / 4);
        assert_true(stats_line(&s, &line)); /* (2/4, 6/6) and (4/4, 2/6) */
        near(line.slope, (2.0 / 6 - 1) / 0.5);
        near(line.intercept, 1 - 0.5 * line.slope);
        near(line.fit, 1);

        s = grid_stats(&g, grid_band(&g, 3));
        near(stats_deviation(&s, g.censuses), 0);
        assert_false(stats_line(&s, &line)); /* all equal: there is no fit */
        grid_clear(&g);
}

/* Large values far from zero: a sum of squares would have lost all digits. */
TEST(digits_are_kept)
{
        struct grid g = { .columns.max = 100, .max_cells = 1000 };

        for (uint64_t i = 1; i <= 1000; i++)
                census(&g, i, i * S, UINT64_C(4000000000000000) + i % 2, 0, 0);
        struct band_stats s = grid_stats(&g, grid_band(&g, 1));
        near(stats_deviation(&s, g.censuses), 0.5);
        grid_clear(&g);
}

/* Thinning changes neither statistics nor extremes nor the weighted mean. */
TEST(thinning_keeps_what_counts)
{
        struct grid fine = { .columns.max = 4096, .max_cells = 100000 };
        struct grid coarse = { .columns.max = 32, .max_cells = 100000 };
        struct grid fading = { .columns.max = 32, .max_cells = 100000, .columns.fades = true };
        struct grid *grids[] = { &fine, &coarse, &fading };

        for (size_t k = 0; k < 3; k++) {
                struct grid *g = grids[k];
                struct past p = { 0 };
                double sum = 0, max = 0;

                for (uint64_t i = 1; i <= 1000; i++)
                        census(g, i, i * S, i, i % 7 == 3 ? 100 + i : 0, i > 900 ? 1 : 0);
                assert_true(g->columns.n <= g->columns.max);
                assert_int_equal(g->thinned, k > 0);
                struct band_stats s = grid_stats(g, grid_band(g, 2));
                near(stats_sum(&s), stats_sum(&fine.bands[1].stats));
                assert_int_equal(grid_points(g, grid_band(g, 2), &p), 0);
                for (size_t i = 0; i < p.n; i++) {
                        sum += p.points[i].cell.mean * (double)p.points[i].cell.n;
                        max = p.points[i].cell.max > max ? p.points[i].cell.max : max;
                }
                near(sum, stats_sum(&s));
                near(max, 100 + 997);
                past_done(&p);
                assert_true(grid_band(g, 3)->first > 0); /* a band that came late has no cells before it came */
        }
        /* recent columns of the fading one are single censuses */
        assert_int_equal(fading.columns.points[fading.columns.n - 1].cell.n, 1);
        assert_true(fading.columns.points[0].cell.n > coarse.columns.points[0].cell.n);
        for (size_t i = 1; i < fading.columns.n; i++) /* as coarse as it is old */
                assert_true(fading.columns.points[i].cell.n <= fading.columns.points[i - 1].cell.n);
        assert_true(fading.columns.points[0].cell.n < 400);
        for (size_t i = 1; i + 1 < coarse.columns.n; i++)
                assert_int_equal(coarse.columns.points[i].cell.n, coarse.columns.points[0].cell.n);
        for (size_t k = 0; k < 3; k++)
                grid_clear(grids[k]);
}

TEST(cells_are_bounded)
{
        struct grid g = { .columns.max = 4096, .max_cells = 300 };

        for (uint64_t i = 1; i <= 5000; i++)
                census(&g, i, i * S, i, i, i);
        assert_true(g.cells <= 303);
        assert_int_equal(g.censuses, 5000);
        grid_clear(&g);
}

TEST(odd_censuses)
{
        struct grid g = { .columns.max = 100, .max_cells = 1000 };
        uint32_t ids[] = { 1, 1, 0, 4000000000u };
        uint64_t bytes[] = { 3, 4, 9, 9 };
        Hw__Census m = HW__CENSUS__INIT;

        SET(m, number, 5);
        SET(m, time_ns, 5 * S);
        SET_LIST(m, band, ids, 4);
        SET_LIST(m, bytes, bytes, 4);
        assert_int_equal(grid_add(&g, &m), 0);
        near(grid_band(&g, 1)->bytes, 7); /* named twice: both count, once */
        assert_int_equal(grid_band(&g, 1)->stats.rows.cell.n, 1);
        near(grid_band(&g, 0)->bytes, 25); /* no total was sent: all rows */
        assert_null(grid_band(&g, 4000000000u));
        assert_int_equal(grid_add(&g, &m), 0); /* the same again */
        assert_int_equal(g.censuses, 1);
        m.number = 6;
        m.time_ns = 4 * S; /* back in time */
        assert_int_equal(grid_add(&g, &m), 0);
        m.time_ns = 6 * S;
        m.has_unfinished = m.unfinished = 1; /* cut by the log's end */
        assert_int_equal(grid_add(&g, &m), 0);
        assert_int_equal(g.censuses, 1);
        grid_clear(&g);
}
