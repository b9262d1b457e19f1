/* SPDX-License-Identifier: BSD-3-Clause */
/* trend.c: samples of all kinds, gaps, jumps, late ones, waiting, restarts, scales, and what must always hold. */
#include <math.h>
#include <string.h>
#include "tests/unit/test.h"

#include "tests/unit/trend/random.h"
#include "daemon/judge/trend/trend.h"
#include "tests/unit/thin.h"
#include "tests/unit/trend/copied.h"

#define MIN TREND_MINUTE_NS

static struct trend t;

static void begin(void)
{
        struct trend_config c = trend_config_scaled(MIN);

        trend_done(&t);
        trend_init(&t, &c);
}

static struct trend_result answer(void)
{
        struct trend_result r;

        trend_result(&t, &r);
        return r;
}

static enum trend_verdict verdict(void)
{
        return answer().verdict;
}

static void push_every_minute(double (*curve)(double), unsigned from, unsigned to)
{
        for (unsigned m = from; m < to; m++)
                assert_int_equal(trend_push(&t, m * MIN + 7, curve(m)), TREND_PUSH_OK);
}

static bool same_number(double a, double b)
{
        return a == b || (isnan(a) && isnan(b));
}

static bool same_answer(const struct trend_result *a, const struct trend_result *b)
{
        return a->verdict == b->verdict && a->since_ns == b->since_ns && a->as_of_ns == b->as_of_ns &&
               same_number(a->slope, b->slope) && same_number(a->slope_low, b->slope_low) &&
               same_number(a->slope_high, b->slope_high) && a->onset_ns == b->onset_ns &&
               a->evidence.basis == b->evidence.basis && a->evidence.window == b->evidence.window &&
               a->evidence.passed == b->evidence.passed;
}

static double leak(double m)
{
        return 2e10 + 1e7 * m;
}

static double steep(double m)
{
        return 1e9 + 1e7 * m;
}

static double level(double m)
{
        return 2e10 + 0 * m;
}

static double zero(double m)
{
        return 0 * m;
}

/* Memory grows with the run's age, up to what a month needs, and trend_done() gives all of it back. */
TEST(size_bound)
{
        const struct {
                unsigned minutes;
                size_t most;
        } ages[] = { { 10, 300 }, { 60, 2000 }, { 24 * 60, 3400 }, { LADDER_MINUTES, 5200 } };
        struct random r = { 12 };
        size_t before = 0;
        unsigned m = 0;

        begin();
        for (unsigned k = 0; k < 4; k++) {
                for (; m < ages[k].minutes; m++)
                        (void)trend_push(&t, m * MIN, 1e9 + 1e8 * random_unit(&r));
                assert_in_range(trend_held(&t), before + 1, ages[k].most);
                before = trend_held(&t);
        }
        trend_done(&t);
        assert_int_equal(trend_held(&t), 0);
        assert_true(sizeof(struct trend) < 800);
}

TEST(configs)
{
        struct trend_config c = trend_config_scaled(1000000000);

        assert_true(c.leak_after_ns == 180000000000u && trend_config_valid(&c));
        c.leak_after_ns = 20000000000u;
        assert_true(trend_config_valid(&c));
        c.leak_after_ns = 19000000000u;
        assert_false(trend_config_valid(&c));
        c.leak_after_ns = UINT64_C(49152000000000);
        assert_true(trend_config_valid(&c));
        c.leak_after_ns++;
        assert_false(trend_config_valid(&c));
        c = trend_config_scaled(0);
        assert_false(trend_config_valid(&c));
        c = trend_config_scaled(1);
        c.wait_minutes = TREND_OPEN_MINUTES - 1;
        assert_true(trend_config_valid(&c));
        c.wait_minutes = TREND_OPEN_MINUTES;
        assert_false(trend_config_valid(&c));
}

