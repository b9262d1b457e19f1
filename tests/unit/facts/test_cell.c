/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells against all of their samples, however these are split; and what is left of them when they are packed. */
#include <math.h>

#include "tests/unit/test.h"

#include "proto/facts/pyramid.h"

#define SECOND  UINT64_C(1000000000)
#define BITS_24 (1.0 / (1 << 23)) /* of the distances that packed cells keep, when two are added */
static uint64_t state;

static uint64_t random_u64(void)
{
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        return state >> 11 ^ state << 21;
}

static void near(double got, double want, double scale)
{
        if (!(fabs(got - want) <= 1e-9 * scale))
                fail_msg("%.17g, expected %.17g", got, want);
}

/* Samples of 20 GB with noise, out of order: put into parts at random, some of which stay empty, and merged. */
TEST(test_merge)
{
        enum { SAMPLES = 500, PARTS = 7 };

        state = 11;
        for (unsigned round = 0; round < 200; round++) {
                struct trend_cell parts[PARTS] = { 0 }, all = { .cell.n = 0 };
                struct cell plain[PARTS] = { 0 }, plain_all = { .n = 0 };
                uint64_t last_ns = 0, n = 1 + random_u64() % SAMPLES;
                double t[SAMPLES], v[SAMPLES], last = 0, t_sum = 0, v_sum = 0, tt = 0, tv = 0, vv = 0, low = INFINITY;

                for (unsigned i = 0; i < n; i++) {
                        uint64_t time_ns = 86400 * SECOND + random_u64() % (3600 * SECOND),
                                 part = random_u64() % 9 % PARTS;
                        t[i] = (double)time_ns / 1e9;
                        v[i] = 20e9 + (double)(random_u64() % 1000000);
                        trend_cell_add(&parts[part], time_ns, v[i]);
                        cell_add(&plain[part], time_ns, v[i]);
                        t_sum += t[i];
                        v_sum += v[i];
                        low = fmin(low, v[i]);
                        if (time_ns >= last_ns) {
                                last_ns = time_ns;
                                last = v[i];
                        }
                }
                for (unsigned i = 0; i < PARTS; i++) {
                        trend_cell_merge(&all, &parts[i]);
                        cell_merge(&plain_all, &plain[i]);
                }
                double t_mean = t_sum / (double)n, v_mean = v_sum / (double)n;
                for (unsigned i = 0; i < n; i++) {
                        tt += (t[i] - t_mean) * (t[i] - t_mean);
                        tv += (t[i] - t_mean) * (v[i] - v_mean);
                        vv += (v[i] - v_mean) * (v[i] - v_mean);
                }
                assert_int_equal(all.cell.n, n);
                assert_true(all.cell.min == low && all.cell.last == last && all.cell.last_ns == last_ns);
                near(all.cell.mean, v_mean, v_mean);
                near(all.t_mean, t_mean, t_mean);
                near(all.m_tt, tt, tt + 1);
                near(all.m_vv, vv, vv + 1);
                near(all.m_tv, tv, 100 * sqrt(tt * vv) + 1);
                assert_true(plain_all.n == n && plain_all.min == all.cell.min && plain_all.max == all.cell.max &&
                            plain_all.last == last && plain_all.last_ns == last_ns);
                near(plain_all.mean, v_mean, v_mean);
        }
}

TEST(test_line)
{
        struct trend_cell c = { .cell.n = 0 };

        assert_true(isnan(trend_cell_slope(&c)) && isnan(trend_cell_fit(&c)) && isnan(trend_cell_deviation(&c)));
        trend_cell_add(&c, SECOND, 5);
        assert_true(isnan(trend_cell_slope(&c)) && isnan(trend_cell_deviation(&c)));
        trend_cell_add(&c, SECOND, 7); /* two at one time: a deviation, no line */
        assert_true(isnan(trend_cell_slope(&c)) && isnan(trend_cell_fit(&c)));
        near(trend_cell_deviation(&c), sqrt(2), 1);
        any_cell_reset(&c);
        for (uint64_t i = 0; i < 10; i++)
                trend_cell_add(&c, i * SECOND, 20e9);
        assert_true(trend_cell_slope(&c) == 0 && isnan(trend_cell_fit(&c)));
        any_cell_reset(&c);
        for (uint64_t i = 0; i < 10; i++)
                trend_cell_add(&c, i * SECOND, 20e9 + 3 * (double)i);
        near(trend_cell_slope(&c), 3, 3);
        near(trend_cell_fit(&c), 1, 1);
}

