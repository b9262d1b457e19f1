/* SPDX-License-Identifier: BSD-3-Clause */
/* The early warning: its golden series, what a rise is and is not, limits, and states that are read from files. */
#include <math.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/test.h"

#include "daemon/judge/trend/early_warning.h"

#define GOLDEN "tests/leaklab/fast/golden/"
#define MIB    1048576.0

#define CHANGES 8

struct change {
        double time_s;
        bool rising, warned;
};

struct changes {
        struct change of[CHANGES];
        unsigned n;
        struct early_onset onset; /* the last one */
};

static const struct early_limits no_limits = { .live = NAN, .process = NAN };

static void add_line(struct early_warning *w, struct changes *c, const char *line)
{
        uint64_t time_ns;
        char kind;
        double bytes, max_heap, nursery;

        if (sscanf(line, "S %*s %lf - %lf", &max_heap, &nursery) == 2 ||
            sscanf(line, "S %*s - %lf %lf", &max_heap, &nursery) == 2) {
                bool heap = strstr(line, " - ") > strchr(line + 2, ' ') + 1;
                struct early_limits limits = no_limits;
                if (heap)
                        limits.live = max_heap - fmax(nursery, 0.015 * max_heap);
                else
                        limits.process = max_heap;
                limits.nursery = nursery;
                early_warning_init(w, &limits);
        } else if (sscanf(line, "%" SCNu64 " %c %lf", &time_ns, &kind, &bytes) == 3) {
                double t_s = (double)time_ns / 1e9;
                early_warning_advance(w, t_s);
                if (kind == 'L')
                        early_warning_live(w, t_s, bytes);
                else if (kind == 'H')
                        early_warning_heap(w, bytes);
                else
                        early_warning_rss(w, t_s, bytes);
                const struct early_series *s = early_warning_worst(w);
                struct change now = { t_s, s && s->rise.rising, s && s->out.warned };
                const struct change *last = c->n ? &c->of[c->n - 1] : &(struct change){ .time_s = 0 };

                if (s && s->rise.rising)
                        c->onset = s->rise.onset;
                if (now.rising == last->rising && now.warned == last->warned)
                        return;
                assert_int_not_equal(c->n, CHANGES);
                c->of[c->n++] = now;
        }
}

static struct changes play_golden(const char *name)
{
        static struct early_warning w;
        struct changes c = { .n = 0 };
        char path[128], line[128];

        early_warning_init(&w, &no_limits);
        snprintf(path, sizeof(path), GOLDEN "%s", name);
        FILE *f = fopen(path, "r");
        if (!f)
                fail_msg("cannot open %s", path);
        while (fgets(line, sizeof(line), f))
                add_line(&w, &c, line);
        (void)fclose(f);
        return c;
}

static void assert_change(const struct changes *c, unsigned i, double time_s, bool rising, bool warned)
{
        assert_true(i < c->n);
        assert_float_equal(c->of[i].time_s, time_s, 2);
        assert_int_equal(c->of[i].rising, rising);
        assert_int_equal(c->of[i].warned, warned);
}

TEST(golden_leak_is_warned_of_before_it_dies)
{
        struct changes c = play_golden("1-leak-to-M.txt");

        assert_int_equal(c.n, 2);
        assert_change(&c, 0, 85.9, true, false);
        assert_change(&c, 1, 98.3, true, true);
        assert_true(c.onset.from_s <= 60 && 60 <= c.onset.to_s);
}

TEST(golden_fill_ends_by_itself)
{
        struct changes c = play_golden("2-fill.txt");

        assert_int_equal(c.n, 2);
        assert_change(&c, 0, 21.2, true, false);
        assert_change(&c, 1, 94.0, false, false);
}

TEST(golden_sawtooth_rises_only_once)
{
        struct changes c = play_golden("3-saw.txt");

        assert_int_equal(c.n, 2);
        assert_change(&c, 0, 21.2, true, false);
        assert_change(&c, 1, 42.4, false, false);
}

/* One sample a second of `base` until from_s, then `per_s` more each second. */
static void ramp(struct early_rise *e, double base, double from_s, double per_s, double until_s)
{
        early_rise_init(e);
        for (double t = 0.5; t < until_s; t += 1)
                early_rise_add(e, t, base + (t > from_s ? per_s * (t - from_s) : 0));
}

TEST(a_line_is_found_with_its_onset_and_rate)
{
        struct early_rise e;
        double low, high;

        ramp(&e, 20 * MIB, 60, 10 * MIB, 72);
        assert_true(e.rising);
        early_rise_rate(&e, &low, &high);
        assert_true(low <= 10 * MIB && 10 * MIB <= high);
        assert_true(e.onset.from_s <= 60 && 60 <= e.onset.to_s);
        assert_float_equal(e.onset.base, 20 * MIB, 1);
        assert_false(e.onset.first);
}

TEST(ten_mebibytes_a_second_are_found_within_ten_seconds)
{
        struct early_rise e;

        ramp(&e, 20 * MIB, 60, 10 * MIB, 70);
        assert_true(e.rising);
}

