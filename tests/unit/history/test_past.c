/* SPDX-License-Identifier: BSD-3-Clause */
/* Points and their thinning: extremes and weighted means survive, order holds. */
#include <errno.h>
#include "tests/unit/test.h"

#include "client/world/history/past.h"

#define MS UINT64_C(1000000)

TEST(extremes_survive)
{
        struct past p = { .max = 64 };
        double sum = 0, mean = 0;
        uint64_t n = 0;

        for (uint64_t i = 0; i < 10000; i++) {
                double v = i == 777 ? 1e9 : i == 5555 ? -3 : (double)(i % 100);

                assert_int_equal(past_insert(&p, i * MS, v), 0);
                sum += v;
                assert_true(p.n <= 64);
        }
        double min = 1e300, max = -1e300;
        for (size_t i = 0; i < p.n; i++) {
                min = p.points[i].cell.min < min ? p.points[i].cell.min : min;
                max = p.points[i].cell.max > max ? p.points[i].cell.max : max;
                mean += p.points[i].cell.mean * (double)p.points[i].cell.n;
                n += p.points[i].cell.n;
                assert_true(i == 0 || p.points[i].time_ns > p.points[i - 1].time_ns);
        }
        assert_true(min == -3 && max == 1e9);
        assert_int_equal(n, 10000);
        assert_true(p.n > 32 - 1 && p.points[0].cell.n == p.points[10].cell.n); /* evenly */
        assert_true(mean > sum - 1 && mean < sum + 1);
        assert_true(p.points[p.n - 1].cell.last == 99);
        past_done(&p);
}

TEST(late_samples_find_their_place)
{
        static const uint64_t times[] = { 10, 40, 20, 30, 5, 40 };
        struct past p = { .max = 64 };

        for (size_t i = 0; i < 6; i++)
                assert_int_equal(past_insert(&p, times[i] * MS, (double)times[i]), 0);
        assert_int_equal(p.n, 6);
        for (size_t i = 1; i < p.n; i++)
                assert_true(p.points[i].time_ns >= p.points[i - 1].time_ns);
        past_halve(&p);
        assert_int_equal(p.n, 3);
        assert_int_equal(p.points[0].time_ns, 5 * MS);
        assert_int_equal(p.points[0].width_ns, 5 * MS);
        /* a late one inside a wide point counts there, but is not its last */
        assert_int_equal(past_insert(&p, 6 * MS, 1000), 0);
        assert_int_equal(p.n, 3);
        assert_true(p.points[0].cell.max == 1000 && p.points[0].cell.last == 10 && p.points[0].cell.n == 3);
        past_done(&p);
}

/* A fading one has its newest samples singly, and still the least, greatest, mean and count of its oldest. */
TEST(the_past_fades)
{
        struct past p = { .max = 256, .fades = true };
        double mean = 0, max = 0;
        uint64_t n = 0, width_ns = UINT64_MAX;

        for (uint64_t i = 0; i < 100000; i++) {
                assert_int_equal(past_insert(&p, i * MS, i == 4321 ? 1e6 : (double)i), 0);
                assert_true(p.n <= 256);
        }
        for (size_t i = 0; i < p.n; i++) {
                const struct point *q = &p.points[i];

                n += q->cell.n;
                mean += q->cell.mean * (double)q->cell.n;
                max = q->cell.max > max ? q->cell.max : max;
                assert_true(q->cell.last_ns == q->time_ns + q->width_ns &&
                            q->cell.last == (double)(q->cell.last_ns / MS));
                assert_true(i == 0 || q->time_ns == p.points[i - 1].cell.last_ns + MS);
                assert_true(q->width_ns <= 3 * width_ns); /* ever finer, but for the borders of levels */
                width_ns = q->width_ns ? q->width_ns : 1;
        }
        assert_int_equal(n, 100000);
        assert_true(max == 1e6);
        assert_true(mean > 99999.0 * 50000 && mean < 99999.0 * 50000 + 1e6);
        for (size_t i = p.n - 8; i < p.n; i++)
                assert_int_equal(p.points[i].cell.n, 1);
        assert_true(p.points[0].width_ns < 100000 * MS / 16); /* and not all of it in a few */
        past_done(&p);
}

static void add(struct past *p, uint64_t from_ns, uint64_t width_ns, uint64_t last_ns, double last);