TEST(nothing_and_one_point)
{
        begin();
        trend_close(&t, UINT64_MAX);
        struct trend_result r = answer();
        assert_true(r.verdict == TREND_UNKNOWN && !r.has_slope && isnan(r.slope) && r.onset_ns == UINT64_MAX);
        assert_int_equal(r.evidence.basis, TREND_BASIS_NONE);

        assert_int_equal(trend_push(&t, 5 * MIN, 1e9), TREND_PUSH_OK);
        for (unsigned m = 6; m < 500; m++) {
                trend_close(&t, m * MIN);
                assert_int_equal(verdict(), TREND_UNKNOWN);
        }
        assert_int_equal(trend_closed_minutes(&t), 494);
        struct time_to_limit ttl = { 1, 2 };
        assert_false(trend_time_to_limit(&t, 2e9, &ttl));
        assert_true(ttl.early_s == 1 && ttl.late_s == 2);
}

/* 48 hours of 20 GB and of nothing. */
TEST(all_equal)
{
        begin();
        push_every_minute(level, 0, 2880);
        struct trend_result r = answer();
        assert_true(r.verdict == TREND_STEADY && r.slope == 0 && r.slope_low < 0 && r.slope_high > 0);
        assert_int_equal(r.since_ns, 18 * MIN);
        assert_int_equal(r.as_of_ns, 2879 * MIN);
        assert_int_equal(r.evidence.missing, TEST_RISES);
        begin();
        push_every_minute(zero, 0, 2880);
        assert_true(verdict() == TREND_STEADY && answer().slope == 0);
}

/* Level for five hours, then growth that becomes slower, as under a collector that has ever more to do. */
static double slowing(double m)
{
        return 1e9 + (m > 300 ? 1e9 * log1p((m - 300) / 300) : 0) + 1e5 * sin(m * m);
}

/* Batches of an hour, freed at their end, the second and third far larger than the one before; then a leak. */
static double batches(double m)
{
        const double into = fmod(m, 120), size = 3e8 * pow(2.5, fmin(floor(m / 120), 2));

        return 1e8 + 1e4 * sin(m * m) + (m > 600 ? 2e7 * (m - 600) : into < 60 ? size * into / 60 : 0);
}

TEST(what_let_go_before_is_no_growth)
{
        unsigned growing[2] = { 0, 0 }, found = 0;

        begin();
        for (unsigned m = 0; m < 1100; m++) {
                push_every_minute(batches, m, m + 1);
                if (m < 600)
                        growing[m >= 120] += verdict() >= TREND_GROWING;
                else if (!found && verdict() >= TREND_GROWING)
                        found = m;
        }
        assert_true(growing[0] > 0);             /* nothing had been let go yet */
        assert_int_equal(growing[1], 0);         /* the batches after the first one, although each is a new high */
        assert_true(found && found < 600 + 300); /* when it is above them, in a window longer than a batch */
}

TEST(onset_stays_while_growth_goes_on)
{
        uint64_t told = UINT64_MAX;
        unsigned minutes = 0;

        begin();
        for (unsigned m = 0; m < 1500; m++) {
                push_every_minute(slowing, m, m + 1);
                struct trend_result r = answer();
                if (r.verdict < TREND_GROWING)
                        continue;
                assert_true(r.onset_ns <= told); /* never later, whichever window shows the growth */
                told = r.onset_ns;
                assert_true(told >= 295 * MIN && told <= 305 * MIN);
                minutes++;
        }
        assert_true(minutes > 1000);
}

/* As above, with growth that is a line for its first hours and noise of 1 %. */
static double slowing_noisy(double m)
{
        double s = m > 120 ? m - 120 : 0;

        return (1 + 0.01 * sin(m * m)) * (3e7 + 1.44e10 * log1p(s / 120) / 2);
}

/* Coarse buckets, which wide windows look at later, place the onset up to a bucket earlier: not another onset. */
TEST(onset_stays_when_seen_from_afar)
{
        uint64_t first = UINT64_MAX;

        begin();
        for (unsigned m = 0; m < 420; m++) {
                push_every_minute(slowing_noisy, m, m + 1);
                struct trend_result r = answer();
                if (r.verdict < TREND_GROWING)
                        continue;
                if (first == UINT64_MAX)
                        first = r.onset_ns;
                assert_int_equal(r.onset_ns, first);
        }
        assert_true(first >= 115 * MIN && first <= 125 * MIN);
}

