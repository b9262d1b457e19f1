/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows and series against naive models that keep every sample. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/model/series.h"

#define SECOND      UINT64_C(1000000000)
#define MAX_SAMPLES 4000

static uint64_t state;

static uint64_t random_u64(void)
{
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        return state >> 11 ^ state << 21;
}

struct sample {
        uint64_t time_ns;
        double value;
        uint64_t order; /* of arrival */
};

static struct sample kept[MAX_SAMPLES];
static size_t n_kept;

/* Statistics of all kept samples whose bucket index lies in [from, to], in long double. */
static void naive(uint64_t width, uint64_t from, uint64_t to, struct bucket *ret)
{
        long double n = 0, st = 0, sv = 0, tt = 0, tv = 0, vv = 0;

        *ret = (struct bucket){ 0 };
        for (size_t i = 0; i < n_kept; i++) {
                uint64_t index = kept[i].time_ns / width;
                if (index < from || index > to)
                        continue;
                if (n == 0 || kept[i].value < ret->min)
                        ret->min = kept[i].value;
                if (n == 0 || kept[i].value > ret->max)
                        ret->max = kept[i].value;
                if (n == 0 || kept[i].time_ns >= ret->last_time_ns) {
                        ret->last = kept[i].value;
                        ret->last_time_ns = kept[i].time_ns;
                }
                n += 1;
                st += (long double)kept[i].time_ns / 1e9L;
                sv += (long double)kept[i].value;
        }
        for (size_t i = 0; i < n_kept && n > 0; i++) {
                uint64_t index = kept[i].time_ns / width;
                if (index < from || index > to)
                        continue;
                long double dt = (long double)kept[i].time_ns / 1e9L - st / n;
                long double dv = (long double)kept[i].value - sv / n;
                tt += dt * dt;
                tv += dt * dv;
                vv += dv * dv;
        }
        ret->moments = (struct moments){ .n = (uint64_t)n, .m_tt = (double)tt, .m_tv = (double)tv, .m_vv = (double)vv };
        if (n > 0) {
                ret->moments.t_mean = (double)(st / n);
                ret->moments.v_mean = (double)(sv / n);
        }
}

static void near(double a, double b, double scale)
{
        if (fabs(a - b) > 1e-9 * (fabs(b) + scale))
                fail_msg("%.17g is not near %.17g", a, b);
}

static void same(const struct bucket *a, const struct bucket *b)
{
        assert_int_equal(a->moments.n, b->moments.n);
        if (!b->moments.n)
                return;
        assert_true(a->min == b->min && a->max == b->max && a->last == b->last);
        assert_int_equal(a->last_time_ns, b->last_time_ns);
        near(a->moments.t_mean, b->moments.t_mean, 1e-6);
        near(a->moments.v_mean, b->moments.v_mean, 1e-6);
        near(a->moments.m_tt, b->moments.m_tt, 1e-3 * (double)b->moments.n * (1 + fabs(b->moments.t_mean)));
        near(a->moments.m_vv, b->moments.m_vv, 1);
        near(a->moments.m_tv, b->moments.m_tv, 1 + sqrt(b->moments.m_tt * b->moments.m_vv) + fabs(b->moments.t_mean));
}

/* A time that mostly goes on, is sometimes late, and rarely jumps far, either way. */
static uint64_t next_time(uint64_t now, uint64_t width, uint32_t capacity)
{
        uint64_t r = random_u64() % 100;

        if (r < 70)
                return now + random_u64() % (2 * width);
        if (r < 90)
                return now - random_u64() % (now < 3 * width ? now + 1 : 3 * width);
        if (r < 97)
                return now - random_u64() % (now < 2 * capacity * width ? now + 1 : 2 * capacity * width);
        if (r < 99)
                return now + random_u64() % (4 * capacity * width);
        return random_u64() % 2 ? now + random_u64() % (UINT64_C(1) << 40) : random_u64() % (now + 1);
}

