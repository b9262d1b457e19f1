/* SPDX-License-Identifier: BSD-3-Clause */
/* Series against naive models that keep every sample; tests/unit/facts/test_pyramid.c does that for the rings. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include "daemon/model/series.h"
#include "proto/facts/pyramid.h"

static struct series_view view;

#define SECOND  UINT64_C(1000000000)
#define BITS_24 (1.0 / (1 << 23)) /* of the distances that packed cells keep, when two are added */
static uint64_t state;

static uint64_t random_u64(void)
{
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        return state >> 11 ^ state << 21;
}

static const struct time_range whole = { 0, UINT64_MAX };

static const struct trend_cell *at_or_empty(const struct series *s, unsigned level, uint64_t interval)
{
        static const struct trend_cell empty;
        static struct trend_cell room;
        const struct trend_cell *b = pyramid_at(&series_shape, &s->pyramid, level, interval, &room);

        return b ? b : &empty;
}

/* Merged one by one from a level's own cells. */
static struct trend_cell own_cells(const struct series *s, unsigned level, uint64_t from, uint64_t end)
{
        struct trend_cell all = { .cell.n = 0 };

        if (!pyramid_clip(&s->pyramid, level, &from, &end))
                return all;
        for (uint64_t i = from; i < end; i++)
                trend_cell_merge(&all, at_or_empty(s, level, i));
        return all;
}

/* 48 h of a value near 20e9 that grows by 3 bytes/s: the slope must come out of merged cells. */
TEST(test_regression_keeps_its_digits)
{
        struct series s = { 0 };
        struct trend_cell all;
        long double n = 0, st = 0, sv = 0, stt = 0, stv = 0, t0 = 86400, v0 = 20e9L;

        state = 7;
        for (uint64_t i = 0; i < 48 * 3600 / 4; i++) {
                uint64_t t = i * 4 * SECOND + random_u64() % SECOND;
                double v = 20e9 + 3 * ((double)t / 1e9) + (double)(random_u64() % 2000000) - 1e6;
                series_push(&s, &series_shape, t, v);
                long double x = (long double)t / 1e9L - t0, y = (long double)v - v0;
                n += 1, st += x, sv += y, stt += x * x, stv += x * y;
        }
        all = own_cells(&s, 3, 0, UINT64_MAX);
        assert_int_equal(all.cell.n, (uint64_t)n);
        long double slope = (stv - st * sv / n) / (stt - st * st / n);
        double got = all.m_tv / all.m_tt;
        if (fabsl((long double)got - slope) > 1e-7L * fabsl(slope)) /* packed ones have 24 bits */
                fail_msg("slope %.15g, want %.15Lg", got, slope);
        assert_int_equal(s.total.cell.n, (uint64_t)n);
        assert_int_equal(s.late, 0);
        series_done(&s);
}

