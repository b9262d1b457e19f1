/* SPDX-License-Identifier: BSD-3-Clause */
/* A band's windows against all samples kept: the same counts, and the same moments to single precision. */
#include <math.h>
#include <stdlib.h>

#include "tests/unit/test.h"

#include "tests/unit/trend/one_band.h"

#define SECOND  UINT64_C(1000000000)
#define SAMPLES 4000u

struct sample {
        uint64_t time_ns;
        double value;
};

static uint32_t next(uint32_t *state)
{
        *state = *state * 1664525u + 1013904223u;
        return *state >> 8;
}

/* A sample every ten seconds or so; some come late. */
static void make(struct sample *samples, uint32_t seed)
{
        uint64_t time_ns = 1000 * SECOND;

        for (unsigned i = 0; i < SAMPLES; i++) {
                time_ns += next(&seed) % (20 * SECOND);
                uint64_t late = next(&seed) % 16 ? 0 : next(&seed) % (400 * SECOND);
                samples[i] = (struct sample){ time_ns - late, 2e10 + next(&seed) % 1000000 * 1e3 };
        }
}

static void near(double is, double wanted, double scale)
{
        if (!(fabs(is - wanted) <= 1e-4 * scale))
                print_message("%.17g, expected %.17g\n", is, wanted);
        assert_true(fabs(is - wanted) <= 1e-4 * scale);
}

static void compare(const struct trend_cell *b, const struct sample *samples, unsigned n, uint64_t from_ns,
                    uint64_t to_ns)
{
        struct trend_cell all = { .cell.n = 0 };

        for (unsigned i = 0; i < n; i++)
                if (samples[i].time_ns >= from_ns && samples[i].time_ns < to_ns)
                        trend_cell_add(&all, samples[i].time_ns, samples[i].value);
        assert_true(b->cell.n == all.cell.n);
        near(b->t_mean, all.t_mean, 1e5);
        near(b->cell.mean, all.cell.mean, 1e9);
        near(b->m_tt, all.m_tt, all.m_tt);
        near(b->m_vv, all.m_vv, all.m_vv);
        near(b->m_tv, all.m_tv, sqrt(all.m_tt * all.m_vv));
        near(b->cell.min, all.cell.min, 1e8);
        near(b->cell.max, all.cell.max, 1e8);
}

/* Everything of the newest 24 h slices that begin at or after from_ns. */
static void check(const struct one_band *band, const struct sample *samples, unsigned n, uint64_t from_ns,
                  uint64_t to_ns)
{
        struct band_windows w = one_band_windows(band);
        struct range_samples s;

        assert_true(w.last_ns + 1 == to_ns);
        const struct band_samples waiting = band_now_samples(&band->interval, &band->now);
        assert_true(band_windows_span(&band->windows, &waiting, (struct time_range){ from_ns, to_ns }, &s));
        compare(&s.all, samples, n, from_ns, to_ns);
        assert_true(band_windows_span(&w, NULL, (struct time_range){ from_ns, to_ns }, &s));
        compare(&s.all, samples, n, from_ns, to_ns);
        band_windows_done(&w);
}

TEST(test_all_samples_kept)
{
        static struct sample samples[SAMPLES];

        for (uint32_t seed = 1; seed < 6; seed++) {
                struct one_band b;
                one_band_init(&b);
                make(samples, seed);
                for (unsigned i = 0; i < SAMPLES; i++) {
                        one_band_push(&b, samples[i].time_ns, samples[i].value);
                        if (i > 100 && i % 97 == 0)
                                check(&b, samples, i + 1, 0, b.interval.newest_ns + 1);
                }
                /* Slices of the finest ring: the last five whole hundreds of seconds. */
                uint64_t from_ns = (b.interval.newest_ns / (100 * SECOND) - 5) * 100 * SECOND;
                check(&b, samples, SAMPLES, from_ns, b.interval.newest_ns + 1);
                one_band_done(&b);
        }
}

/* The newest slice that is over by a time, of whichever ring; the oldest of an interval; how far back all is known. */
TEST(test_before_and_oldest)
{
        struct one_band band;
        struct trend_cell b;

        one_band_init(&band);
        assert_false(band_windows_before(&band.windows, NULL, UINT64_MAX, &b));
        for (uint64_t s = 1000; s < 200000; s += 50)
                one_band_push(&band, s * SECOND, (double)s);
        struct band_windows w = one_band_windows(&band);
        const struct band_samples waiting = band_now_samples(&band.interval, &band.now);
        assert_true(band_windows_before(&band.windows, &waiting, 300000 * SECOND, &b) && b.cell.last == 199950);
        assert_true(band_windows_before(&w, NULL, 300000 * SECOND, &b));
        assert_true(b.cell.last == 199950 && b.cell.last_ns / SECOND == 199950);
        for (uint64_t t = 199000; t > 116000; t -= 970) { /* at most a slice older, as wide as the window is far */
                uint64_t ago = 200000 - t, width = ago <= 500 ? 100 : ago <= 3000 ? 600 : ago <= 18000 ? 3600 : 14400;
                assert_true(band_windows_before(&w, NULL, t * SECOND, &b));
                assert_true(b.cell.last < (double)t && b.cell.last + (double)width + 50 >= (double)t);
        }
        struct range_samples s;
        assert_true(band_windows_span(&w, NULL, (struct time_range){ 199100 * SECOND, 200000 * SECOND }, &s));
        assert_true(s.oldest.cell.min >= 199100 && s.oldest.cell.min < 199800);
        assert_true(band_windows_reach(&w, 115200 * SECOND) && !band_windows_reach(&w, 90000 * SECOND));

        /* A pause of hours: what was before it is not lost behind newer slices. */
        one_band_push(&band, 250000 * SECOND, 7);
        band_windows_done(&w);
        w = one_band_windows(&band);
        assert_true(band_windows_before(&w, NULL, 249000 * SECOND, &b) && b.cell.last == 199950);
        band_windows_done(&w);
        one_band_done(&band);
}