TEST(a_step_is_no_rise)
{
        struct early_rise e;

        early_rise_init(&e);
        for (double t = 0.5; t < 200; t += 1) {
                early_rise_add(&e, t, t < 100 ? 20 * MIB : 90 * MIB);
                assert_false(e.rising);
        }
}

TEST(a_level_that_was_held_before_is_no_rise)
{
        struct early_rise e;
        unsigned rises = 0;

        early_rise_init(&e);
        for (double t = 0.5; t < 400; t += 1) {
                bool before = e.rising;
                early_rise_add(&e, t, (20 + fmod(t, 40)) * MIB);
                rises += e.rising && !before;
        }
        assert_int_equal(rises, 1); /* the first tooth */
}

TEST(a_rise_that_stops_is_withdrawn)
{
        struct early_rise e;

        ramp(&e, 20 * MIB, 60, 10 * MIB, 90);
        assert_true(e.rising);
        for (double t = 90.5; t < 120; t += 1)
                early_rise_add(&e, t, 315 * MIB);
        assert_false(e.rising);
}

/* The first second of a program, whose heap is filled then, lies on the line through its later rise by chance. */
TEST(a_rise_does_not_begin_with_the_program)
{
        struct early_rise e;

        early_rise_init(&e);
        early_rise_add(&e, 0.01, 1865744);
        for (double t = 0.2; t<68.5; t += t> 26 && t < 37 ? 4 : 1)
                early_rise_add(&e, t, 2473200 + fmax(t - 10, 0) * 21500 - fmax(t - 45, 0) * 3000);
        assert_true(e.rising);
        assert_true(e.onset.from_s > 0 && e.onset.from_s <= 10 && 10 <= e.onset.to_s);
}

/* That it filled its heap at once does not mean that such changes are usual. */
TEST(the_start_of_a_program_does_not_hide_a_rise)
{
        struct early_rise e;

        early_rise_init(&e);
        early_rise_add(&e, 0.5, MIB);
        for (double t = 5.5; t < 91; t += 5)
                early_rise_add(&e, t, (300 + 5 * fmax(t - 60, 0)) * MIB);
        assert_true(e.rising);
        assert_true(e.onset.from_s <= 60 && 60 <= e.onset.to_s);
}

/* A program that loads its data, stays there, and then leaks: a rise of its own, although collections are few. */
TEST(a_leak_does_not_begin_with_the_loading)
{
        static const double at[] = { 0.3, 1, 2, 3, 6, 7, 8, 9, 11, 13, 16, 20, 33, 55, 63, 73, 91, 104, 115, 136, 157 };
        struct early_rise e;

        early_rise_init(&e);
        for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
                early_rise_add(&e, at[i], (1.5 * fmin(at[i], 25) + 0.001 * at[i] + 0.95 * fmax(at[i] - 60, 0)) * MIB);
                if (at[i] < 10 && at[i] > 5)
                        assert_true(e.rising && e.onset.to_s < 2);
        }
        assert_true(e.rising);
        assert_true(e.onset.from_s > 50 && e.onset.from_s <= 60 && 60 <= e.onset.to_s && e.onset.to_s < 70);
        assert_true(fabs(e.onset.base / MIB - 37.5) < 0.1);
}

/* It is no line, and has grown by an eighth only. */
TEST(a_rise_that_speeds_up_is_found)
{
        struct early_rise e;

        early_rise_init(&e);
        for (double t = 0.5; t < 71; t += 1)
                early_rise_add(&e, t, (40 + (t > 60 ? 0.05 * (t - 60) * (t - 60) : 0)) * MIB);
        assert_true(e.rising);
        assert_true(e.onset.from_s <= 60 && 60 <= e.onset.to_s);
}

/* It gets no processor for some seconds: a rise of minutes is not withdrawn for that, and is, once, when it lasts. */
TEST(a_pause_does_not_end_a_long_rise)
{
        struct early_rise e;
        double bytes = MIB / 2;

        early_rise_init(&e);
        for (double t = 0.5; t < 500; t += 1) {
                bool pauses = (t > 300 && t < 304) || (t > 320 && t < 325) || (t > 340 && t < 450);
                if (t > 60 && !pauses)
                        bytes += 95 * 1024;
                early_rise_add(&e, t, bytes);
                if (t > 90 && t < 345)
                        assert_true(e.rising);
                if (t > 375 && t < 450)
                        assert_false(e.rising);
        }
        assert_true(e.rising);
}

/* A sample of a moment, as when a copy is made: neither what follows it nor its own height ends the rise. */
TEST(a_spike_does_not_end_a_rise)
{
        struct early_rise e;

        early_rise_init(&e);
        for (double t = 0.5; t < 400; t += 1) {
                const bool is_spike = (t > 139 && t < 140) || (t > 220 && t < 221);
                early_rise_add(&e, t, MIB / 2 + fmax(t - 60, 0) * 108 * 1024 + (is_spike ? 9 * MIB : 0));
                if (t > 90)
                        assert_true(e.rising);
        }
}

