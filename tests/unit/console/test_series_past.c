/* SPDX-License-Identifier: BSD-3-Clause */
/* test_series_past.c - histories of whole runs: bounded, greatest values kept, joined to the world's newest points. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "client/console/scene/series_past.h"
#include "tests/unit/console/made_up.h"

static int watch_live(struct series_past *p, uint32_t run, uint64_t time_ns, uint64_t live)
{
        Hw__Update u = update_of("a", run, time_ns);
        Hw__Heap heap = HW__HEAP__INIT;
        Hw__Samples samples = HW__SAMPLES__INIT;
        Hw__Samples *list[] = { &samples };

        samples.has_series = 1;
        samples.series = HW__SERIES__SERIES_LIVE;
        samples.n_times_ns = samples.n_values = 1;
        samples.times_ns = &time_ns;
        samples.values = &live;
        heap.n_samples = 1;
        heap.samples = list;
        u.body_case = HW__UPDATE__BODY_HEAP;
        u.heap = &heap;
        return series_past_watch(p, 0, &u);
}

static struct world_target target_a(uint32_t run)
{
        return (struct world_target){ .name = "a", .run = run };
}

/* What a chart gets: all points, oldest first. */
static size_t points_of(struct series_past *p, const struct world_target *t, const struct ring *newest,
                        const struct ring **ret)
{
        *ret = series_past_ring(p, t, HW__SERIES__SERIES_LIVE, newest);
        return (*ret)->count;
}

static void long_run_stays_bounded(void **state)
{
        struct series_past *p = series_past_new();
        struct world_target t = target_a(1);
        struct ring none = { .count = 0 };
        const struct ring *r;
        double greatest = 0;
        size_t n;

        (void)state;
        for (uint64_t i = 0; i < 100000; i++)
                assert_int_equal(watch_live(p, 1, i * SECOND, i == 4321 ? 5000000 : i), 0);
        n = points_of(p, &t, &none, &r);
        assert_true(n > PAST_SLOTS / 2 - 2 && n <= PAST_SLOTS);
        assert_true(ring_newest(r, n - 1)->time_ns < 200 * SECOND); /* from the beginning ... */
        assert_true(ring_newest(r, 0)->time_ns > 99800 * SECOND);   /* ... to the end */
        for (size_t i = 0; i < n; i++) {
                double v = ring_newest(r, i)->value;

                greatest = v > greatest ? v : greatest;
        }
        assert_true(greatest > 4999999); /* a spike survives */
        series_past_destroy(&p);
        assert_null(p);
}

static void newest_points_stay_exact(void **state)
{
        struct series_past *p = series_past_new();
        struct world *v = world_new();
        const struct ring *r, *newest;
        size_t n;

        (void)state;
        for (uint64_t i = 1; i <= WORLD_POINTS + 1000; i++) {
                assert_int_equal(watch_live(p, 1, i * SECOND, i), 0);
                assert_int_equal(send_live(v, 0, "a", 1, i * SECOND, i), 0);
        }
        newest = &world_find(v, "a")->series[HW__SERIES__SERIES_LIVE];
        n = points_of(p, world_find(v, "a"), newest, &r);
        assert_true(n > WORLD_POINTS);
        for (size_t i = 0; i < WORLD_POINTS; i++)
                assert_int_equal(ring_newest(r, i)->time_ns, (WORLD_POINTS + 1000 - i) * SECOND);
        for (size_t i = WORLD_POINTS; i < n; i++)
                assert_true(ring_newest(r, i)->time_ns <= 1000 * SECOND); /* nothing is told twice */
        world_destroy(&v);
        series_past_destroy(&p);
}

static void daemon_history_fills_the_beginning(void **state)
{
        struct series_past *p = series_past_new();
        struct world_target t = target_a(2);
        struct ring none = { .count = 0 };
        const struct ring *r;

        (void)state;
        assert_int_equal(watch_live(p, 2, 100 * SECOND, 7), 0);
        assert_int_equal(series_past_first_ns(p, &t), 100 * SECOND);
        assert_int_equal(series_past_add(p, 0, "a", 2, HW__SERIES__SERIES_LIVE, 3 * SECOND, 5), 0);
        assert_int_equal(series_past_first_ns(p, &t), 3 * SECOND);
        assert_int_equal(points_of(p, &t, &none, &r), 2);
        assert_int_equal(ring_newest(r, 1)->value, 5);
        /* of another run or target: ignored */
        assert_int_equal(series_past_add(p, 0, "a", 1, HW__SERIES__SERIES_LIVE, 4 * SECOND, 5), 0);
        assert_int_equal(series_past_add(p, 0, "b", 2, HW__SERIES__SERIES_LIVE, 4 * SECOND, 5), 0);
        assert_int_equal(series_past_add(p, 1, "a", 2, HW__SERIES__SERIES_LIVE, 4 * SECOND, 5), 0);
        assert_int_equal(points_of(p, &t, &none, &r), 2);
        series_past_destroy(&p);
}

static void new_run_forgets(void **state)
{
        struct series_past *p = series_past_new();
        struct world_target first = target_a(1), second = target_a(2);
        struct ring none = { .count = 0 };
        const struct ring *r;

        (void)state;
        assert_int_equal(watch_live(p, 1, SECOND, 1), 0);
        assert_int_equal(watch_live(p, 2, 2 * SECOND, 2), 0);
        assert_int_equal(watch_live(p, 1, 3 * SECOND, 3), 0); /* late, of the old run */
        assert_int_equal(points_of(p, &first, &none, &r), 0);
        assert_int_equal(points_of(p, &second, &none, &r), 1);
        series_past_forget(p, 0);
        assert_int_equal(points_of(p, &second, &none, &r), 0);
        series_past_destroy(&p);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(long_run_stays_bounded),
                cmocka_unit_test(newest_points_stay_exact),
                cmocka_unit_test(daemon_history_fills_the_beginning),
                cmocka_unit_test(new_run_forgets),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
