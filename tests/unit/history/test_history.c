/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one store of the past: filled by updates and by a daemon's history, in any order. Each sample is in one point,
 * charts have no jump where the two meet, bands and their total are known at the same times.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/test.h"

#include "client/world/history/history.h"

#define S    UINT64_C(1000000000)
#define LIVE HW__SERIES__SERIES_LIVE

static const struct history_options wanted = { .points = 512, .columns = 64, .cells = 4096, .keep_recent = true };

static void sample(struct history *h, Hw__Series series, uint64_t time_ns, uint64_t value)
{
        Hw__Samples samples = HW__SAMPLES__INIT, *list[] = { &samples };
        Hw__Update u = HW__UPDATE__INIT;
        Hw__Heap heap = HW__HEAP__INIT;

        SET(samples, series, series);
        samples.n_times_ns = samples.n_values = 1;
        samples.times_ns = &time_ns;
        samples.values = &value;
        SET_LIST(heap, samples, list, 1);
        u.body_case = HW__UPDATE__BODY_HEAP;
        u.heap = &heap;
        assert_int_equal(history_add(h, &u), 0);
}

static void census(struct history *h, uint64_t number, uint64_t time_ns, uint64_t one, uint64_t two)
{
        uint32_t ids[] = { 1, 2 };
        uint64_t bytes[] = { one, two };
        Hw__Update u = HW__UPDATE__INIT;
        Hw__Census c = HW__CENSUS__INIT;

        SET(c, number, number);
        SET(c, time_ns, time_ns);
        c.n_band = c.n_bytes = 2;
        c.band = ids;
        c.bytes = bytes;
        SET(c, total_bytes, one + two);
        u.body_case = HW__UPDATE__BODY_CENSUS;
        u.census = &c;
        assert_int_equal(history_add(h, &u), 0);
}

/* What a daemon answers: buckets of `width_s` over samples at every whole second of [from_s, to_s). */
static struct past answer(uint64_t from_s, uint64_t to_s, uint64_t width_s, double (*value)(uint64_t s))
{
        struct past past = { 0 };

        for (uint64_t s = from_s; s < to_s; s++) {
                struct point p = past_sample(s * S, value(s));

                if (past.n && past.points[past.n - 1].time_ns / (width_s * S) == s / width_s) {
                        struct point *last = &past.points[past.n - 1];
                        uint64_t start = last->time_ns;

                        past_point_merge(last, &p);
                        last->time_ns = start;
                        last->width_ns = width_s * S;
                } else {
                        p.time_ns = s / width_s * width_s * S;
                        p.width_ns = width_s * S;
                        assert_int_equal(past_append(&past, &p), 0);
                }
        }
        return past;
}

static double rising(uint64_t s)
{
        return (double)(1000 + s);
}

/* Rising in time, never two points over one time; a series that only rises is one that only rises. */
static void check_rising(const struct past *p)
{
        double last = 0;
        uint64_t end_ns = 0, last_ns = 0;

        for (size_t i = 0; i < p->n; i++) {
                const struct point *q = &p->points[i];

                assert_true(i == 0 || (q->time_ns >= end_ns && q->cell.last_ns > last_ns));
                assert_true(q->cell.last_ns >= q->time_ns && q->cell.last_ns <= q->time_ns + q->width_ns);
                assert_true(q->cell.min > last && q->cell.min <= q->cell.mean && q->cell.mean <= q->cell.max &&
                            q->cell.max == q->cell.last);
                assert_true(q->cell.last == rising(q->cell.last_ns / S)); /* at the time of its sample */
                end_ns = q->time_ns + q->width_ns;
                last_ns = q->cell.last_ns;
                last = q->cell.last;
        }
}

TEST(the_seam_is_not_seen)
{
        srandom(7);
        for (int round = 0; round < 200; round++) {
                struct history *h = history_new(&wanted);
                uint64_t now = 400 + (uint64_t)random() % 5000, asked = now + (uint64_t)random() % 30;
                uint64_t end = asked + (uint64_t)random() % 4000, widths[] = { 60, 10, 1 };
                uint64_t first_s = 100 + (uint64_t)random() % 200;
                bool before = random() % 2;
                const struct past *p;

                for (uint64_t s = now; before && s < asked; s++) /* attached before the answers came ... */
                        sample(h, LIVE, s * S, (uint64_t)rising(s));
                for (size_t i = 0; i < 3; i++) {
                        uint64_t from_s = i == 0 ? first_s : i == 1 ? asked - asked / 2 : asked - asked / 8;
                        struct past remembered = answer(from_s, asked, widths[i], rising);

                        if (random() % 4)
                                assert_int_equal(history_recall_series(h, LIVE, &remembered), 0);
                        past_done(&remembered);
                        check_rising(history_series(h, LIVE));
                }
                for (uint64_t s = before ? asked : now; s < end; s++) /* ... and what comes from then on */
                        sample(h, LIVE, s * S, (uint64_t)rising(s));
                p = history_series(h, LIVE);
                check_rising(p);
                assert_true(p->n <= 512 && p->n > 0);
                assert_true(end == now ||
                            p->points[p->n - 1].cell.last == rising((end > asked || !before ? end : asked) - 1));
                assert_true(history_first_ns(h) == p->points[0].time_ns);
                history_destroy(&h);
        }
}