TEST(test_history)
{
        struct series s = { 0 };
        struct point p[2000];
        struct trend_cell b;

        assert_int_equal(series_history(&s, whole, 0, p, 2000), 0);
        for (uint64_t t = 0; t < 200; t++)
                if (t != 50)
                        series_push(&s, &series_shape, t * SECOND + 5, (double)t);
        size_t n = series_history(&s, whole, 0, p, 2000);
        assert_int_equal(n, 199);
        assert_int_equal(p[50].time_ns, 51 * SECOND);
        assert_int_equal(p[50].width_ns, SECOND);
        n = series_history(&s, (struct time_range){ 10 * SECOND, 20 * SECOND }, 0, p, 2000);
        assert_int_equal(n, 10);
        assert_true(p[0].cell.last == 10 && p[9].cell.last == 19);
        n = series_history(&s, whole, 7 * SECOND, p, 2000);
        assert_int_equal(n, 29);
        assert_int_equal(p[1].time_ns, 7 * SECOND);
        assert_int_equal(p[1].width_ns, 7 * SECOND);
        assert_int_equal(p[1].cell.n, 7);
        assert_true(p[1].cell.max == 13);
        assert_int_equal(series_history(&s, whole, 0, p, 3), 3);
        assert_int_equal(series_history(&s, (struct time_range){ 5, 5 }, 0, p, 3), 0);
        /* after 400 s the finest ring no longer reaches back to 0: the next one answers */
        for (uint64_t t = 200; t < 400; t++)
                series_push(&s, &series_shape, t * SECOND, (double)t);
        n = series_history(&s, whole, 0, p, 2000);
        assert_int_equal(n, 40);
        assert_int_equal(p[0].width_ns, 10 * SECOND);
        n = series_history(&s, (struct time_range){ 350 * SECOND, UINT64_MAX }, 0, p, 2000);
        assert_int_equal(n, 50);
        series_span(&s, (struct time_range){ 389 * SECOND, 399 * SECOND + 1 }, &b);
        assert_int_equal(b.cell.n, 11); /* those that begin at 389 .. 399 s */
        assert_true(b.cell.min == 389);
        series_push(&s, &series_shape, 3 * SECOND, 1);
        assert_int_equal(s.late, 1);
        /* three days on: only the widest ring is left, and it too has rolled */
        series_push(&s, &series_shape, UINT64_C(3) * 86400 * SECOND, 5);
        n = series_history(&s, whole, 0, p, 2000);
        assert_int_equal(n, 1);
        assert_int_equal(p[0].width_ns, 600 * SECOND);
        series_clear(&s);
        assert_int_equal(series_history(&s, whole, 0, p, 2000), 0);
        series_push(&s, &series_shape, 9 * SECOND, 5);
        assert_int_equal(series_history(&s, whole, 0, p, 2000), 1);
        series_done(&s);
}

/* A fork's child has raw monotonic times: late starts must not look like lost cells. */
TEST(test_history_of_a_late_start)
{
        struct series s = { 0 };
        struct point p[10];

        series_push(&s, &series_shape, UINT64_C(5000000) * SECOND, 1);
        series_push(&s, &series_shape, UINT64_C(5000001) * SECOND, 2);
        assert_int_equal(series_history(&s, whole, 0, p, 10), 2);
        assert_int_equal(p[0].width_ns, SECOND);
        series_push(&s, &series_shape, UINT64_C(4999990) * SECOND, 3); /* late, before the first */
        assert_int_equal(series_history(&s, whole, 0, p, 10), 3);
        assert_true(p[0].cell.last == 3);
        assert_int_equal(s.late, 0);
        series_done(&s);
}

