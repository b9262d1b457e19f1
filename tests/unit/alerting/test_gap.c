/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules over bands while the stream is silent: what is judged only where it may
 * change says the same, moment by moment, as what is judged in full, and asks
 * far less.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/watch/alerting/internal.h"
#include "daemon/publish/publisher.h"
#include "daemon/judge/rules/alerts.h"
#include "daemon/watch/rule_file/rulebook.h"
#include "daemon/watch/targets/pipeline_internal.h"
#include "tests/unit/model/events.h"

#define BANDS 12

static const char text[] =
        "builtin: false\n"
        "groups:\n"
        "  - name: g\n"
        "    rules:\n"
        "      - {alert: increase, expr: 'increase(band, 10m) > 100kB', for: 1m}\n"
        "      - {alert: still, expr: 'not (increase(band, 10m) > 100kB)', keep_firing_for: 5m}\n"
        "      - {alert: rate, expr: 'rate(band, 1h) > 200kB/min or stddev(band, 1h) > 40kB'}\n"
        "      - {alert: slope, expr: 'slope(band, 1h) > 1kB/min', until: 'count(band, 30m) < 3'}\n"
        "      - {alert: most, expr: 'max(band, 6h) > 1.2MB and band > 500kB', for: 10m}\n"
        "      - {alert: few, expr: 'count(band, 24h) < 9'}\n"
        "      - {alert: high, expr: 'p99(band, 24h) > 1.4MB', for: 2h}\n"
        "      - {alert: old, expr: 'age(band) > 45m', until: 'age(band) > 2h'}\n"
        "      - {alert: young, expr: '20m >= age(band)'}\n"
        "      - {alert: absent, expr: 'absent(band, 50m)', for: 30m}\n"
        "      - {alert: area, expr: 'integral(band, 48h) > 9GB * 1s'}\n"
        "      - {alert: grows, expr: 'growing(band)'}\n"
        "      - {alert: steady, expr: 'steady(band) or leak(band)'}\n"
        "      - {alert: robust, expr: 'slope(band) > 1kB/min'}\n"
        "      - {alert: with-live, expr: 'band > 10% * live and band > 300kB'}\n"
        "      - {alert: whole-run, expr: 'min(band) < 300kB'}\n";

static struct feed feed;
static struct tracker *tracker;
static struct alerting *alerting;
static struct publisher *publisher;
static struct ruleset *rules;

/* Both judge the same data: one is given gaps as such. */
struct judge {
        struct alerts *alerts;
        struct rule_data data;
        uint64_t asked; /* spans */
        char told[65536];
};
static struct judge in_gaps, in_full;
static struct rule_data real;
static struct judge *judging;
static uint64_t ticks;

static bool count_span(void *ctx, struct rule_subject s, struct time_range range, struct trend_cell *ret)
{
        judging->asked++;
        return real.span(ctx, s, range, ret);
}

static void on_changed(void *ctx, const struct alert *alert, const struct rule_moment *at)
{
        struct judge *j = ctx;
        size_t used = strlen(j->told);

        snprintf(j->told + used, sizeof(j->told) - used, "%s/%s %s@%llu %s\n", alert->rule->name,
                 alert->band_label ? alert->band_label : "", alert_state_name(alert->state.now),
                 (unsigned long long)at->time_ns, alert->value_text ? alert->value_text : "?");
}

static uint64_t draw(uint64_t below);

/* As if turns of the loop ended now and then: in the middle of a moment, and between two. */
static bool in_turns;
static uint64_t waits, turns_state;

static bool now_and_then(void)
{
        turns_state = turns_state * 6364136223846793005u + 1442695040888963407u;
        return in_turns && turns_state >> 62 == 0;
}

static bool on_time_is_up(void *ctx)
{
        return now_and_then();
}

static bool judge(struct judge *j, const struct rule_moment *at, struct rule_gap gap)
{
        judging = j;
        return alerts_judge_run(j->alerts, at, gap);
}

static void same_states(uint64_t time_ns)
{
        if (strcmp(in_gaps.told, in_full.told) != 0)
                fail_msg("at %llu s:\n%s\nbut in full:\n%s", (unsigned long long)(time_ns / SECOND), in_gaps.told,
                         in_full.told);
        in_gaps.told[0] = in_full.told[0] = 0;
        assert_int_equal(alerts_count(in_gaps.alerts), alerts_count(in_full.alerts));
        for (size_t i = 0; i < alerts_count(in_gaps.alerts); i++) {
                const struct alert *a = alerts_get(in_gaps.alerts, i), *b = alerts_get(in_full.alerts, i);
                assert_string_equal(a->rule->name, b->rule->name);
                assert_int_equal(a->band, b->band);
                assert_memory_equal(&a->state, &b->state, sizeof(a->state));
        }
}

static enum tick_answer on_tick(void *ctx, const struct tracker_tick *tick)
{
        const struct rule_moment at = { .time_ns = tick->watermark_ns, .wall_ns = UNKNOWN_U64, .run = 1 };

        if (now_and_then() || !judge(&in_gaps, &at, (struct rule_gap){ tick->follows, tick->goes_on })) {
                waits++;
                return TICK_WAIT;
        }
        ticks++;
        assert_true(judge(&in_full, &at, (struct rule_gap){ .follows = false }));
        same_states(tick->watermark_ns);
        return TICK_TAKEN;
}

/* ------------------------------------------------------------------ a program */

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
        random_state = random_state * 6364136223846793005u + 1442695040888963407u;
        return (random_state >> 33) % below;
}

/* An event, and all the turns that it takes. */
#define ev(...)                                                                                                        \
        do {                                                                                                           \
                ev(__VA_ARGS__);                                                                                       \
                while (!tracker_resume(tracker))                                                                       \
                        ;                                                                                              \
        } while (0)