/* A spike survives all thinning, and the newest samples are single ones. */
TEST(long_run_stays_bounded)
{
        struct history *h = history_new(&wanted);
        const struct past *p = history_series(h, LIVE);
        double greatest = 0;

        for (uint64_t i = 1; i <= 100000; i++)
                sample(h, LIVE, i * S, i == 4321 ? 5000000 : i);
        assert_true(p->n > 128 && p->n <= 512);
        for (size_t i = 0; i < p->n; i++)
                greatest = p->points[i].cell.max > greatest ? p->points[i].cell.max : greatest;
        assert_true(greatest == 5000000);
        assert_int_equal(p->points[0].time_ns, S);
        assert_true(p->points[p->n - 1].cell.last == 100000 && p->points[p->n - 20].cell.n == 1);
        assert_int_equal(h->samples[LIVE], 100000);
        history_bound(h, &(struct history_options){ .points = 64, .cells = 4096 });
        sample(h, LIVE, 100001 * S, 1);
        assert_true(p->n <= 64);
        history_destroy(&h);
}

/* Late samples are put in their place; those of the time before the seam are in the daemon's history. */
TEST(late_samples_are_not_taken_twice)
{
        struct history *h = history_new(&wanted);
        const struct past *p = history_series(h, LIVE);
        struct past remembered = answer(1, 101, 10, rising);

        sample(h, LIVE, 100 * S, 1100);
        sample(h, LIVE, 99 * S, 1099); /* another capability's buffer */
        assert_int_equal(p->n, 2);
        assert_int_equal(history_recall_series(h, LIVE, &remembered), 0);
        assert_int_equal(p->n, 11); /* 1-9, 10-19, ..., 80-89; 90-98 is with what follows in one bucket: left out */
        sample(h, LIVE, 98 * S, 1098);
        assert_int_equal(p->n, 11);
        check_rising(p);
        past_done(&remembered);
        history_destroy(&h);
}

/* The answer may come before the first sample of an update: live data has one at a major collection only. */
TEST(a_first_sample_keeps_what_is_remembered)
{
        struct history *h = history_new(&wanted);
        const struct past *p = history_series(h, LIVE);
        struct past remembered = answer(1, 101, 10, rising);

        assert_int_equal(history_recall_series(h, LIVE, &remembered), 0);
        size_t n = p->n;
        assert_true(n >= 10);
        sample(h, LIVE, 115 * S, 1115);
        assert_int_equal(p->n, n + 1);
        assert_int_equal(p->points[0].time_ns, remembered.points[0].time_ns);
        sample(h, LIVE, 116 * S, 1116);
        assert_int_equal(p->n, n + 2);
        check_rising(p);
        past_done(&remembered);
        history_destroy(&h);
}

static double one(uint64_t s)
{
        return (double)(10 * s);
}

static double two(uint64_t s)
{
        return (double)(s % 7 * 100);
}

static double both(uint64_t s)
{
        return one(s) + two(s);
}

/* Bands and total at the same times, whose sums agree at each: from the history, then from updates, thinned or not. */
TEST(bands_add_up)
{
        srandom(11);
        for (int round = 0; round < 100; round++) {
                struct history *h = history_new(&wanted);
                uint64_t first = 20 + (uint64_t)random() % 300, end = first + (uint64_t)random() % 600, number = 0;
                uint64_t asked = first + (uint64_t)random() % 10;
                uint64_t width = UINT64_C(1) << (random() % 6);
                struct past a = answer(0, asked, 1 + (width - 1) / 2, one), b = answer(0, asked, width, two);
                struct past t = answer(0, asked, width, both), ra = { 0 }, rb = { 0 }, rt = { 0 };

                for (uint64_t s = first; s < end; s++)
                        census(h, ++number, s * S, (uint64_t)one(s), (uint64_t)two(s));
                assert_int_equal(history_recall_band(h, 1, &a), 0);
                assert_int_equal(history_recall_band(h, 2, &b), 0);
                assert_int_equal(history_recall_band(h, 0, &t), 0);
                assert_null(t.points);
                assert_int_equal(history_band(h, 1, NULL, &ra), 0);
                assert_int_equal(history_band(h, 2, NULL, &rb), 0);
                assert_int_equal(history_band(h, 0, NULL, &rt), 0);
                assert_true(rt.n > 0 && ra.n == rt.n && rb.n == rt.n);
                for (size_t i = 0; i < rt.n; i++) {
                        assert_true(rt.points[i].cell.last == both(rt.points[i].cell.last_ns / S));
                        assert_true(ra.points[i].cell.last + rb.points[i].cell.last == rt.points[i].cell.last);
                        assert_true(ra.points[i].cell.last_ns == rt.points[i].cell.last_ns);
                        assert_true(i == 0 || rt.points[i].cell.last_ns > rt.points[i - 1].cell.last_ns);
                        assert_true(i == 0 || ra.points[i].cell.last >= ra.points[i - 1].cell.last);
                }
                past_done(&ra);
                past_done(&rb);
                past_done(&rt);
                history_destroy(&h);
        }
}

/* By the daemon's history where that is fine enough, else by the censuses received; unknown is not 0. */
TEST(change_is_over_the_window)
{
        struct history *h = history_new(&wanted);
        struct past a = answer(0, 120, 4, one), t = answer(0, 120, 4, both);

        assert_true(isnan(history_change(h, 1, 5, 0, UINT64_MAX)));
        census(h, 1, 100 * S, 1000, 0);
        assert_true(isnan(history_change(h, 1, 1000, 0, UINT64_MAX))); /* nothing before it */
        census(h, 2, 110 * S, 1100, 0);
        assert_true(history_change(h, 1, 1100, 0, UINT64_MAX) == 100);
        assert_true(history_change(h, 1, 1100, 105 * S, UINT64_MAX) == 100);
        assert_int_equal(history_recall_band(h, 1, &a), 0);
        assert_int_equal(history_recall_band(h, 0, &t), 0);
        assert_true(history_change(h, 1, 1100, 50 * S, 10 * S) == 1100 - one(47));
        assert_true(history_change(h, 1, 1100, 105 * S, S) == 100); /* too coarse for that */
        history_destroy(&h);
}