/* Merging wider cells gives the same as the ring's own, also where intervals begin before it. */
TEST(test_merge_of_wider_cells)
{
        uint64_t time_ns = 7777 * SECOND;
        struct series s = { 0 };
        unsigned compared = 0;

        for (unsigned i = 0; i < 6000; i++) {
                time_ns += random_u64() % (i % 500 < 400 ? 3 * SECOND : 60 * SECOND);
                uint64_t late = random_u64() % 8 ? 0 : random_u64() % (20 * SECOND);
                series_push(&s, &series_shape, time_ns - late, 2e10 + (double)(random_u64() % 1000000));
                for (unsigned level = 0; i % 7 == 0 && level < series_shape.n_levels; level++) {
                        const struct pyramid_ring *r = &s.pyramid.levels[level];
                        struct trend_cell merged = { .cell.n = 0 };
                        uint64_t n = r->last - r->first + 1, from = r->first + random_u64() % n, end = r->last + 3;
                        from -= from > 2 && random_u64() % 4 == 0 ? 2 : 0;
                        end -= random_u64() % 3 ? 0 : random_u64() % (n + 2);
                        struct trend_cell own = own_cells(&s, level, from, end);
                        pyramid_merge(&series_shape, &s.pyramid, level, from, end, &merged);
                        if (s.late > 0 && own.cell.n != merged.cell.n)
                                continue; /* a wide cell has samples that came too late for a fine one */
                        assert_int_equal(merged.cell.n, own.cell.n);
                        if (own.cell.n == 0)
                                continue;
                        compared++;
                        double spread = own.cell.max - own.cell.min;
                        assert_true(fabs(merged.cell.min - own.cell.min) <= spread * BITS_24 &&
                                    merged.cell.last == own.cell.last);
                        assert_true(fabs(merged.cell.max - own.cell.max) <= spread * BITS_24);
                        assert_true(own.cell.last_ns - merged.cell.last_ns < 256 ||
                                    merged.cell.last_ns - own.cell.last_ns < 256);
                        assert_true(fabs(merged.cell.mean / own.cell.mean - 1) < 1e-9);
                        assert_true(fabs(merged.t_mean / own.t_mean - 1) < 1e-9);
                        assert_true(fabs(merged.m_tt - own.m_tt) <= 1e-6 * own.m_tt);
                        assert_true(fabs(merged.m_vv - own.m_vv) <= 1e-6 * own.m_vv);
                        assert_true(fabs(merged.m_tv - own.m_tv) <= 1e-6 * sqrt(own.m_tt * own.m_vv));
                }
        }
        assert_true(compared > 2500);
        assert_true(s.pyramid.levels[0].complete > 0 && s.pyramid.levels[1].complete > 0);
        series_done(&s);
}

/* A series with a sample in each second takes 52 kB, one with a sample a minute less than half, a young one little. */
TEST(test_memory_of_a_series)
{
        struct series s = { 0 };

        assert_int_equal(series_push(&s, &series_shape, 5 * SECOND, 1), 0);
        assert_true(s.pyramid.held_bytes > 0 && s.pyramid.held_bytes < 400);
        for (uint64_t t = 0; t < 4 * 86400; t += 1)
                (void)series_push(&s, &series_shape, t * SECOND, (double)t);
        assert_true(s.pyramid.held_bytes <= (300 + 4) * (sizeof(struct packed_sample) + 2) +
                                                    (384 + 360 + 288) * (sizeof(struct packed_cell) + 2) +
                                                    (4 + 4 + 4) * sizeof(struct packed_sample) +
                                                    4 * sizeof(struct trend_cell));
        assert_true(s.pyramid.held_bytes <= 52500);
        series_done(&s);
        assert_int_equal(s.pyramid.held_bytes, 0);
        for (uint64_t t = 0; t < 4 * 86400; t += 60)
                (void)series_push(&s, &series_shape, t * SECOND, (double)t);
        assert_true(s.pyramid.held_bytes <= 22000);
        series_done(&s);
}