/* Growth of 3 hours, a rest of `rest` minutes, during which it may fall by `fall`, and growth again. Its onset. */
static uint64_t onset_after(unsigned rest, double fall)
{
        struct trend_result r = { .onset_ns = UINT64_MAX };
        double bytes = 1e9;
        bool left = false;

        begin();
        for (unsigned m = 0; m < 600 + rest; m++) {
                bool rests = m >= 300 && m < 300 + rest;
                bytes += m < 120 || rests ? 0 : 5e6;
                if (rests && m == 300 + rest / 2)
                        bytes -= fall;
                (void)trend_push(&t, m * MIN, bytes + 1e4 * (m % 3));
                trend_close(&t, (m + 1) * MIN);
                r = answer();
                left |= m > 250 && r.verdict < TREND_GROWING;
                assert_true(r.verdict >= TREND_GROWING || r.onset_ns == UINT64_MAX);
        }
        assert_true(left && r.verdict >= TREND_GROWING);
        return r.onset_ns / MIN;
}

TEST(growth_that_rests_is_one_growth)
{
        assert_in_range(onset_after(120, 0), 115, 125);
        assert_in_range(onset_after(200, 0), 490, 510);     /* too long: another one */
        assert_in_range(onset_after(120, 0.8e9), 400, 440); /* what had grown is gone: another one */
}

/* 48 hours of 10 MB a minute on 20 GB: exact to many digits, from the first sample on. */
TEST(big_leak)
{
        struct time_to_limit ttl;

        begin();
        push_every_minute(leak, 0, 2881);
        struct trend_result r = answer();
        assert_int_equal(r.verdict, TREND_LEAK);
        assert_int_equal(r.evidence.basis, TREND_BASIS_LEAKS);
        assert_int_equal(r.evidence.missing, TEST_COUNT);
        assert_int_equal(r.evidence.passed & TESTS_LEAKS, TESTS_LEAKS);
        assert_true(fabs(r.slope / (1e7 / 60) - 1) < 1e-9);
        assert_true(r.slope_low < r.slope && r.slope < r.slope_high);
        assert_int_equal(r.onset_ns, 7);
        assert_int_equal(r.since_ns, 208 * MIN);          /* 192 minutes, and 16 more */
        assert_int_equal(r.evidence.span_ns, 2304 * MIN); /* 18 pairs of 64 minutes */
        assert_true(r.evidence.sure_rise_bytes > 2.2e10 && r.evidence.z > 1000);
        assert_true(trend_time_to_limit(&t, 1e11, &ttl));
        double left_s = (1e11 - leak((double)r.evidence.ended_ns / 6e10)) / (1e7 / 60);
        assert_true(ttl.early_s < left_s && left_s < ttl.late_s);
        assert_true(ttl.early_s > 0.98 * left_s && ttl.late_s < 1.03 * left_s);
}

/* A gap closes each of its minutes in turn: the answers are those of closing them one by one. */
TEST(gaps_in_turn)
{
        static struct trend steps;
        struct random r = { 42 };
        struct trend_result a, b;
        uint64_t time = 0;
        double value = 1e9;

        begin();
        steps = t; /* nothing is in it yet */
        for (int k = 0; k < 3000; k++) {
                unsigned minutes = random_below(&r, 50) ? random_below(&r, 4) : random_below(&r, 2000);

                time += minutes * MIN + random_below(&r, 60) * 1000000000u;
                value += 1e6 * minutes + 1e6 * random_normal(&r);
                assert_int_equal(trend_push(&t, time, value), TREND_PUSH_OK);
                for (uint64_t w = 0; w < time; w += (1 + random_below(&r, 3)) * MIN) {
                        if (w + 3000 * MIN < time)
                                continue;
                        trend_close(&steps, w);
                }
                assert_int_equal(trend_push(&steps, time, value), TREND_PUSH_OK);
                trend_result(&t, &a);
                trend_result(&steps, &b);
                assert_true(same_answer(&a, &b));
        }
        assert_true(a.as_of_ns > 10000 * MIN);
}

static void same_ladder(const struct ladder *a, const struct ladder *b)
{
        assert_int_equal(a->minutes, b->minutes);
        for (unsigned level = 0; level < LADDER_LEVELS; level++)
                for (unsigned age = 0; age < ladder_kept(a, level); age++) {
                        assert_true(same_number(ladder_floor(a, level, age), ladder_floor(b, level, age)));
                        if (level < LADDER_PLAIN_LEVELS + LADDER_HIGH_LEVELS)
                                assert_true(same_number(ladder_high(a, level, age), ladder_high(b, level, age)));
                }
}