static void window_against_naive(uint32_t capacity, uint64_t width, uint64_t start, uint64_t seed)
{
        struct bucket buckets[64];
        struct window w;
        uint64_t now = start, newest = 0;
        bool any = false;

        memset(buckets, 0xa5, sizeof(buckets)); /* contents must not matter */
        window_init(&w, buckets, capacity, width);
        state = seed;
        n_kept = 0;
        assert_null(window_at(&w, 0));
        for (int i = 0; i < 600; i++) {
                uint64_t t = next_time(now, width, capacity), index = t / width;
                double value = (double)(random_u64() % 1000000) - 500000;
                bool fits = !any || index >= newest || newest - index < capacity;
                assert_int_equal(window_add(&w, t, value), fits);
                if (!fits)
                        continue;
                kept[n_kept++] = (struct sample){ t, value, (uint64_t)i };
                if (!any || index > newest)
                        newest = index;
                any = true;
                if (t > now)
                        now = t;
                uint64_t oldest = newest < capacity ? 0 : newest - capacity + 1;
                assert_int_equal(window_oldest(&w), oldest);
                struct bucket expected, got;
                for (uint64_t k = oldest; k <= newest; k++) {
                        naive(width, k, k, &expected);
                        const struct bucket *b = window_at(&w, k);
                        assert_int_equal(b != NULL, expected.moments.n > 0);
                        if (b)
                                same(b, &expected);
                }
                assert_null(window_at(&w, newest + 1));
                if (oldest)
                        assert_null(window_at(&w, oldest - 1));
                uint64_t a = oldest + random_u64() % (newest - oldest + 1);
                uint64_t b = a + random_u64() % (newest - a + 1);
                naive(width, a, b, &expected);
                /* from just after the bucket before, to just after the last one's beginning */
                window_merge(&w, a ? (a - 1) * width + 1 : 0, b * width + 1, &got);
                same(&got, &expected);
        }
}

static void test_window_is_what_a_list_says(void **unused)
{
        (void)unused;
        for (uint64_t seed = 1; seed <= 12; seed++) {
                window_against_naive(8, 1000, 0, seed);
                window_against_naive(5, SECOND, 12345 * SECOND, seed + 100);
                window_against_naive(60, 10 * SECOND, UINT64_C(900000) * SECOND, seed + 200); /* raw monotonic clock */
                window_against_naive(1, 7, 3, seed + 300);
        }
}

static void test_window_at_the_end_of_time(void **unused)
{
        struct bucket buckets[4], all;
        struct window w;

        (void)unused;
        memset(buckets, 0xff, sizeof(buckets));
        window_init(&w, buckets, 4, 1);
        assert_true(window_add(&w, UINT64_MAX - 1, 1));
        assert_true(window_add(&w, UINT64_MAX, 2));
        assert_false(window_add(&w, 0, 3));
        assert_int_equal(window_at(&w, UINT64_MAX)->moments.n, 1);
        window_merge(&w, 0, UINT64_MAX, &all);
        assert_int_equal(all.moments.n, 1);
        window_clear(&w);
        assert_true(window_add(&w, 0, 3));
        assert_null(window_at(&w, UINT64_MAX));
        assert_true(window_at(&w, 0)->last == 3);
}

/* 48 h of a value near 20e9 that grows by 3 bytes/s: the slope must come out of merged buckets. */
static void test_regression_keeps_its_digits(void **unused)
{
        struct series s;
        struct bucket all;
        long double n = 0, st = 0, sv = 0, stt = 0, stv = 0, t0 = 86400, v0 = 20e9L;

        (void)unused;
        assert_int_equal(series_init(&s), 0);
        state = 7;
        for (uint64_t i = 0; i < 48 * 3600 / 4; i++) {
                uint64_t t = i * 4 * SECOND + random_u64() % SECOND;
                double v = 20e9 + 3 * ((double)t / 1e9) + (double)(random_u64() % 2000000) - 1e6;
                series_push(&s, t, v);
                long double x = (long double)t / 1e9L - t0, y = (long double)v - v0;
                n += 1, st += x, sv += y, stt += x * x, stv += x * y;
        }
        window_merge(&s.windows[3], 0, UINT64_MAX, &all);
        assert_int_equal(all.moments.n, (uint64_t)n);
        long double slope = (stv - st * sv / n) / (stt - st * st / n);
        double got = all.moments.m_tv / all.moments.m_tt;
        if (fabsl((long double)got - slope) > 1e-9L * fabsl(slope))
                fail_msg("slope %.15g, want %.15Lg", got, slope);
        assert_int_equal(s.total.moments.n, (uint64_t)n);
        assert_int_equal(s.late, 0);
        series_done(&s);
}