/* A daemon's history comes before the samples of updates, finer parts replace coarser ones: nothing is there twice. */
TEST(remembered_points_are_put_in_place)
{
        struct past p = { .max = 64, .fades = true }, coarse = { 0 }, fine = { 0 }, copy;

        for (uint64_t t = 100; t < 105; t++)
                assert_int_equal(past_insert(&p, t * MS, (double)t), 0);
        for (uint64_t t = 0; t < 120; t += 10)
                add(&coarse, t * MS, 10 * MS, (t + 9) * MS, 1);
        assert_int_equal(past_splice(&p, &coarse, 100 * MS), 0);
        assert_int_equal(p.n, 10 + 5);
        for (uint64_t t = 75; t < 110; t++)
                add(&fine, t * MS, MS, t * MS, 2);
        assert_int_equal(past_splice(&p, &fine, 100 * MS), 0);
        assert_int_equal(p.n, 7 + 25 + 5);
        for (size_t i = 1; i < p.n; i++)
                assert_true(p.points[i].time_ns >= p.points[i - 1].time_ns + p.points[i - 1].width_ns);
        assert_true(p.points[6].cell.last == 1 && p.points[7].cell.last == 2 && p.points[31].cell.last == 2);
        assert_true(p.points[32].cell.last == 100 && p.points[36].cell.last == 104);
        assert_int_equal(past_splice(&p, &fine, 100 * MS), 0); /* again: the same */
        assert_int_equal(p.n, 7 + 25 + 5);
        assert_int_equal(past_copy(&p, &copy), 0);
        assert_int_equal(copy.n, p.n);
        assert_memory_equal(copy.points, p.points, p.n * sizeof(*p.points));
        assert_true(past_before(&p, 100 * MS - 1)->time_ns == 98 * MS &&
                    past_before(&p, 100 * MS)->time_ns == 100 * MS);
        assert_null(past_before(&p, 9 * MS));
        p.max = 16; /* more than there may be: thinned, nothing is lost */
        assert_int_equal(past_splice(&p, &coarse, 100 * MS), 0);
        assert_true(p.n <= 16 && p.points[p.n - 1].cell.last == 104 && p.points[0].cell.min == 1);
        past_done(&p);
        past_done(&copy);
        past_done(&coarse);
        past_done(&fine);
}

TEST(widening_and_cutting)
{
        struct past p = { .max = 64 };

        for (uint64_t i = 0; i < 10; i++)
                assert_int_equal(past_insert(&p, i * 100 * MS, (double)i), 0);
        past_cut(&p, (struct time_range){ 200 * MS, 800 * MS });
        assert_int_equal(p.n, 6);
        past_widen(&p, 300 * MS);
        assert_int_equal(p.n, 3); /* 2 | 3 4 5 | 6 7 */
        assert_true(p.points[1].cell.mean == 4 && p.points[1].cell.min == 3 && p.points[1].cell.max == 5 &&
                    p.points[1].cell.last == 5);
        past_limit(&p, 1);
        assert_int_equal(p.n, 1);
        assert_true(p.points[0].cell.mean == 4.5 && p.points[0].cell.n == 6);
        past_done(&p);
}

static void add(struct past *p, uint64_t from_ns, uint64_t width_ns, uint64_t last_ns, double last)
{
        struct point point = past_sample(from_ns, last);

        point.width_ns = width_ns;
        point.cell.last_ns = last_ns;
        assert_int_equal(past_append(p, &point), 0);
}

TEST(test_bands_are_put_onto_the_total)
{
        struct past total = { 0 }, band = { 0 }, coarse = { 0 };

        add(&total, 0, 16 * MS, 15 * MS, 10);
        add(&total, 16 * MS, 16 * MS, 30 * MS, 20);
        add(&total, 32 * MS, 16 * MS, 40 * MS, 30);
        add(&total, 64 * MS, 16 * MS, 65 * MS, 40);
        add(&band, 20 * MS, 4 * MS, 20 * MS, 5); /* it began in the second, fell and rose there ... */
        add(&band, 24 * MS, 4 * MS, 24 * MS, 3);
        add(&band, 28 * MS, 4 * MS, 28 * MS, 7);
        add(&band, 36 * MS, 4 * MS, 36 * MS, 0); /* ... and ended in the third */
        assert_int_equal(past_align(&band, &total), 0);
        assert_int_equal(band.n, 4);
        for (size_t i = 0; i < 4; i++) {
                assert_int_equal(band.points[i].time_ns, total.points[i].time_ns);
                assert_int_equal(band.points[i].cell.last_ns, total.points[i].cell.last_ns);
        }
        assert_true(band.points[0].cell.last == 0 && band.points[1].cell.last == 7 && band.points[2].cell.last == 0);
        assert_true(band.points[3].cell.last == 0 && band.points[1].cell.min == 3 && band.points[1].cell.max == 7);
        add(&coarse, 0, 32 * MS, 31 * MS, 1);
        assert_int_equal(past_align(&coarse, &total), -EAGAIN);
        past_end(&total, 48 * MS);
        assert_int_equal(total.n, 3);
        past_end(&total, 47 * MS);
        assert_int_equal(total.n, 2);
        past_done(&total);
        past_done(&band);
        past_done(&coarse);
}