static void same_windows(const struct windows *a, const struct windows *b)
{
        assert_true(a->known == b->known && a->rising == b->rising && a->rare_span == b->rare_span);
        for (unsigned i = 0; i < WINDOWS_ALL; i++)
                assert_memory_equal(windows_result(a, i), windows_result(b, i), sizeof(struct window_result));
}

static void same_state(struct trend a, struct trend b)
{
        same_ladder(&a.ladder, &b.ladder);
        assert_true(a.life.count == b.life.count && a.life.width == b.life.width && a.life.sum == b.life.sum &&
                    a.life.filled == b.life.filled && a.life.places == b.life.places);
        for (unsigned i = 0; i < a.life.count; i++)
                assert_true(same_number(life_means(&a.life)[i], life_means(&b.life)[i]));
        same_windows(&a.windows, &b.windows);
        for (unsigned i = 0; i < TREND_OPEN_MINUTES; i++)
                assert_true(a.open[i].n == b.open[i].n && a.open[i].sum == b.open[i].sum);
        memset(&a.ladder, 0, sizeof(a.ladder));
        memset(&b.ladder, 0, sizeof(b.ladder));
        memset(&a.life, 0, sizeof(a.life));
        memset(&b.life, 0, sizeof(b.life));
        memset(&a.windows, 0, sizeof(a.windows));
        memset(&b.windows, 0, sizeof(b.windows));
        memset(a.open, 0, sizeof(a.open));
        memset(b.open, 0, sizeof(b.open));
        assert_memory_equal(&a, &b, sizeof(a));
}

/* Noise with rises, falls and steps of random lengths, with a sample in most minutes. */
static double next_value(struct random *r, double *level, double *slope, double noise)
{
        if (random_below(r, 80) == 0)
                *slope = random_below(r, 3) == 0 ? noise * random_normal(r) / 4 : 0;
        if (random_below(r, 300) == 0)
                *level += 20 * noise * random_normal(r);
        *level = fmax(*level + *slope, 0);
        return fmax(*level + noise * random_normal(r), 0);
}

/* Whether somebody asks at each minute or only at the end, all answers and what is left behind are the same. */
TEST(asked_or_not)
{
        static struct trend asked, quiet;
        unsigned waited = 0, grew = 0;

        for (uint64_t seed = 1, step = thin(1, "random runs"); seed <= 60; seed += step) {
                struct random r = { seed };
                double level = 1e9, slope = 0, noise = 1e5 * (1 + random_below(&r, 100));
                struct trend_config c = trend_config_scaled(MIN);
                struct trend_result a, b;

                c.leak_after_ns = seed % 3 ? c.leak_after_ns : TREND_LEAK_AFTER_LEAST * MIN;
                trend_init(&asked, &c);
                trend_init(&quiet, &c);
                for (uint64_t m = 0; m < 1500; m++) {
                        const double value = next_value(&r, &level, &slope, noise);

                        if (random_below(&r, 200) == 0)
                                continue;
                        (void)trend_push(&asked, m * MIN, value);
                        (void)trend_push(&quiet, m * MIN, value);
                        waited += quiet.n_waiting > 0;
                        trend_result(&asked, &a);
                        assert_int_equal(quiet.verdict.now, a.verdict);
                        grew += a.verdict >= TREND_GROWING;
                        if (random_below(&r, 97) > 0)
                                continue;
                        trend_result(&quiet, &b);
                        assert_memory_equal(&a, &b, sizeof(a));
                }
                trend_result(&asked, &a);
                trend_result(&quiet, &b);
                assert_memory_equal(&a, &b, sizeof(a));
                trend_done(&asked);
                trend_done(&quiet);
        }
        assert_true(waited > 1000 && grew > 1000);
}