TEST(older_samples_are_ignored)
{
        struct early_rise e;

        ramp(&e, 20 * MIB, 60, 10 * MIB, 72);
        struct early_rise before = e;
        early_rise_add(&e, 3, 1e12);
        early_rise_advance(&e, 3);
        assert_memory_equal(&before, &e, sizeof(e));
}

/* The daemon's clock lags the log's by a moment: each sample comes after its second was closed. */
TEST(samples_that_are_a_moment_late_count)
{
        struct early_rise e;

        early_rise_init(&e);
        for (double t = 1; t < 90; t += 1) {
                early_rise_advance(&e, t);
                early_rise_add(&e, t - 0.01, (20 + (t > 60 ? 10 * (t - 60) : 0)) * MIB);
        }
        assert_true(e.samples == 89);
        assert_true(e.rising);
        assert_true(e.onset.from_s <= 60 && 60 <= e.onset.to_s);
}

/* While it stands at a height, hardly rising any more, the rise has come there when it did. */
TEST(a_rise_has_come_to_its_height)
{
        static struct early_rise e;
        unsigned stood = 0;

        early_rise_init(&e);
        for (double t = 0.5; t < 200; t += 1) {
                early_rise_advance(&e, t);
                early_rise_add(&e, t, (20 + 10 * fmin(fmax(t - 40, 0), 60) + 0.05 * fmax(t - 100, 0)) * MIB);
                if (!e.rising)
                        continue;
                stood += t > 102;
                assert_true(e.high_s > fmin(t, 100) - 2 && e.high_s <= 101);
        }
        assert_true(stood > 0);
}

TEST(foreign_memory_is_judged_where_it_is_known)
{
        static struct early_warning w;

        early_warning_init(&w, &(struct early_limits){ .live = NAN, .process = 1000 * MIB });
        early_warning_heap(&w, 50 * MIB);
        for (double t = 0.5; t < 60; t += 1) {
                double foreign = t > 20 ? 10 * (t - 20) : 0;
                early_warning_rss(&w, t, (50 + foreign) * MIB);
                early_warning_foreign(&w, t, foreign * MIB);
        }
        const struct early_series *s = early_warning_worst(&w);
        assert_ptr_equal(s, &w.off_heap);
        assert_float_equal(s->rise.last, 395 * MIB, 1);
        assert_float_equal(s->out.limit, 950 * MIB, 1); /* what the heap leaves */
}

TEST(without_a_limit_nothing_runs_out)
{
        static struct early_warning w;

        early_warning_init(&w, &no_limits);
        for (double t = 0.5; t < 100; t += 1) {
                early_warning_live(&w, t, (20 + 10 * t) * MIB);
                early_warning_advance(&w, t + 0.5);
        }
        const struct early_series *s = early_warning_worst(&w);
        assert_ptr_equal(s, &w.live);
        assert_true(s->rise.rising);
        assert_false(s->out.warned);
        assert_true(isnan(s->out.soonest_s));
}

/* A cache that fills ever more slowly, to 73 % of the limit. */
TEST(a_rise_that_slows_down_does_not_run_out)
{
        static struct early_warning w;
        bool rose = false;

        early_warning_init(&w, &(struct early_limits){ .live = 140 * MIB, .process = NAN });
        for (double t = 0.5; t < 400; t += 10) {
                early_warning_live(&w, t, (40 + 62 * pow(fmin(t / 285, 1), 0.65)) * MIB);
                early_warning_advance(&w, t + 1);
                rose |= w.live.rise.rising;
                assert_false(w.live.out.warned);
        }
        assert_true(rose);
}

TEST(memory_off_the_heap_runs_out_too)
{
        static struct early_warning w;
        double warned_s = NAN;

        early_warning_init(&w, &(struct early_limits){ .live = NAN, .process = 1000 * MIB });
        early_warning_heap(&w, 50 * MIB);
        for (double t = 0.5; t < 90; t += 1) {
                early_warning_rss(&w, t, (60 + (t > 20 ? 10 * (t - 20) : 0)) * MIB);
                early_warning_advance(&w, t + 0.5);
                if (isnan(warned_s) && w.off_heap.out.warned)
                        warned_s = t;
        }
        const struct early_series *s = early_warning_worst(&w);
        assert_ptr_equal(s, &w.off_heap);
        assert_true(warned_s > 20 && warned_s < 80);                  /* a third of the way is left, at least */
        assert_true(s->out.soonest_s <= 24 && 24 <= s->out.latest_s); /* 950 MiB at 115 s */
}

TEST(states_beyond_their_arrays_are_refused)
{
        static struct early_warning w;

        early_warning_init(&w, &no_limits);
        assert_true(early_warning_is_sound(&w));
        w.live.rise.rungs[2].n = EARLY_POINTS_MAX + 1;
        assert_false(early_warning_is_sound(&w));
        w.live.rise.rungs[2].n = 0;
        w.off_heap.rise.rungs[0].n_open = 2;
        assert_false(early_warning_is_sound(&w));
        w.off_heap.rise.rungs[0].n_open = 0;
        w.next_ratio = EARLY_MAJORS;
        assert_false(early_warning_is_sound(&w));
}