static void one_census(uint64_t time_ns)
{
        ev(&feed, HW_HEAP_PROF_SAMPLE_BEGIN, NONE, time_ns, "8", U(0));
        for (unsigned i = 0; i < BANDS; i++) {
                char label[16];
                snprintf(label, sizeof(label), "band%u", i);
                if (draw(5) == 0)
                        continue;
                ev(&feed, HW_HEAP_PROF_SAMPLE_STRING, NONE, time_ns, "18z", U(0),
                   U(100000 + draw(1500000) / (i + 1) + time_ns / SECOND * i), label);
        }
        ev(&feed, HW_HEAP_PROF_SAMPLE_END, NONE, time_ns, "8", U(0));
}

static void live(uint64_t time_ns)
{
        ev(&feed, HW_HEAP_LIVE, NONE, time_ns, "48", U(0), U(4000000 + draw(4000000)));
}

/* ------------------------------------------------------------------------ tests */

static int throw_away(void *ctx, const Hw__Update *update)
{
        return 0;
}

static void say(void *ctx, const char *line)
{
        fail_msg("%s", line);
}

static void open_judge(struct judge *j)
{
        const struct alerts_sink sink = { .ctx = j,
                                          .changed = on_changed,
                                          .time_is_up = j == &in_gaps ? on_time_is_up : NULL };

        j->data = real;
        j->data.span = count_span;
        j->asked = 0;
        j->told[0] = 0;
        j->alerts = alerts_new("t", rules, &j->data, &sink);
        assert_non_null(j->alerts);
        alerts_begin_run(j->alerts);
}

static int set_up(void **state)
{
        static const struct update_sink nowhere = { .send = throw_away };
        static const struct error_sink says = { .say = say };
        struct tracker_config config = tracker_config_scaled(TREND_MINUTE_NS);
        struct model_sink sink;

        (void)state; /* the seed */
        memset(&feed, 0, sizeof(feed));
        rules = rules_load_text("test", text, &says);
        assert_non_null(rules);
        publisher = publisher_new("t", 1, &nowhere);
        tracker = tracker_new(&config);
        sink = tracker_sink(tracker);
        feed.m = model_new(&sink);
        tracker_set_model(tracker, feed.m);
        publisher_attach(publisher, feed.m, NULL, &(const struct target_messages){ NULL });
        alerting = alerting_new(&(struct alerting_options){
                .target = "t", .rules = rules, .model = feed.m, .tracker = tracker, .publisher = publisher });
        assert_non_null(alerting);
        real = alerting_data(alerting);
        open_judge(&in_gaps);
        open_judge(&in_full);
        tracker_on_tick(tracker, on_tick, NULL);
        model_begin_run(feed.m, 1);
        tracker_begin_run(tracker);
        ticks = 0;
        return 0;
}

static int tear_down(void **state)
{
        alerts_destroy(&in_gaps.alerts);
        alerts_destroy(&in_full.alerts);
        alerting_destroy(&alerting);
        publisher_destroy(&publisher);
        tracker_destroy(&tracker);
        model_destroy(&feed.m);
        ruleset_destroy(&rules);
        return 0;
}

/* Silences of all lengths; what ends them is a sample of the heap or a census. */
static void the_same_as_in_full(void **state)
{
        uint64_t time_ns = SECOND, seed = *(const uint64_t *)*state;

        ev(&feed, HW_HEAP_PROF_BEGIN, NONE, 1, "184zzzzzzz", U(0), U(100000000), U(4), "", "", "", "", "", "", "");
        for (random_state = seed; time_ns < 30 * 3600 * SECOND;) {
                static const uint64_t silences[] = { 1, 1, 1, 2, 3, 50, 700, 4000, 20000 };

                one_census(time_ns);
                live(time_ns + SECOND / 3);
                time_ns += silences[draw(9)] * SECOND + draw(SECOND);
                if (draw(2))
                        live(time_ns);
                time_ns += draw(3) * SECOND;
        }
        assert_true(ticks > 3000);
}

/* In turns everything is the same, and nothing is taken while ticks wait. */
static void the_same_in_turns(void **state)
{
        in_turns = true;
        turns_state = waits = 0;
        the_same_as_in_full(state);
        in_turns = false;
        assert_true(waits > 1000);
}

/* An hour of silence: asked about when slices leave windows, not at each of its moments. */
static void an_hour_costs_little(void **state)
{
        ev(&feed, HW_HEAP_PROF_BEGIN, NONE, 1, "184zzzzzzz", U(0), U(100000000), U(4), "", "", "", "", "", "", "");
        for (uint64_t s = 1; s <= 60; s++)
                one_census(s * SECOND);
        live(60 * SECOND);
        in_gaps.asked = in_full.asked = 0;
        live(3660 * SECOND);
        assert_true(in_full.asked > 10000);
        if (in_gaps.asked > in_full.asked / 10)
                fail_msg("asked %llu times, in full %llu times", (unsigned long long)in_gaps.asked,
                         (unsigned long long)in_full.asked);
}

static uint64_t seeds[] = { 1, 2, 3 };

#define TURNS(i) cmocka_unit_test_prestate_setup_teardown(the_same_in_turns, set_up, tear_down, &seeds[i])
#define SAME(i)  cmocka_unit_test_prestate_setup_teardown(the_same_as_in_full, set_up, tear_down, &seeds[i])

int main(void)
{
        const struct CMUnitTest tests[] = {
                TURNS(0),
                SAME(1),
                SAME(2),
                cmocka_unit_test_setup_teardown(an_hour_costs_little, set_up, tear_down),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