/* However long an interval without samples, the whole state is that of closing its minutes one by one. */
TEST(quiet_intervals)
{
        static struct trend one_by_one;
        static const unsigned gaps[] = { 3, 47, 50, 200, 900, 4000, 20000, LADDER_MINUTES };
        unsigned grew = 0, leaked = 0;

        for (uint64_t seed = 1, step = thin(1, "random runs"); seed <= 24; seed += step) {
                struct random r = { seed };
                uint64_t minute = random_below(&r, 1000), every = (uint64_t)1 << random_below(&r, 9);
                double value = 1e9, slope = 1e6 * random_below(&r, 3);
                struct trend_config c = trend_config_scaled(MIN);

                c.wait_minutes = random_below(&r, 2) ? TREND_OPEN_MINUTES - 1 : 0;
                trend_done(&t);
                trend_init(&t, &c);
                for (unsigned gap = 0; gap < 10; gap++) {
                        for (unsigned k = 0; k < 60 + random_below(&r, 300); k++) {
                                minute += every;
                                value += slope * (double)every + 1e4 * random_normal(&r);
                                (void)trend_push(&t, minute * MIN, value);
                        }
                        trend_done(&one_by_one);
                        one_by_one = trend_copied(&t);
                        grew += t.verdict.now == TREND_GROWING;
                        leaked += t.verdict.now == TREND_LEAK;
                        minute += 1 + random_below(&r, gaps[random_below(&r, 8)]);
                        uint64_t most = t.first_minute + t.ladder.minutes + LADDER_MINUTES;
                        uint64_t end = (minute < most ? minute : most) * MIN;
                        trend_close(&t, end);
                        while (trend_step(&one_by_one, end))
                                ;
                        same_state(t, one_by_one);
                }
        }
        assert_true(grew > 0 && leaked > 0);
}

/* The clock jumps by hours and days: old data ages, and nothing grows because of it. */
TEST(jumps)
{
        begin();
        push_every_minute(leak, 0, 300);
        assert_int_equal(verdict(), TREND_LEAK);
        assert_int_equal(trend_push(&t, 305 * MIN, leak(305)), TREND_PUSH_OK);
        assert_int_equal(verdict(), TREND_LEAK);
        assert_int_equal(trend_push(&t, (300 + 1440) * MIN, leak(300)), TREND_PUSH_OK);
        assert_int_equal(trend_closed_minutes(&t), 1740);
        assert_int_equal(t.jumps, 0);
        assert_true(verdict() < TREND_GROWING);
        /* As long as the widest level is kept: everything closes in turn ... */
        uint64_t far = 1740 + LADDER_MINUTES;
        assert_int_equal(trend_push(&t, far * MIN, 1e9), TREND_PUSH_OK);
        assert_int_equal(t.jumps, 0);
        assert_int_equal(trend_closed_minutes(&t), far);
        assert_int_equal(verdict(), TREND_UNKNOWN);
        /* ... beyond that it begins again, at once. */
        assert_int_equal(trend_push(&t, (far + LADDER_MINUTES + 1) * MIN, 1e9), TREND_PUSH_OK);
        assert_int_equal(t.jumps, 1);
        assert_int_equal(trend_closed_minutes(&t), 0);
        assert_int_equal(trend_push(&t, UINT64_MAX, 1e9), TREND_PUSH_OK);
        assert_int_equal(t.jumps, 2);
        assert_int_equal(trend_push(&t, 0, 1e9), TREND_PUSH_LATE);
        trend_close(&t, UINT64_MAX);
        assert_int_equal(t.samples, 305);
}

TEST(late_ones)
{
        begin();
        push_every_minute(level, 0, 100);
        for (unsigned m = 0; m < 99; m++)
                assert_int_equal(trend_push(&t, m * MIN, 1), TREND_PUSH_LATE);
        assert_int_equal(trend_push(&t, 99 * MIN, 1), TREND_PUSH_OK); /* earlier, but its minute is open */
        assert_int_equal(t.late, 99);
        assert_int_equal(t.samples, 101);
        assert_true(ladder_floor(&t.ladder, 0, 0) == 2e10);
        trend_close(&t, 100 * MIN);
        assert_true(ladder_floor(&t.ladder, 0, 0) == 1);
        assert_int_equal(trend_push(&t, 99 * MIN, 1), TREND_PUSH_LATE);
}