static struct trend_cell through(struct trend_cell c, uint64_t start_ns, uint64_t width_ns)
{
        struct packed_cell packed;
        struct trend_cell back;

        bool single = any_packed_cell_pack(&packed, &c, start_ns, width_ns);
        assert_true(single == (c.cell.n == 1));
        any_packed_cell_unpack(&back, &packed, single, start_ns, width_ns);
        return back;
}

/* A cell of one sample loses nothing but what its time has below the unit of a wide interval. */
TEST(test_packing_of_one_sample)
{
        static const uint64_t widths_ns[] = { SECOND, 10 * SECOND, 60 * SECOND, 600 * SECOND };

        state = 5;
        for (unsigned i = 0; i < 1000; i++) {
                uint64_t width_ns = widths_ns[i % 4], start_ns = random_u64() % (1u << 30) * width_ns;
                struct trend_cell c = { .cell.n = 0 };
                trend_cell_add(&c, start_ns + random_u64() % width_ns, (double)random_u64() / 3);
                struct trend_cell back = through(c, start_ns, width_ns);
                assert_int_equal(back.cell.n, 1);
                assert_true(back.cell.min == c.cell.last && back.cell.max == c.cell.last &&
                            back.cell.last == c.cell.last);
                assert_true(back.cell.mean == c.cell.last);
                assert_true(back.m_tt == 0 && back.m_tv == 0 && back.m_vv == 0);
                assert_true(c.cell.last_ns - back.cell.last_ns <= (width_ns <= SECOND ? 0 : width_ns >> 31));
                assert_true(fabs(back.t_mean * 1e9 / (double)back.cell.last_ns - 1) < 1e-15);
        }
}

/* What a packed cell loses, for intervals of all widths: nothing of whole values near each other. */
TEST(test_packing)
{
        static const uint64_t widths_ns[] = { SECOND, 10 * SECOND, 60 * SECOND, 600 * SECOND };

        state = 3;
        for (unsigned i = 0; i < 4000; i++) {
                uint64_t width_ns = widths_ns[i % 4], start_ns = random_u64() % (1u << 30) * width_ns;
                struct trend_cell c = { .cell.n = 0 };
                for (uint64_t n = 1 + random_u64() % 50; n > 0; n--)
                        trend_cell_add(&c, start_ns + random_u64() % width_ns,
                                       5e12 + (double)(random_u64() % (1u << 23)));
                struct trend_cell back = through(c, start_ns, width_ns);
                assert_int_equal(back.cell.n, c.cell.n);
                assert_true(back.cell.min == c.cell.min && back.cell.max == c.cell.max &&
                            back.cell.last == c.cell.last);
                assert_true(c.cell.last_ns - back.cell.last_ns < width_ns >> 31 || c.cell.last_ns == back.cell.last_ns);
                assert_true(back.cell.last_ns >= start_ns && back.cell.last_ns - start_ns < width_ns);
                assert_true(fabs(back.cell.mean - c.cell.mean) <= BITS_24 * (1u << 23));
                assert_true(fabs(back.t_mean - c.t_mean) <= 1e-6 * (1 + c.t_mean * 1e-9));
                assert_true(fabs(back.m_tt - c.m_tt) <= BITS_24 * c.m_tt);
                assert_true(fabs(back.m_vv - c.m_vv) <= BITS_24 * c.m_vv);
                assert_true(fabs(back.m_tv - c.m_tv) <= BITS_24 * fabs(c.m_tv));
        }
        assert_int_equal(through((struct trend_cell){ .cell.min = 5 }, 0, SECOND).cell.n, 0);
}

/* Values that only a hostile log has stay numbers. */
TEST(test_packing_of_extremes)
{
        struct trend_cell c = { .cell.n = 0 };

        trend_cell_add(&c, 0, 0);
        trend_cell_add(&c, 600 * SECOND - 1, 18446744073709551615.0);
        c.cell.n = UINT64_MAX;
        c.m_vv *= 1e9;
        struct trend_cell back = through(c, 0, 600 * SECOND);
        assert_int_equal(back.cell.n, UINT32_MAX);
        assert_true(back.cell.max == c.cell.max && back.cell.last == c.cell.last && back.cell.min <= 0);
        assert_true(isfinite(back.m_vv) && isfinite(back.m_tv) && isfinite(back.cell.mean));
}