/* Of two days a coarse series has the hour and the days, of the rest little; the newest value is exact. */
TEST(test_coarse_series)
{
        struct series fine = { 0 }, coarse = { 0 };
        struct point points[400];
        struct trend_cell a, b;
        const uint64_t end = 2 * 86400;

        for (uint64_t t = 0; t < end; t++) {
                (void)series_push(&fine, &series_shape, t * SECOND, (double)(t * 7919 % 10007));
                (void)series_push_kept(&coarse, SERIES_FEW_SECONDS, false, t * SECOND, (double)(t * 7919 % 10007));
        }
        assert_true(coarse.pyramid.held_bytes < fine.pyramid.held_bytes * 13 / 20);
        assert_memory_equal(&fine.total, &series_read(&coarse, &view)->total, sizeof(fine.total));
        for (uint64_t back = 3600; back < end; back *= 10) { /* an hour: the same; ten: in steps of ten minutes */
                struct time_range range = { (end - back) * SECOND, end * SECOND };
                size_t n = series_history(series_read(&coarse, &view), range, 0, points, 400);

                assert_true(n > 0 && points[0].width_ns == (back == 3600 ? 10 : 600) * SECOND);
                series_span(&fine, range, &a);
                series_span(series_read(&coarse, &view), range, &b);
                assert_int_equal(a.cell.n, b.cell.n);
                assert_true(a.cell.min == b.cell.min && a.cell.max == b.cell.max &&
                            fabs(a.cell.mean - b.cell.mean) < 0.01);
        }
        size_t n = series_history(series_read(&coarse, &view), (struct time_range){ (end - 8) * SECOND, end * SECOND },
                                  0, points, 400);
        assert_true(n == 8 && points[7].width_ns == SECOND &&
                    points[7].cell.last == (double)((end - 1) * 7919 % 10007));

        for (uint64_t t = end; t < end + 300; t++) /* some seconds reach as far as the newest half minute */
                (void)series_push_kept(&coarse, SERIES_SOME_SECONDS, false, t * SECOND, 1);
        n = series_history(series_read(&coarse, &view),
                           (struct time_range){ (end + 260) * SECOND, (end + 300) * SECOND }, 0, points, 400);
        assert_true(n == 40 && points[0].width_ns == SECOND);
        n = series_history(series_read(&coarse, &view),
                           (struct time_range){ (end + 200) * SECOND, (end + 300) * SECOND }, 0, points, 400);
        assert_true(n == 10 && points[0].width_ns == 10 * SECOND);

        for (uint64_t t = end + 300; t < end + 600; t++) /* from when it is asked for, it is fine */
                (void)series_push(&coarse, &series_shape, t * SECOND, 1);
        n = series_history(series_read(&coarse, &view),
                           (struct time_range){ (end + 300) * SECOND, (end + 600) * SECOND }, 0, points, 400);
        assert_true(n == 300 && points[0].width_ns == SECOND);
        series_done(&fine);
        series_done(&coarse);
}

/* Samples that are added a second at a time, some late, read at any moment: what the same, added one by one, are. */
TEST(test_seconds_at_a_time)
{
        struct series one_by_one = { 0 }, settled = { 0 };
        struct point a[400], b[400];
        uint64_t time_ns = 1000 * SECOND;

        for (int i = 0; i < 200000; i++) {
                uint64_t back = random_u64() % 100 ? 0 : random_u64() % 600 * SECOND; /* 300 s are kept */
                double v = 2e10 + (double)(random_u64() % 1000000);

                time_ns += random_u64() % 1000 ? random_u64() % (SECOND / 50) : random_u64() % 100 * SECOND;
                (void)series_push(&one_by_one, &series_shape, time_ns - back, v);
                (void)series_push_kept(&settled, SERIES_ALL_SECONDS, true, time_ns - back, v);
                if (i % 1000)
                        continue;
                struct time_range range = { time_ns - random_u64() % (900 * SECOND), time_ns + 1 };
                size_t n = series_history(&one_by_one, range, 0, a, 400);
                assert_int_equal(series_history(series_read(&settled, &view), range, 0, b, 400), n);
                for (size_t k = 0; k < n; k++)
                        assert_true(a[k].time_ns == b[k].time_ns && a[k].cell.n == b[k].cell.n &&
                                    a[k].cell.last_ns == b[k].cell.last_ns && a[k].cell.min == b[k].cell.min &&
                                    a[k].cell.max == b[k].cell.max && fabs(a[k].cell.mean - b[k].cell.mean) < 1);
        }
        const struct trend_cell *total = &series_read(&settled, &view)->total;
        assert_true(settled.late > 0);
        assert_int_equal(settled.late, one_by_one.late);
        assert_int_equal(total->cell.n, one_by_one.total.cell.n);
        assert_true(fabs(total->m_vv / one_by_one.total.m_vv - 1) < 1e-6);
        assert_true(fabs(total->m_tv - one_by_one.total.m_tv) <
                    1e-6 * sqrt(one_by_one.total.m_tt * one_by_one.total.m_vv));
        series_done(&one_by_one);
        series_done(&settled);
}