/* With a wait, samples up to so many minutes old still count, and any order gives the same answers. */
TEST(waiting)
{
        struct trend_config c = trend_config_scaled(MIN);
        struct random r = { 9 };
        struct trend_result a, b;
        static struct trend ordered;

        trend_done(&ordered);
        trend_init(&ordered, &c);
        c.wait_minutes = 5;
        trend_done(&t);
        trend_init(&t, &c);
        for (unsigned m = 0; m < 400; m++)
                (void)trend_push(&ordered, m * MIN + 7, leak(m) + 1e6 * (m % 7));
        trend_close(&ordered, 400 * MIN);
        assert_int_equal(trend_push(&t, 7, leak(0)), TREND_PUSH_OK);
        for (unsigned m = 1; m + 5 <= 400; m += 5) { /* five minutes at a time, shuffled */
                unsigned order[5] = { 0, 1, 2, 3, 4 };

                for (unsigned i = 4; i > 0; i--) {
                        unsigned j = random_below(&r, i + 1), swap = order[i];
                        order[i] = order[j];
                        order[j] = swap;
                }
                for (unsigned i = 0; i < 5; i++) {
                        unsigned at = m + order[i];
                        assert_int_equal(trend_push(&t, at * MIN + 7, leak(at) + 1e6 * (at % 7)), TREND_PUSH_OK);
                }
        }
        assert_int_equal(t.late, 0);
        for (unsigned m = 396; m < 400; m++)
                assert_int_equal(trend_push(&t, m * MIN + 7, leak(m) + 1e6 * (m % 7)), TREND_PUSH_OK);
        assert_int_equal(trend_push(&t, 393 * MIN, 1), TREND_PUSH_LATE);
        trend_close(&t, 400 * MIN);
        trend_result(&t, &a);
        trend_result(&ordered, &b);
        assert_true(same_answer(&a, &b));
        assert_int_equal(a.verdict, TREND_LEAK);
}

TEST(refused)
{
        const double bad[] = { NAN, INFINITY, -INFINITY, 1e30, -1e30, 1e308 };

        begin();
        push_every_minute(level, 0, 30);
        for (unsigned k = 0; k < 6; k++)
                assert_int_equal(trend_push(&t, 1000 * MIN, bad[k]), TREND_PUSH_REFUSED);
        assert_int_equal(t.refused, 6);
        assert_int_equal(trend_closed_minutes(&t), 29); /* a refused sample does not move time */
}

/* The open minute's samples change nothing until it closes. */
TEST(no_look_ahead)
{
        struct trend_result before, after;

        begin();
        push_every_minute(leak, 0, 250);
        trend_result(&t, &before);
        for (int k = 0; k < 50; k++)
                (void)trend_push(&t, 249 * MIN + 100 + (unsigned)k, k % 2 ? 0 : 1e15);
        trend_result(&t, &after);
        assert_true(same_answer(&before, &after));
}

TEST(restart)
{
        static struct trend fresh;
        struct trend_result a, b;

        begin();
        push_every_minute(leak, 0, 300);
        begin();
        push_every_minute(level, 1000, 1300);
        trend_result(&t, &a);
        struct trend_config c = trend_config_scaled(MIN);
        trend_done(&fresh);
        trend_init(&fresh, &c);
        for (unsigned m = 1000; m < 1300; m++)
                (void)trend_push(&fresh, m * MIN + 7, level(m));
        trend_result(&fresh, &b);
        assert_true(same_answer(&a, &b));
        assert_int_equal(a.verdict, TREND_STEADY);
        assert_int_equal(a.since_ns, 1018 * MIN);
}

/* Seconds for minutes: the same verdicts, 60 times as soon. */
TEST(scaled)
{
        struct trend_config c = trend_config_scaled(1000000000);
        static struct trend seconds;
        struct trend_result a, b;
        struct random r = { 8 };
        unsigned changes = 0;

        begin();
        trend_done(&seconds);
        trend_init(&seconds, &c);
        enum trend_verdict last = TREND_UNKNOWN;
        for (unsigned m = 0; m < 600; m++) {
                double v = 1e9 + (m > 60 ? 2e6 * (m - 60) : 0) + 5e6 * random_normal(&r);

                (void)trend_push(&t, m * MIN, v);
                (void)trend_push(&seconds, m * (MIN / 60), v);
                trend_result(&t, &a);
                trend_result(&seconds, &b);
                assert_true(a.verdict == b.verdict && a.evidence.passed == b.evidence.passed);
                assert_true(!a.has_slope || fabs(b.slope - 60 * a.slope) <= 1e-9 * fabs(b.slope));
                assert_true(a.onset_ns == UINT64_MAX ? b.onset_ns == UINT64_MAX : a.onset_ns == 60 * b.onset_ns);
                changes += a.verdict != last;
                last = a.verdict;
        }
        assert_true(changes >= 3 && last == TREND_LEAK);
}

