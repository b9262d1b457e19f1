/* SPDX-License-Identifier: BSD-3-Clause */
/* An interval of samples against all of them kept in double precision: moments, extremes, last value, area. */
#include <math.h>

#include "tests/unit/test.h"

#include "tests/unit/trend/random.h"
#include "daemon/judge/trend/tracker_private.h"

#define SECOND UINT64_C(1000000000)
#define MINUTE (60 * SECOND)
#define BANDS  3u

static void near(double is, double wanted, double scale)
{
        if (!(fabs(is - wanted) <= 3e-7 * scale))
                fail_msg("%.17g, expected %.17g", is, wanted);
}

struct all {
        struct trend_cell cell;
        double sum, area, last;
        bool any;
};

static void keep(struct all *a, uint64_t time_ns, double v, double gap_s)
{
        trend_cell_add(&a->cell, time_ns, v);
        a->sum += v;
        a->area += a->any ? (a->last + v) / 2 * gap_s : 0;
        a->last = v;
        a->any = true;
}

static void check(const struct band_interval *s, const struct band_now *now, const struct all *a)
{
        const struct band_samples samples = band_now_samples(s, now);
        const struct trend_cell *got = &samples.cell, *m = &a->cell;

        assert_int_equal(got->cell.n, m->cell.n);
        near(got->t_mean, m->t_mean, 100);
        near(got->cell.mean, m->cell.mean, fabs(m->cell.mean));
        near(got->m_tt, m->m_tt, m->m_tt + 1e-6);
        near(got->m_vv, m->m_vv, m->m_vv + 1);
        near(got->m_tv, m->m_tv, sqrt(m->m_tt * m->m_vv) + 1);
        assert_true(got->cell.min == m->cell.min && got->cell.max == m->cell.max && got->cell.last == a->last);
        assert_true(got->cell.last_ns == s->newest_ns && samples.area == now->area);
        near(now->area, a->area, a->area);
        near(band_now_sum(s, now), a->sum, a->sum);
}

/* Levels of 20 GB with steps of some MB, a level that never changes, and one that begins at nothing. */
static double value(struct random *r, unsigned band, unsigned i)
{
        switch (band) {
        case 0:
                return 2e10 + 1e6 * random_below(r, 16);
        case 1:
                return 123456789;
        default:
                return i == 0 ? 0 : 3e9 + 1e3 * i + random_below(r, 100000);
        }
}

TEST(like_all_kept)
{
        struct random r = { 7 };

        for (unsigned round = 0; round < 300; round++) {
                struct band_interval s;
                struct band_now now[BANDS];
                struct all all[BANDS] = { 0 };
                uint64_t time_ns = 48 * 3600 * SECOND + random_next(&r) % (1000 * SECOND), before_ns = 0;
                uint64_t step_ns = SECOND / (1 + random_below(&r, 1000));

                for (unsigned b = 0; b < BANDS; b++)
                        band_now_init(&now[b]);
                band_interval_begin(&s, time_ns);
                assert_false(band_interval_accepts(&s, time_ns)); /* not begun */
                for (unsigned i = 0; i == 0 || band_interval_accepts(&s, time_ns); i++) {
                        double values[BANDS], gap_s = (double)(time_ns - before_ns) / 1e9;
                        for (unsigned b = 0; b < BANDS; b++) {
                                values[b] = value(&r, b, i);
                                keep(&all[b], time_ns, values[b], gap_s);
                        }
                        band_now_add(&s, now, values, BANDS, time_ns, gap_s);
                        before_ns = time_ns;
                        time_ns += random_next(&r) % (2 * step_ns);
                }
                assert_true(time_ns / BAND_SLICE_NS > s.begin_ns / BAND_SLICE_NS);
                for (unsigned b = 0; b < BANDS; b++)
                        check(&s, &now[b], &all[b]);
        }
}

/* The area goes on from one interval to the next. */
TEST(area_between)
{
        struct band_interval s;
        struct band_now now;
        double v = 100;

        band_now_init(&now);
        band_interval_begin(&s, 50 * SECOND);
        assert_true(s.end_ns == 100 * SECOND);
        band_now_add(&s, &now, &v, 1, 50 * SECOND, 50);
        assert_true(now.area == 0);
        assert_true(band_interval_accepts(&s, 50 * SECOND) && band_interval_accepts(&s, 100 * SECOND - 1));
        assert_false(band_interval_accepts(&s, 50 * SECOND - 1) || band_interval_accepts(&s, 100 * SECOND));
        band_interval_begin(&s, 190 * SECOND);
        assert_true(s.end_ns == 200 * SECOND);
        v = 200;
        band_now_add(&s, &now, &v, 1, 190 * SECOND, 40);
        assert_true(now.area == 150 * 40 && now.first == 200);
        band_interval_begin(&s, UINT64_MAX - 5);
        assert_true(s.end_ns == UINT64_MAX);
}