static void test_history(void **unused)
{
        struct series s;
        struct series_point p[2000];
        struct bucket b;

        (void)unused;
        assert_int_equal(series_init(&s), 0);
        assert_int_equal(series_history(&s, 0, UINT64_MAX, 0, p, 2000), 0);
        for (uint64_t t = 0; t < 200; t++)
                if (t != 50)
                        series_push(&s, t * SECOND + 5, (double)t);
        size_t n = series_history(&s, 0, UINT64_MAX, 0, p, 2000);
        assert_int_equal(n, 199);
        assert_int_equal(p[50].time_ns, 51 * SECOND);
        assert_int_equal(p[50].width_ns, SECOND);
        n = series_history(&s, 10 * SECOND, 20 * SECOND, 0, p, 2000);
        assert_int_equal(n, 10);
        assert_true(p[0].bucket.last == 10 && p[9].bucket.last == 19);
        n = series_history(&s, 0, UINT64_MAX, 7 * SECOND, p, 2000);
        assert_int_equal(n, 29);
        assert_int_equal(p[1].time_ns, 7 * SECOND);
        assert_int_equal(p[1].width_ns, 7 * SECOND);
        assert_int_equal(p[1].bucket.moments.n, 7);
        assert_true(p[1].bucket.max == 13);
        assert_int_equal(series_history(&s, 0, UINT64_MAX, 0, p, 3), 3);
        assert_int_equal(series_history(&s, 5, 5, 0, p, 3), 0);
        /* after 400 s the finest ring no longer reaches back to 0: the next one answers */
        for (uint64_t t = 200; t < 400; t++)
                series_push(&s, t * SECOND, (double)t);
        n = series_history(&s, 0, UINT64_MAX, 0, p, 2000);
        assert_int_equal(n, 40);
        assert_int_equal(p[0].width_ns, 10 * SECOND);
        n = series_history(&s, 350 * SECOND, UINT64_MAX, 0, p, 2000);
        assert_int_equal(n, 50);
        series_recent(&s, 399 * SECOND, 10 * SECOND, &b);
        assert_int_equal(b.moments.n, 11); /* those that begin at 389 .. 399 s */
        assert_true(b.min == 389);
        series_push(&s, 3 * SECOND, 1);
        assert_int_equal(s.late, 1);
        /* three days on: only the widest ring is left, and it too has rolled */
        series_push(&s, UINT64_C(3) * 86400 * SECOND, 5);
        n = series_history(&s, 0, UINT64_MAX, 0, p, 2000);
        assert_int_equal(n, 1);
        assert_int_equal(p[0].width_ns, 600 * SECOND);
        series_clear(&s);
        assert_int_equal(series_history(&s, 0, UINT64_MAX, 0, p, 2000), 0);
        series_push(&s, 9 * SECOND, 5);
        assert_int_equal(series_history(&s, 0, UINT64_MAX, 0, p, 2000), 1);
        series_done(&s);
}

/* A fork's child has raw monotonic times: late starts must not look like lost buckets. */
static void test_history_of_a_late_start(void **unused)
{
        struct series s;
        struct series_point p[10];

        (void)unused;
        assert_int_equal(series_init(&s), 0);
        series_push(&s, UINT64_C(5000000) * SECOND, 1);
        series_push(&s, UINT64_C(5000001) * SECOND, 2);
        assert_int_equal(series_history(&s, 0, UINT64_MAX, 0, p, 10), 2);
        assert_int_equal(p[0].width_ns, SECOND);
        series_push(&s, UINT64_C(4999990) * SECOND, 3); /* late, before the first */
        assert_int_equal(series_history(&s, 0, UINT64_MAX, 0, p, 10), 3);
        assert_true(p[0].bucket.last == 3);
        assert_int_equal(s.late, 0);
        series_done(&s);
}