TEST(earlier_with_a_smaller_leak_after)
{
        struct trend_config c = trend_config_scaled(MIN);

        c.leak_after_ns = 20 * MIN;
        trend_done(&t);
        trend_init(&t, &c);
        push_every_minute(steep, 0, 60);
        assert_int_equal(verdict(), TREND_LEAK);
        assert_int_equal(answer().since_ns, 40 * MIN); /* 24 minutes, and 16 more */
}

/* Invariants for any input. */
static void assert_sane(void)
{
        struct trend_result r = answer();
        struct time_to_limit ttl = { NAN, NAN };

        assert_true((unsigned)r.verdict <= TREND_LEAK);
        assert_true(r.since_ns <= r.as_of_ns);
        assert_int_equal(r.has_slope, r.evidence.basis != TREND_BASIS_NONE);
        if (r.has_slope) {
                assert_true(isfinite(r.slope) && r.slope_low < r.slope_high);
                assert_true(r.slope_low <= r.slope && r.slope <= r.slope_high);
                assert_true(isfinite(r.evidence.level_bytes) && !isnan(r.evidence.record_bytes));
                assert_true(r.evidence.ended_ns <= r.as_of_ns);
                assert_true(r.evidence.points >= (r.evidence.window == RARE_WINDOW ? 5 : 12));
                assert_true((unsigned)r.evidence.missing <= TEST_COUNT);
        }
        if (r.verdict >= TREND_GROWING && r.has_slope)
                assert_true(r.slope_low > 0 && r.evidence.sure_rise_bytes > 0); /* no word contradicts its interval */
        if (r.verdict >= TREND_GROWING) {
                assert_true(r.onset_ns <= r.as_of_ns && r.onset_ns >= t.first_ns);
                if (trend_time_to_limit(&t, 1e12, &ttl)) {
                        assert_true(isnan(ttl.early_s) || ttl.early_s >= 0);
                        assert_true(isnan(ttl.late_s) || ttl.late_s >= ttl.early_s);
                }
        } else {
                assert_true(r.onset_ns == UINT64_MAX);
                assert_false(trend_time_to_limit(&t, 1e12, &ttl));
        }
}

static double random_value(struct random *r, double last)
{
        switch (random_below(r, 12)) {
        case 0:
                return 0;
        case 1:
                return pow(10, 20 * random_unit(r)) - 1;
        case 2:
                return last * 1.01 + 1e6;
        case 3:
                return -last;
        case 4:
                return random_below(r, 20) ? last : NAN;
        default:
                return last + 1e6 * random_normal(r) + 1e6;
        }
}

TEST(fuzz)
{
        struct random r = { 2026 };
        unsigned seen[4] = { 0 };

        for (int round = 0; round < 300; round++) {
                struct trend_config c = trend_config_scaled(round % 5 ? MIN : 1 + random_below(&r, 1000));
                uint64_t step = c.resolution_ns, time = random_next(&r) >> (16 + random_below(&r, 40));
                unsigned wild = random_below(&r, 3), steepness = random_below(&r, 3);
                double value = 1e8;

                c.wait_minutes = random_below(&r, TREND_OPEN_MINUTES);
                c.leak_after_ns = step * (20 + random_below(&r, 400));
                trend_done(&t);
                trend_init(&t, &c);
                for (int k = 0; k < 600; k++) {
                        uint64_t minutes = random_below(&r, 60) ? random_below(&r, 3) : random_below(&r, 300);

                        if (random_below(&r, 3000) == 0)
                                minutes = random_next(&r) >> random_below(&r, 63);
                        time += minutes * step;
                        if (random_below(&r, 20) == 0)
                                time -= step * random_below(&r, 10);
                        if (wild)
                                value = random_value(&r, isnan(value) || fabs(value) > 1e19 ? 1e8 : value);
                        else
                                value = fmax(value, 1e8) + steepness * 1e6 * random_unit(&r);
                        (void)trend_push(&t, time, value);
                        if (random_below(&r, 10) == 0)
                                trend_close(&t, time);
                        assert_sane();
                        seen[verdict()]++;
                }
        }
        for (unsigned v = 0; v < 4; v++)
                assert_true(seen[v] > 100);
}

/*
 * Growth that ends, in noise of many sizes, at once or slowly, also with memory given back: for as long as the verdict
 * stays, its slope is one of a certain rise.
 */
TEST(plateaus)
{
        struct random r = { 11 };
        unsigned no_window = 0, without_slope = 0;

        for (int round = 0; round < 200; round++) {
                double value = 1e8, slope = 1e6 * (1 + random_below(&r, 20)), noise = slope * random_below(&r, 12);
                unsigned rises = 24 + random_below(&r, 300), brakes = random_below(&r, 40), end = rises + brakes + 200;
                double back = random_below(&r, 3) ? 0 : slope * random_below(&r, 30);

                begin();
                for (unsigned m = 0; m < end; m++) {
                        if (m == rises + brakes)
                                value -= back;
                        value += m < rises            ? slope
                                 : m < rises + brakes ? slope * (rises + brakes - m) / (brakes + 1)
                                                      : 0;
                        assert_int_equal(trend_push(&t, m * MIN, value + noise * random_normal(&r)), TREND_PUSH_OK);
                        assert_sane();
                        struct trend_result a = answer();
                        no_window += a.verdict >= TREND_GROWING && a.evidence.basis == TREND_BASIS_RECENT;
                        without_slope += a.verdict >= TREND_GROWING && !a.has_slope;
                }
                assert_true(answer().verdict <= TREND_GROWING || noise > 0);
        }
        assert_true(no_window > 100); /* the verdict stays without a window of its own */
        print_message("%u steps without a window that grows, %u of them without a slope\n", no_window, without_slope);
}

/* Flat, then a rise by a tenth of its level, then flat again, with noise that lasts for some minutes. */
static double fill(unsigned m, unsigned before, unsigned length, double noise, struct random *r)
{
        static double wander;
        double part = m < before ? 0 : m < before + length ? (double)(m - before) / length : 1;

        wander = 0.9 * wander + 0.4 * random_normal(r);
        return 2e8 * (1 + part / 10) * (1 + noise * wander);
}

/*
 * A cache that has filled, and stays as it is. Whatever it was called while it filled, that is taken back once it has
 * been flat for longer than the window that showed the rise.
 */
TEST(flat_after_a_rise)
{
        static const unsigned lengths[] = { 30, 60, 200, 300, 900 };
        static const double noises[] = { 0, 0.001, 0.003 };
        struct random r = { 5 };
        const unsigned step = (unsigned)thin(1, "lengths before the rise");
        unsigned leaks = 0;

        for (unsigned i = 0; i < 5 * 3 * 40; i++) {
                if (i / 15 % step)
                        continue;
                const unsigned length = lengths[i % 5], before = i / 15 * 50, top = before + length;
                const double noise = noises[i / 5 % 3];
                uint64_t span = 0;
                unsigned m = 0;

                begin();
                for (; m < top || verdict() >= TREND_GROWING; m++) {
                        (void)trend_push(&t, m * MIN, fill(m, before, length, noise, &r));
                        const struct trend_evidence e = answer().evidence;
                        if (e.basis == TREND_BASIS_GROWS || e.basis == TREND_BASIS_LEAKS)
                                span = e.span_ns / MIN;
                        leaks += m == top - 1 && verdict() == TREND_LEAK;
                }
                if (m > top + span + 2) /* the minute is over when the next one begins */
                        fail_msg(
                                "%u min, then a rise for %u, noise %.3f: taken back after %u flat ones, its window is "
                                "%u",
                                before, length, noise, m - top, (unsigned)span);
        }
        assert_true(leaks * step >= 10);
}