/* While it grows and when it is full, every ring keeps all that a full ring of its width keeps. */
static void series_against_naive(uint64_t start, uint64_t step, uint64_t seed)
{
        static const uint32_t most[SERIES_WIDTHS] = { 300, 384, 360, 288 };
        struct series s;
        uint64_t now = start, newest[SERIES_WIDTHS] = { 0 };

        assert_int_equal(series_init(&s), 0);
        state = seed;
        n_kept = 0;
        size_t young = s.memory_bytes;
        for (uint64_t i = 0; i < 1500; i++) {
                uint64_t back = random_u64() % 8 ? 0 : random_u64() % (100 * step);
                now += random_u64() % step;
                uint64_t t = now - (back < now - start ? back : now - start);
                kept[n_kept++] = (struct sample){ t, (double)i, i };
                series_push(&s, t, (double)i);
                for (unsigned r = 0; r < SERIES_WIDTHS; r++) {
                        struct window *w = &s.windows[r];
                        newest[r] = t / w->width_ns > newest[r] ? t / w->width_ns : newest[r];
                        if (i % 100)
                                continue;
                        uint64_t oldest = newest[r] < most[r] ? 0 : newest[r] - most[r] + 1;
                        for (int k = 0; k < 20; k++) {
                                struct bucket expected;
                                uint64_t index = oldest + random_u64() % (newest[r] - oldest + 1);
                                naive(w->width_ns, index, index, &expected);
                                const struct bucket *b = window_at(w, index);
                                assert_int_equal(b != NULL, expected.moments.n > 0);
                                if (b)
                                        same(b, &expected);
                        }
                }
        }
        assert_true(young < 1500 && s.memory_bytes > young && s.memory_bytes <= 107000);
        series_done(&s);
        assert_int_equal(s.memory_bytes, 0);
}

static void test_growing_series_keep_all(void **unused)
{
        (void)unused;
        for (uint64_t seed = 1; seed < 5; seed++) {
                series_against_naive(0, SECOND / 10, seed);
                series_against_naive(777777 * SECOND, SECOND, seed);
                series_against_naive(5, 60 * SECOND, seed);
        }
}

/* What is merged from wider buckets is what the ring's own say, also where stretches begin before it. */
static void test_merge_of_wider_buckets(void **unused)
{
        uint64_t time_ns = 7777 * SECOND;
        struct series s;
        unsigned compared = 0;

        (void)unused;
        assert_int_equal(series_init(&s), 0);
        for (unsigned i = 0; i < 6000; i++) {
                time_ns += random_u64() % (i % 500 < 400 ? 3 * SECOND : 60 * SECOND);
                uint64_t late = random_u64() % 8 ? 0 : random_u64() % (20 * SECOND);
                series_push(&s, time_ns - late, 2e10 + (double)(random_u64() % 1000000));
                for (unsigned ring = 0; i % 7 == 0 && ring < SERIES_WIDTHS; ring++) {
                        const struct window *w = &s.windows[ring];
                        struct bucket own, merged = { .min = 0 };
                        uint64_t n = w->newest - w->from + 1, from = w->from + random_u64() % n, end = w->newest + 3;
                        from -= from > 2 && random_u64() % 4 == 0 ? 2 : 0;
                        end -= random_u64() % 3 ? 0 : random_u64() % (n + 2);
                        window_merge(w, from * w->width_ns, end * w->width_ns, &own);
                        series_merge(&s, ring, from, end, &merged);
                        if (s.late > 0 && own.moments.n != merged.moments.n)
                                continue; /* a wide bucket has samples that came too late for a fine one */
                        assert_int_equal(merged.moments.n, own.moments.n);
                        if (own.moments.n == 0)
                                continue;
                        compared++;
                        assert_true(merged.min == own.min && merged.max == own.max && merged.last == own.last);
                        assert_true(merged.last_time_ns == own.last_time_ns);
                        assert_true(fabs(merged.moments.v_mean / own.moments.v_mean - 1) < 1e-14);
                        assert_true(fabs(merged.moments.t_mean / own.moments.t_mean - 1) < 1e-14);
                        assert_true(fabs(merged.moments.m_tt - own.moments.m_tt) <= 1e-9 * own.moments.m_tt);
                        assert_true(fabs(merged.moments.m_vv - own.moments.m_vv) <= 1e-9 * own.moments.m_vv);
                        assert_true(fabs(merged.moments.m_tv - own.moments.m_tv) <=
                                    1e-9 * sqrt(own.moments.m_tt * own.moments.m_vv));
                }
        }
        assert_true(compared > 2500);
        assert_true(s.windows[0].rolled && s.windows[1].rolled);
        series_done(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_window_is_what_a_list_says),  cmocka_unit_test(test_window_at_the_end_of_time),
                cmocka_unit_test(test_regression_keeps_its_digits), cmocka_unit_test(test_growing_series_keep_all),
                cmocka_unit_test(test_merge_of_wider_buckets),      cmocka_unit_test(test_history),
                cmocka_unit_test(test_history_of_a_late_start),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
