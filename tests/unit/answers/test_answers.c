/* SPDX-License-Identifier: BSD-3-Clause */
/* test_answers.c - the answers: from states, verdicts, bands, ends and alerts to words and advice (answers.txt). */
#include <stdio.h>
#include "tests/unit/test.h"

#include "client/answers/answers.h"
#include "client/answers/census.h"
#include "client/answers/evidence.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "proto/eventlog/advice.h"
#include "tests/unit/console/made_up.h"
#include "tests/unit/golden.h"
#include "tests/unit/phrase_slots.h"

#define MINUTE (60 * SECOND)

/* A synthetic target; whatever is NULL is not known. */
struct made {
        struct world_target t;
        Hw__Target state;
        Hw__Run run;
        Hw__Trend live, heap, foreign;
        Hw__Note before;
        Hw__Trends trends;
        Hw__EarlyWarning early;
        Hw__WindowStatistics of_run, *windows[1];
        Hw__TrendScale scale;
        Hw__Growth growth;
        Hw__GrowingBand growing, *growings[1];
        Hw__TimeToLimit limit;
        Hw__Band band;
        Hw__InfoTable table;
        Hw__CostCentre centre, *centres[1];
        struct world_band world_band, *bands[1];
        Hw__Census census;
        Hw__Heap heap_state;
        Hw__Process process;
        Hw__Health health;
        Hw__Advice advice, *advices[1];
        Hw__Alerts alerts;
        Hw__Alert alert, *alert_list[1];
        Hw__Gc gc;
        Hw__Nonmoving nonmoving;
};

static void verdict_of(Hw__Trend *t, Hw__Verdict verdict, double slope)
{
        SET(*t, verdict, verdict);
        SET(*t, slope, slope);
        SET(*t, slope_low, slope * 0.5);
        SET(*t, slope_high, slope * 2);
        SET(*t, since_ns, 4 * MINUTE);
}

/* A running program, steady, with a heap profile of one band. */
static void begin(struct made *m)
{
        *m = (struct made){ .state = HW__TARGET__INIT,
                            .run = HW__RUN__INIT,
                            .live = HW__TREND__INIT,
                            .heap = HW__TREND__INIT,
                            .foreign = HW__TREND__INIT,
                            .before = HW__NOTE__INIT,
                            .trends = HW__TRENDS__INIT,
                            .early = HW__EARLY_WARNING__INIT,
                            .of_run = HW__WINDOW_STATISTICS__INIT,
                            .scale = HW__TREND_SCALE__INIT,
                            .growth = HW__GROWTH__INIT,
                            .growing = HW__GROWING_BAND__INIT,
                            .limit = HW__TIME_TO_LIMIT__INIT,
                            .band = HW__BAND__INIT,
                            .table = HW__INFO_TABLE__INIT,
                            .centre = HW__COST_CENTRE__INIT,
                            .census = HW__CENSUS__INIT,
                            .heap_state = HW__HEAP__INIT,
                            .process = HW__PROCESS__INIT,
                            .health = HW__HEALTH__INIT,
                            .advice = HW__ADVICE__INIT,
                            .alerts = HW__ALERTS__INIT,
                            .alert = HW__ALERT__INIT,
                            .gc = HW__GC__INIT,
                            .nonmoving = HW__NONMOVING__INIT };
        (void)snprintf(m->t.name, sizeof(m->t.name), "api");
        m->t.run = 1;
        m->t.event_time_ns = 10 * MINUTE;
        m->t.target = &m->state;
        SET(m->state, state, HW__TARGET__STATE__STATE_RUNNING);
        m->state.run_info = &m->run;
        m->run.ghc_version = (char *)"9.4.7";
        SET(m->run, breakdown, HW__BREAKDOWN__BREAKDOWN_INFO_TABLE);
        m->t.trends[HW__SERIES__SERIES_LIVE] = &m->live;
        verdict_of(&m->live, HW__VERDICT__VERDICT_STEADY, 0);
        m->t.trend_state = &m->trends;
        m->trends.growth = &m->growth;
        SET(m->growth, where, HW__GROWTH__WHERE__WHERE_NOWHERE);
        m->t.census = &m->census;
        m->band.has_id = m->growing.has_band = 1;
        m->band.id = m->growing.band = 1;
        m->band.label = m->growing.label = (char *)"Main.CartItem";
        m->world_band = (struct world_band){ .id = 1, .def = &m->band, .bytes = 40 * MIB, .census = 1 };
        SET(m->census, number, 1);
        m->bands[0] = &m->world_band;
        SET_LIST(m->t, bands, m->bands, 1);
        m->t.heap = &m->heap_state;
        SET(m->heap_state, live_bytes, 42 * MIB);
        SET(m->heap_state, heap_size_bytes, 90 * MIB);
        m->t.health = &m->health;
        m->t.alerts = &m->alerts;
}

/* It rises by 10 MiB/s since 9m 50s. */
static void rise(struct made *m)
{
        m->trends.early = &m->early;
        m->early.has_series = m->early.has_rising = m->early.rising = 1;
        m->early.series = HW__SERIES__SERIES_LIVE;
        SET(m->early, rate, 10 * MIB);
        SET(m->early, onset_from_ns, 590 * SECOND);
        SET(m->early, onset_to_ns, 591 * SECOND);
        m->early.sentence = (char *)"live data rises";
}

/* No verdict yet, after so many samples of live data. */
static void before_verdict(struct made *m, uint64_t samples)
{
        begin(m);
        m->growth.where = HW__GROWTH__WHERE__WHERE_UNKNOWN;
        m->live = (Hw__Trend)HW__TREND__INIT;
        m->live.has_verdict = 1;
        SET(m->live, verdict_in_ns, 18 * MINUTE);
        SET_LIST(m->live, windows, m->windows, 1);
        m->windows[0] = &m->of_run;
        SET(m->of_run, count, samples);
}

static void leak_live(struct made *m)
{
        begin(m);
        verdict_of(&m->live, HW__VERDICT__VERDICT_LEAK, 912 * 1024.0);
        SET(m->live, onset_ns, 5 * MINUTE);
        m->growth.where = HW__GROWTH__WHERE__WHERE_LIVE;
        m->growings[0] = &m->growing;
        SET_LIST(m->growth, bands, m->growings, 1);
        SET(m->growing, verdict, HW__VERDICT__VERDICT_LEAK);
        SET(m->growing, slope, 880 * 1024.0);
        SET(m->growing, bytes, 40 * MIB);
}

/* All that is said of it goes into the text; a table shows the same. */
static struct answers answer_to(const char *test, const struct made *m, bool live)
{
        char text[2 * ANSWER_TEXT], what[16];
        struct answers a;

        answers_of(&a, &m->t, live);
        /* Tables show the same as the picture of one target. */
        struct answers b;

        answers_brief(&b, &m->t, live);
        assert_string_equal(b.word, a.word);
        assert_int_equal(b.tone, a.tone);
        assert_int_equal(b.rank, a.rank);
        assert_int_equal(b.verdict, a.verdict);
        assert_true(b.has_slope == a.has_slope && b.has_onset == a.has_onset && b.has_limit == a.has_limit);
        assert_true(b.slope >= a.slope && b.slope <= a.slope);
        assert_int_equal(b.onset_ns, a.onset_ns);
        assert_int_equal(b.limit_ns, a.limit_ns);
        assert_int_equal(b.culprit, a.culprit);
        assert_string_equal(b.culprit_text, a.culprit_text);
        assert_string_equal(b.answer[QUESTION_WRONG].text, a.answer[QUESTION_WRONG].text);
        golden_state(test);
        golden_says("word", a.word);
        for (int q = 0; q < QUESTIONS; q++) {
                assert_true(q == QUESTION_WHY || a.answer[q].text[0] != '\0');
                golden_says(question_key((enum target_question)q),
                            answer_whole(text, sizeof(text), &a.answer[q], "<T>"));
        }
        golden_says("culprit", a.culprit_text);
        golden_says("headline", answers_headline(text, sizeof(text), &a, "5m 00s"));
        for (size_t i = 0; i < ANSWER_CAVEATS; i++) {
                (void)snprintf(what, sizeof(what), "caveat %zu", i + 1);
                golden_says(what, i < a.n_caveats ? a.caveats[i] : "");
        }
        return a;
}

#define ask(m) answer_to(__func__, m, true)

static const char *advice(const struct made *m)
{
        struct answers a;

        answers_of(&a, &m->t, true);
        return a.answer[QUESTION_NEXT].key;
}

/* ---------------------------------------------------------------- verdicts */

TEST(a_steady_program_has_nothing_wrong)
{
        struct made m;
        struct answers a;

        begin(&m);
        a = ask(&m);
        assert_int_equal(a.answer[QUESTION_WRONG].tone, ANSWER_GOOD);
        SET(m.heap_state, live_time_ns, m.t.event_time_ns - 30 * SECOND);
        ask(&m);
        m.heap_state.live_time_ns = m.t.event_time_ns - 62 * SECOND; /* nobody takes it for that of now */
        ask(&m);
        m.heap_state.has_live_time_ns = 0;
        a = ask(&m);
        assert_string_equal(advice(&m), "nothing");
        assert_int_equal(a.culprit, 0);
}

/* Not since the verdict was reached: the window that it rests on is older. */
TEST(a_program_is_steady_since_its_window_began)
{
        Hw__Evidence evidence = HW__EVIDENCE__INIT;
        struct made m;
        struct answers a;

        begin(&m);
        SET(evidence, ended_ns, 10 * MINUTE);
        SET(evidence, span_ns, 6 * MINUTE);
        m.live.evidence = &evidence;
        SET(m.live, since_ns, 9 * MINUTE);
        a = ask(&m);
        assert_int_equal(a.answer[QUESTION_SINCE].time_ns, 4 * MINUTE);
        m.run.has_first_time_ns = 1;
        evidence.span_ns = 10 * MINUTE;
        ask(&m);
}

TEST(a_leak_is_told_from_end_to_end)
{
        struct made m;
        struct answers a;

        leak_live(&m);
        m.band.info_table = &m.table;
        m.table.type = (char *)"CartItem";
        m.table.module = (char *)"Main";
        m.table.source = (char *)"src/Main.hs:12:3-20";
        m.live.note_before = &m.before;
        SET(m.before, time_ns, 5 * MINUTE - 20000000);
        SET(m.before, what, HW__NOTE__WHAT__WHAT_MARKER);
        m.before.text = (char *)"cache on";
        m.trends.time_to_limit = &m.limit;
        SET(m.limit, low_ns, 35 * MINUTE);
        SET(m.limit, mid_ns, 42 * MINUTE);
        SET(m.limit, high_ns, 55 * MINUTE);
        SET(m.limit, source, HW__TIME_TO_LIMIT__SOURCE__SOURCE_MAX_HEAP);
        SET(m.limit, limit_bytes, 512 * MIB);
        SET(m.limit, as_of_ns, 60 * MINUTE);
        a = ask(&m);
        assert_int_equal(a.answer[QUESTION_WRONG].tone, ANSWER_BAD);
        assert_int_equal(a.answer[QUESTION_SINCE].time_ns, 5 * MINUTE);
        assert_int_equal(a.answer[QUESTION_UNTIL].time_ns, 102 * MINUTE);
        assert_int_equal(a.culprit, 1);
}

TEST(the_headline_of_a_run_that_is_over)
{
        Hw__BandContents contents = { PROTOBUF_C_MESSAGE_INIT(&hw__band_contents__descriptor),
                                      .name = (char *)"[Item]" };
        struct made m;
        struct answers a;

        leak_live(&m);
        m.growing.label = (char *)"ghc-prim:GHC.Types.:";
        m.live.note_after = &m.before;
        SET(m.before, time_ns, 5 * MINUTE + SECOND);
        SET(m.before, what, HW__NOTE__WHAT__WHAT_MESSAGE);
        m.before.text = (char *)"served 2400 requests";
        m.trends.time_to_limit = &m.limit;
        m.limit.has_low_ns = m.limit.has_mid_ns = 1;
        m.limit.low_ns = m.limit.mid_ns = 42 * MINUTE;
        ask(&m);
        m.world_band.contents = &contents;
        for (unsigned part = 3; part > 0; part--) {
                contents.bytes = m.world_band.bytes / part;
                ask(&m);
        }
        SET(contents, of_bytes, 2 * contents.bytes); /* told by an earlier census */
        ask(&m);
        m.world_band.contents = NULL;
        m.before.what = HW__NOTE__WHAT__WHAT_MARKER;
        m.state.state = HW__TARGET__STATE__STATE_ENDED; /* no limit lies ahead */
        a = ask(&m);
        assert_false(a.answer[QUESTION_UNTIL].has_time);
}

TEST(before_a_verdict_there_is_a_provisional_growth_and_a_countdown)
{
        struct made m;

        begin(&m);
        m.growth.where = HW__GROWTH__WHERE__WHERE_UNKNOWN;
        m.live = (Hw__Trend)HW__TREND__INIT;
        m.live.has_verdict = 1;
        SET(m.live, verdict_in_ns, 6 * MINUTE);
        SET(m.live, provisional_slope, 10240);
        SET(m.live, provisional_low, 5120);
        SET(m.live, provisional_high, 20480);
        SET(m.live, provisional_span_ns, 2 * MINUTE);
        ask(&m);
        SET(m.live, verdict_by_ns, 32 * MINUTE);
        ask(&m);
        m.live.has_verdict_by_ns = 0;
        m.state.state = HW__TARGET__STATE__STATE_ENDED;
        m.live.verdict_in_ns = 0;
        ask(&m);
        assert_string_equal(advice(&m), "too-short");
        SET(m.run, first_time_ns, 10 * MINUTE);
        ask(&m);
        m.run.has_first_time_ns = 0;
        m.state.state = HW__TARGET__STATE__STATE_RUNNING;
        m.t.trends[HW__SERIES__SERIES_LIVE] = NULL;
        ask(&m);
        assert_string_equal(advice(&m), "no-live-yet");
        m.advices[0] = &m.advice;
        SET_LIST(m.health, advice, m.advices, 1);
        SET(m.advice, code, HW_ADVICE_NOT_FLUSHED);
        ask(&m);
}

/* What is known comes first, and then what would settle it. */
TEST(before_a_verdict_it_says_what_is_known)
{
        struct made m;
        struct answers a;

        before_verdict(&m, 2);
        ask(&m);
        SET(m.heap_state, live_samples, 12); /* newer than the trend */
        ask(&m);
        before_verdict(&m, 12);
        ask(&m);
        SET(m.heap_state, max_live_bytes, 50 * MIB); /* a sawtooth: it does rise, as it did before */
        ask(&m);
        m.heap_state.has_max_live_bytes = 0;
        SET(m.of_run, p50, 3 * MIB); /* far above the usual, and no peak seen before */
        SET(m.of_run, max, 42 * MIB);
        ask(&m);
        SET(m.of_run, integral, 10.0 * 7 * MIB);
        m.of_run.from_ns = 3 * SECOND;
        m.of_run.to_ns = 13 * SECOND;
        m.world_band.seen = true;
        m.trends.growth = NULL; /* nothing was said of bands yet */
        ask(&m);
        m.world_band.seen = false;
        m.trends.growth = &m.growth;
        SET(m.heap_state, live_time_ns, 13 * SECOND);
        ask(&m);
        m.heap_state.live_time_ns = 14 * SECOND; /* where the integral ends is not known any more */
        ask(&m);
        m.heap_state.live_time_ns = 8 * SECOND;
        ask(&m);
        m.heap_state.live_time_ns = 30 * SECOND; /* the average is of long ago */
        ask(&m);
        m.heap_state.has_live_time_ns = 0;
        m.of_run.has_integral = 0;
        m.of_run.max = 50 * MIB;
        SET(m.trends, limit_bytes, 400 * MIB);
        ask(&m);
        rise(&m);
        ask(&m);
        m.growings[0] = &m.growing;
        SET_LIST(m.early, bands, m.growings, 1);
        SET(m.growing, bytes, 40 * MIB);
        SET(m.growing, gained_bytes, 38 * MIB);
        SET(m.early, explained_share, 0.92);
        a = ask(&m);
        assert_true(answers_grow(&a) && a.has_onset && !a.has_limit);
        SET(m.early, limit_bytes, 400 * MIB);
        SET(m.early, soonest_ns, 20 * SECOND);
        SET(m.early, mid_ns, 30 * SECOND);
        SET(m.early, latest_ns, 40 * SECOND);
        a = ask(&m);
        assert_true(a.has_limit && a.limit_ns == 30 * SECOND);

        /* The alert says no more than that: it adds neither its sentence nor the advice to read it. */
        m.early.has_runs_out = m.early.runs_out = 1;
        m.alert_list[0] = &m.alert;
        SET_LIST(m.alerts, alerts, m.alert_list, 1);
        m.alert.rule = (char *)"memory-runs-out";
        m.alert.severity = (char *)"critical";
        SET(m.alert, state, HW__ALERT__STATE__STATE_FIRING);
        a = ask(&m);
        assert_int_equal(a.answer[QUESTION_WRONG].tone, ANSWER_BAD);
        m.early.mid_ns = 52 * SECOND / 1000;
        a = ask(&m);
        assert_true(a.has_limit && a.limit_ns == 0);
        assert_string_equal(a.answer[QUESTION_UNTIL].key, "meets-now");
        assert_false(a.answer[QUESTION_UNTIL].has_time);
        m.alert.rule = (char *)"mine";
        ask(&m);
}

/* Copying doubles the slope of the heap, which is judged first: live data is known more rarely. */
TEST(a_rise_of_live_data_leads_while_they_are_not_judged)
{
        struct made m;
        struct answers a;

        before_verdict(&m, 60);
        m.t.trends[HW__SERIES__SERIES_HEAP_SIZE] = &m.heap;
        verdict_of(&m.heap, HW__VERDICT__VERDICT_GROWING, 724 * 1024.0);
        rise(&m);
        a = ask(&m);
        assert_true(a.has_onset && a.onset_ns == 590 * SECOND + SECOND / 2);
        m.trends.early = NULL;
        ask(&m);
}

/* The verdict leads; where the rise of the last seconds meets the limit sooner, that is said. */
TEST(the_nearer_limit_is_shown)
{
        struct made m;
        struct answers a;

        leak_live(&m);
        m.trends.time_to_limit = &m.limit;
        m.limit.has_low_ns = 1;
        SET(m.limit, mid_ns, 2 * MINUTE);
        rise(&m);
        SET(m.early, limit_bytes, 400 * MIB);
        SET(m.early, soonest_ns, 20 * SECOND);
        SET(m.early, mid_ns, 30 * SECOND);
        SET(m.early, latest_ns, 40 * SECOND);
        SET(m.early, as_of_ns, MINUTE);
        a = ask(&m);
        assert_true(a.limit_ns == 2 * MINUTE); /* it may rise, and does not run out by that */
        m.early.has_runs_out = m.early.runs_out = 1;
        a = ask(&m);
        assert_true(a.limit_ns == 30 * SECOND);
        assert_int_equal(a.answer[QUESTION_UNTIL].time_ns, MINUTE + 30 * SECOND);
        m.early.has_held_back = m.early.held_back = 1;
        ask(&m);
        m.limit.mid_ns = 10 * SECOND;
        a = ask(&m);
        assert_true(a.limit_ns == 10 * SECOND);
        m.early.has_at_limit = m.early.at_limit = 1; /* what is met is not met in 30 s: live data fill it then */
        m.growth.where = HW__GROWTH__WHERE__WHERE_UNKNOWN;
        verdict_of(&m.live, HW__VERDICT__VERDICT_UNKNOWN, 0);
        SET_LIST(m.alerts, alerts, m.alert_list, 1);
        m.alert_list[0] = &m.alert;
        SET(m.alert, state, HW__ALERT__STATE__STATE_FIRING);
        m.alert.rule = (char *)"heap-limit-met";
        a = ask(&m);
        assert_string_equal(a.answer[QUESTION_UNTIL].key, "fills-limit");
        assert_true(a.limit_ns == 30 * SECOND);
        m.early.mid_ns = 0;
        a = ask(&m);
        assert_string_equal(a.answer[QUESTION_UNTIL].key, "at-limit");
        assert_true(a.has_limit && a.limit_ns == 0);
}

/* A number is said with its age sooner while it rises, and not at all while it is of now. */
TEST(an_old_number_has_its_age)
{
        struct made m;
        uint64_t age_ns;

        begin(&m);
        SET(m.heap_state, live_time_ns, m.t.event_time_ns - 2 * SECOND);
        assert_false(live_is_old(&m.t, &age_ns));
        rise(&m); /* by 20 of 42 MiB since */
        assert_true(live_is_old(&m.t, &age_ns) && age_ns == 2 * SECOND);
        m.early.rate = MIB;
        assert_false(live_is_old(&m.t, &age_ns));
        SET(m.run, start_wall_ns, 1000 * SECOND); /* of now is what its daemon's clock says */
        m.t.published_wall_ns = 1010 * SECOND + m.t.event_time_ns;
        assert_true(live_is_old(&m.t, &age_ns) && age_ns == 12 * SECOND);
        SET(m.early, as_of_ns,
            m.t.event_time_ns - SECOND); /* the sentence of the rise has an age, too: both are of one moment */
        assert_true(live_is_old(&m.t, &age_ns) && age_ns == 12 * SECOND); /* that was long ago */
        m.t.published_wall_ns = 1002 * SECOND + m.t.event_time_ns;
        m.early.rate = 20 * MIB;
        assert_true(live_is_old(&m.t, &age_ns) && age_ns == SECOND);
}

/* Threads that pile up are what grows, whatever bands and live data say so far, but for a verdict that counts them. */
TEST(test_threads_pile_up)
{
        static struct made m;
        Hw__ThreadRise rise = HW__THREAD_RISE__INIT;

        begin(&m);
        m.trends.threads = &rise;
        rise.sentence = (char *)"2,919 threads, +112/s";
        ask(&m);
        m.state.state = HW__TARGET__STATE__STATE_ENDED;
        assert_string_equal(ask(&m).answer[QUESTION_NEXT].key, "threads-pile-up");
}

/* A run of `length_ns` that is over, judged in steps of `step_ns`, without a verdict. */
static void end_early(struct made *m, uint64_t length_ns, uint64_t step_ns, bool too_short)
{
        begin(m);
        m->state.state = HW__TARGET__STATE__STATE_ENDED;
        m->growth.where = HW__GROWTH__WHERE__WHERE_UNKNOWN;
        m->live = (Hw__Trend)HW__TREND__INIT;
        m->live.has_verdict = 1;
        m->live.has_verdict_in_ns = too_short;
        m->trends.scale = &m->scale;
        SET(m->scale, resolution_ns, step_ns);
        SET(m->run, first_time_ns, 3 * SECOND);
        m->t.event_time_ns = 3 * SECOND + length_ns;
}

TEST(the_advised_step_gives_a_verdict)
{
        static const struct {
                uint64_t length_ns, step_ns;
                bool live;
        } cases[] = {
                { 5 * MINUTE, MINUTE, true },   { 5 * MINUTE, MINUTE, false }, { 17 * MINUTE, MINUTE, false },
                { 12 * SECOND, SECOND, false }, { 4800000000, SECOND, false }, { 4799000000, SECOND, false },
                { SECOND, 100000000, false },
        };
        struct made m;

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                end_early(&m, cases[i].length_ns, cases[i].step_ns, true);
                answer_to(__func__, &m, cases[i].live);
        }
        end_early(&m, 5 * SECOND, 100000000, false); /* as long as it takes, but steps are empty */
        answer_to(__func__, &m, false);
        m.state.state = HW__TARGET__STATE__STATE_RUNNING; /* and while it runs there is more to say than "nothing" */
        ask(&m);
        m.state.uri = (char *)"unix:/run/user/1/heapwatch/agent-42.sock";
        ask(&m);
        m.state.uri = NULL;
        assert_string_equal(advice(&m), "few-collections");
}

TEST(a_running_program_is_not_told_a_longer_step)
{
        struct made m;

        end_early(&m, SECOND, SECOND, true);
        m.state.state = HW__TARGET__STATE__STATE_RUNNING;
        SET(m.live, verdict_in_ns, 17 * SECOND);
        ask(&m);
        m.live.has_verdict_in_ns = 0;
        m.state.uri = (char *)"outside:7@1"; /* where no census is a collection */
        ask(&m);
}

TEST(an_address_is_called_one)
{
        struct made m;

        end_early(&m, SECOND, 100000000, true);
        answer_to(__func__, &m, false);
        m.band.label = (char *)"0x4c20d8";
        answer_to(__func__, &m, false);
        m.run.breakdown = HW__BREAKDOWN__BREAKDOWN_CLOSURE_TYPE;
        answer_to(__func__, &m, false);
}

TEST(where_decides_whose_verdict_is_shown)
{
        struct made m;

        begin(&m);
        m.t.trends[HW__SERIES__SERIES_HEAP_SIZE] = &m.heap;
        verdict_of(&m.heap, HW__VERDICT__VERDICT_GROWING, 4096);
        m.growth.where = HW__GROWTH__WHERE__WHERE_RETENTION;
        ask(&m);
        assert_string_equal(advice(&m), "retention");
        m.t.gc = &m.gc;
        m.gc.nonmoving = &m.nonmoving;
        SET(m.nonmoving, cycles, 3);
        ask(&m);

        m.t.trends[HW__SERIES__SERIES_FOREIGN] = &m.foreign;
        verdict_of(&m.foreign, HW__VERDICT__VERDICT_LEAK, 1 << 20);
        m.growth.where = HW__GROWTH__WHERE__WHERE_FOREIGN;
        ask(&m);
        assert_string_equal(advice(&m), "foreign");

        m.growth.where = HW__GROWTH__WHERE__WHERE_UNKNOWN; /* resident memory grows, where has not shown */
        m.t.trends[HW__SERIES__SERIES_HEAP_SIZE] = NULL;
        ask(&m);
        assert_string_equal(advice(&m), "foreign");
        m.t.trends[HW__SERIES__SERIES_RSS] = &m.foreign;
        m.t.trends[HW__SERIES__SERIES_FOREIGN] = NULL;
        ask(&m);
        assert_string_equal(advice(&m), "unplaced");
        m.t.trends[HW__SERIES__SERIES_RSS] = NULL;
        m.t.trends[HW__SERIES__SERIES_FOREIGN] = NULL; /* live is flat, the rest has not shown */
        ask(&m);
        m.t.trends[HW__SERIES__SERIES_LIVE] = NULL; /* attached to lately: no major collection since */
        verdict_of(&m.foreign, HW__VERDICT__VERDICT_STEADY, 0);
        m.foreign.series = HW__SERIES__SERIES_HEAP_SIZE;
        m.t.trends[HW__SERIES__SERIES_HEAP_SIZE] = &m.foreign;
        ask(&m);
}

/* -------------------------------------------------------------------- ends */

/* A band that is new has no verdict yet: while it gained most it is named, not one that was there from the start. */
TEST(a_new_band_is_named_before_its_verdict)
{
        struct made m;
        Hw__GrowingBand new = HW__GROWING_BAND__INIT, *news[] = { &new };

        leak_live(&m);
        rise(&m);
        SET(new, band, 2);
        new.label = (char *)"ARR_WORDS";
        SET(new, bytes, 94 * MIB);
        SET(new, gained_bytes, (double)(94 * MIB));
        SET_LIST(m.early, bands, news, 1);
        ask(&m);
        m.growth.n_bands = 0; /* no band is judged to grow */
        ask(&m);
        m.growth.n_bands = 1;
        m.growing.slope = 8 * MIB; /* for 10 s: its verdict tells as much */
        ask(&m);
}

/* A program that is killed at once ends at no time of its run. */
TEST(an_end_before_any_event_has_no_time)
{
        struct made m;
        struct account account;

        begin(&m);
        m.state.state = HW__TARGET__STATE__STATE_CRASHED;
        SET(m.state, exit_signal, 9);
        m.state.detail = (char *)"killed by signal 9 (SIGKILL)";
        account_of(&account, &m.t, true);
        golden_state(__func__);
        golden_says("account", account.rows[0].says.text);
        assert_true(account.rows[0].says.has_time);
        m.t.event_time_ns = 0;
        m.t.census = NULL;
        m.t.n_bands = 0;
        ask(&m);
        account_of(&account, &m.t, true);
        golden_says("account", account.rows[0].says.text);
        assert_false(account.rows[0].says.has_time);
        m.state.state = HW__TARGET__STATE__STATE_RUNNING; /* before it: whether there is a heap profile is not known */
        ask(&m);
}

/* A program may be idle for long before it ends: its last event is not its end, nor is its last census of then. */
TEST(an_idle_program_ends_when_it_does)
{
        static const struct {
                uint64_t sampled_s, told_s; /* into the run; 0: not */
                uint64_t end_s;
        } cases[] = {
                { 0, 0, 150 },      { 3000, 0, 3000 }, { 3000, 3001, 3001 },
                { 0, 151, 151 },    { 100, 0, 150 },   { 3000, 9000, 3000 }, /* told when the daemon was back */
                { 3000, 10, 3000 },
        };
        const uint64_t start_ns = UINT64_C(1700000000) * NS_PER_S;
        Hw__Process process = HW__PROCESS__INIT;
        struct account account;
        struct made m;

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                begin(&m);
                m.t.event_time_ns = 150 * NS_PER_S;
                SET(m.run, start_wall_ns, start_ns);
                m.heap_state.process = &process;
                process.has_sampled_wall_ns = cases[i].sampled_s > 0;
                process.sampled_wall_ns = start_ns + cases[i].sampled_s * NS_PER_S;
                m.state.state = HW__TARGET__STATE__STATE_CRASHED;
                m.state.has_exit_signal = cases[i].told_s > 0;
                m.state.exit_signal = 9;
                SET(m.state, state_since_wall_ns, start_ns + cases[i].told_s * NS_PER_S);
                account_of(&account, &m.t, true);
                assert_int_equal(account.rows[0].says.time_ns, cases[i].end_s * NS_PER_S);
        }
}

/* C memory beside a reserved heap: the limit that it rises to is not the least one, and may have ended it. */
TEST(memory_off_the_heap_meets_the_address_space)
{
        struct made m;

        begin(&m);
        rise(&m);
        m.trends.has_limit_bytes = m.trends.has_limit_source = 1;
        m.trends.limit_bytes = 400 * MIB;
        m.trends.limit_source = HW__TIME_TO_LIMIT__SOURCE__SOURCE_RESERVED;
        m.early.series = HW__SERIES__SERIES_FOREIGN;
        m.early.has_mid_ns = m.early.has_limit_bytes = m.early.has_limit_source = 1;
        m.early.mid_ns = 30 * MINUTE;
        m.early.limit_bytes = 600 * MIB;
        m.early.limit_source = HW__TIME_TO_LIMIT__SOURCE__SOURCE_ADDRESS_SPACE;
        assert_string_equal(ask(&m).answer[QUESTION_UNTIL].key, "too-early");
        m.early.has_runs_out = m.early.runs_out = 1;
        m.state.state = HW__TARGET__STATE__STATE_CRASHED;
        m.state.has_exit_signal = 1;
        m.state.exit_signal = 11;
        assert_string_equal(ask(&m).answer[QUESTION_UNTIL].key, "may-have-filled");
}

/* A heap of large objects is exhausted at half of -M: what the other half is for is said. */
TEST(an_exhausted_heap_may_be_half_of_its_limit)
{
        struct made m;
        struct account account;

        begin(&m);
        m.state.state = HW__TARGET__STATE__STATE_CRASHED;
        SET(m.state, exit_status, 251);
        SET(m.trends, limit_bytes, 400 * MIB);
        SET(m.trends, limit_source, HW__TIME_TO_LIMIT__SOURCE__SOURCE_MAX_HEAP);
        SET(m.heap_state, max_heap_size_bytes, 220 * MIB);
        for (unsigned n = 0; n < 2; n++) {
                account_of(&account, &m.t, true);
                golden_state(__func__);
                for (size_t i = 0; i < account.n; i++)
                        if (!strcmp(account.rows[i].key, "limit"))
                                golden_says("limit", account.rows[i].says.text);
                m.heap_state.max_heap_size_bytes = 396 * MIB;
        }
}

TEST(how_it_ended_comes_first)
{
        struct made m;
        struct answers a;

        begin(&m);
        m.state.state = HW__TARGET__STATE__STATE_CRASHED;
        SET(m.state, exit_signal, 9);
        m.state.detail = (char *)"killed by signal 9 (SIGKILL)";
        a = ask(&m);
        assert_int_equal(a.tone, ANSWER_BAD);
        assert_string_equal(advice(&m), "killed");
        m.state.has_out_of_cpu = m.state.out_of_cpu = 1;
        assert_string_equal(advice(&m), "out-of-cpu");
        m.state.out_of_cpu = 0;
        m.state.exit_signal = 6;
        m.state.detail = (char *)"killed by signal 6 (SIGABRT)";
        m.run.pid = 4711;
        ask(&m);

        leak_live(&m);
        m.state.state = HW__TARGET__STATE__STATE_CRASHED;
        SET(m.state, exit_signal, 9);
        m.state.detail = (char *)"killed by signal 9 (SIGKILL)";
        ask(&m);

        begin(&m);
        m.state.state = HW__TARGET__STATE__STATE_CRASHED;
        m.state.detail = (char *)"process 12 is gone, and its log has no end marker";
        ask(&m);
        assert_string_equal(advice(&m), "failed");
        m.state.has_oom_killed = m.state.oom_killed = 1;
        assert_string_equal(advice(&m), "out-of-memory");

        begin(&m);
        m.state.state = HW__TARGET__STATE__STATE_CRASHED;
        SET(m.state, exit_status, 251);
        m.state.detail = (char *)"ended with status 251, heap exhausted at -M64m";
        assert_string_equal(advice(&m), "heap-exhausted");
        m.state.state = HW__TARGET__STATE__STATE_FAILED;
        m.state.exit_status = 3;
        m.state.detail = (char *)"ended with status 3";
        ask(&m);
        m.state.detail = (char *)"the command that started it ended with status 3";
        ask(&m);
        m.state.state = HW__TARGET__STATE__STATE_ENDED;
        m.state.exit_status = 0;
        m.state.has_kept = m.state.kept = 1;
        ask(&m);
        SET(m.trends, limit_bytes, 512 * MIB);
        SET(m.trends, limit_source, HW__TIME_TO_LIMIT__SOURCE__SOURCE_MEMORY);
        ask(&m);
}

/* A program that grows straight into its limit in seconds has no verdict: the words are about what is known. */
TEST(a_rise_into_the_limit_is_told_without_a_verdict)
{
        Hw__Note note = HW__NOTE__INIT;
        struct made m;
        struct answers a;

        begin(&m);
        m.live.verdict = HW__VERDICT__VERDICT_UNKNOWN;
        m.growth.where = HW__GROWTH__WHERE__WHERE_UNKNOWN;
        m.state.state = HW__TARGET__STATE__STATE_CRASHED;
        SET(m.state, exit_status, 251);
        m.state.detail = (char *)"ended with status 251, GHC's for an exhausted heap";
        SET(m.run, max_heap_bytes, 400 * MIB);
        SET(m.trends, limit_bytes, 400 * MIB);
        SET(m.trends, limit_source, HW__TIME_TO_LIMIT__SOURCE__SOURCE_MAX_HEAP);
        ask(&m);

        rise(&m);
        m.early.onset_from_ns = 9 * MINUTE;
        m.early.onset_to_ns = 9 * MINUTE + 2 * SECOND;
        m.early.sentence = (char *)"live data had risen for 59.0 s, from 2.00 MiB to 42.0 MiB, by 0.68 MiB/s";
        m.early.note_before = &note;
        SET(note, time_ns, 9 * MINUTE + SECOND);
        SET(note, what, HW__NOTE__WHAT__WHAT_MARKER);
        note.text = (char *)"deploy";
        m.world_band.seen = true;
        m.world_band.first_bytes = MIB;
        SET(m.census, time_ns, 10 * MINUTE - SECOND);
        a = ask(&m);
        assert_true(a.has_onset && a.onset_ns == 9 * MINUTE + SECOND && a.has_slope && a.slope == 10 * MIB);
        assert_true(a.ended_rising && !answers_grow(&a)); /* how it ended comes first */

        /* where only the latest onset is known, how far the marker is from it is counted from the time that is shown */
        m.early.has_since_start = m.early.since_start = 1;
        note.time_ns = 9 * MINUTE - SECOND;
        a = ask(&m);
        assert_true(a.onset_is_latest && a.onset_ns == 9 * MINUTE + 2 * SECOND);
        m.early.since_start = 0;

        /* what the bands had gained is as sure after the end as before it */
        m.growings[0] = &m.growing;
        SET(m.growing, band, 1);
        SET(m.growing, bytes, 40 * MIB);
        SET(m.growing, gained_bytes, (double)(39 * MIB));
        m.growing.label = (char *)"ARR_WORDS";
        SET_LIST(m.early, bands, m.growings, 1);
        SET(m.early, explained_share, 1);
        m.heap_state.live_bytes = MIB; /* freed by its last collection */
        ask(&m);

        /* unless it rose on after that census */
        SET(m.early, level_time_ns, m.t.event_time_ns - 5 * SECOND);
        SET(m.early, census_time_ns, m.early.level_time_ns - 50 * SECOND);
        a = ask(&m);
        assert_int_equal(a.answer[QUESTION_GROWS].time_ns, m.early.census_time_ns);
        m.early.n_bands = 0;
        m.heap_state.live_bytes = 42 * MIB;

        /* a service that was stopped; one that has ended by itself had its reasons */
        m.state.state = HW__TARGET__STATE__STATE_ENDED;
        m.state.exit_status = 0;
        a = ask(&m);
        assert_false(a.ended_rising);
        SET(m.state, exit_signal, 15);
        ask(&m);
        m.early.series = HW__SERIES__SERIES_FOREIGN;
        a = ask(&m);
        assert_string_equal(a.answer[QUESTION_GROWS].key, "rises-outside");
        assert_string_equal(a.answer[QUESTION_NEXT].key, "foreign");
        m.early.series = HW__SERIES__SERIES_LIVE;
        m.state.state = HW__TARGET__STATE__STATE_CRASHED;
        m.state.exit_status = 251;
        m.state.has_exit_signal = 0;
        m.state.exit_signal = 0;
        assert_string_not_equal(advice(&m), "heap-exhausted");

        /* the last census saw a part of the rise: what it found that part to be is said to be of then */
        m.world_band.first_bytes = MIB;
        m.world_band.bytes = 18 * MIB;
        m.census.time_ns = 9 * MINUTE + 20 * SECOND;
        SET(m.census, total_bytes, 20 * MIB);
        a = ask(&m);
        assert_string_equal(a.answer[QUESTION_GROWS].key, "likely-to-census");

        /* the only censuses are from before the rise: nothing is said to be spread over many bands */
        m.world_band.first_bytes = m.world_band.bytes = MIB;
        m.census.time_ns = 8 * MINUTE;
        verdict_of(&m.heap, HW__VERDICT__VERDICT_STEADY, 0);
        m.world_band.trend = &m.heap;
        ask(&m);
        assert_string_equal(advice(&m), "few-censuses");

        /* killed by the kernel for its control group: that limit, not -M */
        m.state.has_exit_status = 0;
        m.state.has_exit_signal = m.state.has_oom_killed = m.state.oom_killed = 1;
        m.state.exit_signal = 9;
        m.state.state = HW__TARGET__STATE__STATE_CRASHED;
        m.trends.limit_source = HW__TIME_TO_LIMIT__SOURCE__SOURCE_CGROUP;
        m.trends.limit_bytes = 300 * MIB;
        ask(&m);

        /* killed by nobody knows whom */
        m.state.oom_killed = 0;
        m.trends.early = NULL;
        ask(&m);

        /* no child of ours, as of a container that the kernel has ended for its control group */
        m.state.has_exit_signal = 0;
        m.state.state = HW__TARGET__STATE__STATE_ENDED;
        m.state.uri = (char *)"outside:7@1";
        ask(&m);
}

TEST(a_source_that_gives_nothing)
{
        struct made m;

        begin(&m);
        m.state.state = HW__TARGET__STATE__STATE_UNREADABLE;
        m.state.detail = (char *)"Permission denied";
        ask(&m);
        assert_string_equal(advice(&m), "cannot-be-read");
        m.state.state = HW__TARGET__STATE__STATE_LOST;
        ask(&m);
        assert_string_equal(advice(&m), "connection-lost");
        m.state.state = HW__TARGET__STATE__STATE_WAITING;
        ask(&m);
        m.t.run = 0;
        ask(&m);
        assert_string_equal(advice(&m), "not-begun");
}

/* ------------------------------------------------------------------ advice */

TEST(advice_follows_the_profile)
{
        static const struct {
                Hw__Breakdown breakdown;
                const char *label, *name;
        } cases[] = {
                { HW__BREAKDOWN__BREAKDOWN_CLOSURE_TYPE, "THUNK_2_0", "thunks" },
                { HW__BREAKDOWN__BREAKDOWN_CLOSURE_TYPE, "ARR_WORDS", "byte-arrays" },
                { HW__BREAKDOWN__BREAKDOWN_CLOSURE_TYPE, "CONSTR", "closures" },
                { HW__BREAKDOWN__BREAKDOWN_COST_CENTRE_STACK, "Main.insert;Main.loop", "stack" },
                { HW__BREAKDOWN__BREAKDOWN_MODULE, "Data.Map", "module" },
                { HW__BREAKDOWN__BREAKDOWN_TYPE, "Item", "type" },
                { HW__BREAKDOWN__BREAKDOWN_CLOSURE_DESCRIPTION, "Main.Item", "type" },
                { HW__BREAKDOWN__BREAKDOWN_RETAINER, "(8)cache", "retainer" },
                { HW__BREAKDOWN__BREAKDOWN_INFO_TABLE, "0x4c20d8", "addresses" },
                { HW__BREAKDOWN__BREAKDOWN_INFO_TABLE, "MVAR_CLEAN", "closures" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct made m;

                leak_live(&m);
                m.run.breakdown = cases[i].breakdown;
                m.growing.label = m.band.label = (char *)cases[i].label;
                ask(&m);
                assert_string_equal(advice(&m), cases[i].name);
        }
}

/* Of a program that is watched from outside, threads that wait at one place are a band. */
TEST(threads_that_wait_are_counted_by_a_command)
{
        struct made m;

        leak_live(&m);
        m.run.breakdown = HW__BREAKDOWN__BREAKDOWN_CLOSURE_TYPE;
        m.growing.label = m.band.label = (char *)"threads blocked on an MVar in Main.waitForReply";
        assert_string_equal(advice(&m), "closures");
        m.growing.threads = 412;
        ask(&m);
        assert_string_equal(advice(&m), "waiting-threads");
        /* their number comes first; its rate where it is known */
        m.growing.has_threads = 1;
        SET(m.growing, bytes, 16 << 20);
        SET(m.growing, slope, 2048);
        ask(&m);
        SET(m.growing, thread_slope, 3.14);
        ask(&m);
        m.growing.has_thread_slope_low = 1; /* it may not grow: the stacks do */
        ask(&m);
        /* where they are not counted by what they wait for */
        leak_live(&m);
        m.run.breakdown = HW__BREAKDOWN__BREAKDOWN_CLOSURE_TYPE;
        m.growing.label = m.band.label = (char *)"STACK";
        ask(&m);
        assert_string_equal(advice(&m), "threads");
        m.run.breakdown = HW__BREAKDOWN__BREAKDOWN_MODULE;
        assert_string_equal(advice(&m), "module");
}

TEST(a_cost_centre_has_its_place)
{
        struct made m;

        leak_live(&m);
        m.run.breakdown = HW__BREAKDOWN__BREAKDOWN_COST_CENTRE_STACK;
        m.centres[0] = &m.centre;
        SET_LIST(m.band, stack, m.centres, 1);
        m.centre.source = (char *)"<entire-module>"; /* no place */
        m.centre.module = (char *)"Cache";
        assert_string_equal(advice(&m), "stack");
        m.centre.source = (char *)"src/Cache.hs:7:1-12";
        ask(&m);
}

TEST(without_a_profile_the_flag_that_fits)
{
        struct made m;

        leak_live(&m);
        m.t.census = NULL;
        m.t.n_bands = 0;
        m.growth.n_bands = 0;
        ask(&m);
        assert_string_equal(advice(&m), "first-census"); /* the profile is on */
        m.state.uri = (char *)"outside:7@1";             /* that clock has nothing to do with these censuses */
        ask(&m);
        m.state.uri = NULL;
        m.trends.time_to_limit = &m.limit;
        m.limit.has_low_ns = 1;
        SET(m.limit, high_ns, 27 * UINT64_C(1000000000));
        SET(m.limit, mid_ns, 19 * UINT64_C(1000000000));
        ask(&m);
        assert_string_equal(advice(&m), "limit-first"); /* there is no time to wait for it */
        m.limit.mid_ns = 0;
        ask(&m);
        m.state.state = HW__TARGET__STATE__STATE_CRASHED;
        ask(&m);
        assert_string_equal(advice(&m), "no-census");
        m.state.state = HW__TARGET__STATE__STATE_RUNNING;
        m.trends.time_to_limit = NULL;
        m.run.breakdown = HW__BREAKDOWN__BREAKDOWN_NONE;
        ask(&m);
        assert_string_equal(advice(&m), "no-profile");
        m.run.ghc_version = (char *)"9.0.2";
        ask(&m);
        m.run.has_profiled = m.run.profiled = 1;
        ask(&m);
        m.advices[0] = &m.advice;
        SET_LIST(m.health, advice, m.advices, 1);
        SET(m.advice, code, HW_ADVICE_PROFILE_REFUSED);
        m.advice.text = (char *)"Its collector refuses heap profiles";
        ask(&m);
        m.state.state = HW__TARGET__STATE__STATE_CRASHED;
        ask(&m);
}

/* Steady until now, and the newest minutes rise: neither a leak nor green. */
TEST(growth_that_is_not_sure_yet)
{
        struct made m;
        struct answers a;

        begin(&m);
        SET(m.live, verdict_in_ns, 3 * MINUTE);
        SET(m.live, provisional_slope, 2048);
        a = ask(&m);
        assert_int_equal(a.answer[QUESTION_WRONG].tone, ANSWER_DIM);
        m.live.provisional_slope = -2048;
        ask(&m);
}

/* A program whose heap is exhausted frees most of it before it ends. */
TEST(what_grew_is_shown_at_its_most)
{
        struct made m;

        leak_live(&m);
        m.growing.bytes = 48;
        m.world_band.max_bytes = 19 * MIB;
        ask(&m);
        m.state.state = HW__TARGET__STATE__STATE_ENDED;
        ask(&m);
}

TEST(growth_over_many_bands)
{
        struct made m;

        leak_live(&m);
        m.growth.n_bands = 0;
        ask(&m);
        assert_string_equal(advice(&m), "few-censuses");
        m.t.n_bands = 0;
        SET(m.census, rows_left_out, 200);
        ask(&m);
        m.t.n_bands = 1;
        m.census.rows_left_out = 0;
        m.world_band.seen = true;
        m.world_band.first_bytes = 4 * MIB;
        ask(&m);
        m.world_band.first_bytes = 39 * MIB + MIB / 2;
        ask(&m);
        m.state.uri = (char *)"unix:/run/user/1/heapwatch/run-t0JsCb/agent";
        ask(&m);
        m.state.uri = NULL;
        verdict_of(&m.heap, HW__VERDICT__VERDICT_STEADY, 0);
        m.world_band.trend = &m.heap;
        ask(&m);
        assert_string_equal(advice(&m), "spread");
        verdict_of(&m.heap, HW__VERDICT__VERDICT_STEADY,
                   700 * 1024.0); /* of live data's 912: spread over many it is not */
        ask(&m);
        assert_string_not_equal(advice(&m), "spread");
        m.heap.slope_low = -1;
        ask(&m);
}

TEST(alerts_that_say_something_else)
{
        static const char *const rules[][2] = {
                { "fragmentation", "fragmentation" }, { "gc-share", "collections" },  { "gc-pauses", "collections" },
                { "stream-stalled", "stalled" },      { "restart-loop", "restarts" }, { "mine", "alert" },
                { "crashed", "run-before" },
        };
        struct made m;
        struct answers a;

        for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
                begin(&m);
                m.alert_list[0] = &m.alert;
                SET_LIST(m.alerts, alerts, m.alert_list, 1);
                m.alert.rule = (char *)rules[i][0];
                m.alert.severity = (char *)"warning";
                SET(m.alert, state, HW__ALERT__STATE__STATE_FIRING);
                m.alert.sentence = (char *)"as it is";
                a = ask(&m);
                assert_string_equal(advice(&m), rules[i][1]);
                assert_int_equal(a.answer[QUESTION_WRONG].tone, ANSWER_WARN);
        }
        leak_live(&m);
        m.alert_list[0] = &m.alert;
        SET_LIST(m.alerts, alerts, m.alert_list, 1);
        SET(m.alert, state, HW__ALERT__STATE__STATE_FIRING);
        m.alert.rule = (char *)"leak"; /* says what the verdict says */
        ask(&m);
}

TEST(the_profile_itself_is_told_apart)
{
        struct made m;
        struct answers a;

        begin(&m);
        m.t.gc = &m.gc;
        SET(m.gc, gc_share_run, 0.99);
        SET(m.gc, pause_total_ns, 100 * SECOND);
        SET(m.gc, census_pause_ns, 93 * SECOND);
        SET(m.run, census_period_ns, SECOND / 20);
        m.census.number = 12000;
        m.alert_list[0] = &m.alert;
        SET_LIST(m.alerts, alerts, m.alert_list, 1);
        m.alert.rule = (char *)"gc-share";
        SET(m.alert, state, HW__ALERT__STATE__STATE_FIRING);
        a = ask(&m);
        assert_string_equal(advice(&m), "censuses");
        assert_int_equal(a.n_caveats, 1);
        m.gc.census_pause_ns = 10 * SECOND;
        assert_string_equal(advice(&m), "collections");
        m.census.number = 2; /* of ten minutes */
        a = ask(&m);
        assert_int_equal(a.n_caveats, 1);
        m.run.census_period_ns = 0; /* the agent's: it asks for each of them, as its budget allows */
        assert_int_equal(ask(&m).n_caveats, 0);
        SET(m.heap_state, max_live_bytes, 496 * MIB);
        m.state.state = HW__TARGET__STATE__STATE_ENDED;
        a = ask(&m);
        assert_int_equal(a.n_caveats, 0); /* of an end nothing more is asked */
}

TEST(joined_while_it_grew)
{
        struct answers a;
        struct made m;

        leak_live(&m);
        SET(m.run, first_time_ns, 5 * MINUTE); /* when its growth is said to have begun */
        ask(&m);
        m.run.first_time_ns = 4 * MINUTE;
        ask(&m);
        rise(&m); /* the first live data was measured a minute later, and no later one was lower */
        m.early.has_since_start = m.early.since_start = 1;
        m.early.onset_from_ns = 0;
        m.early.onset_to_ns = 6 * MINUTE;
        a = ask(&m);
        assert_true(a.answer[QUESTION_SINCE].time_ns == 4 * MINUTE);
        m.run.first_time_ns = 0; /* seen from its start: that is when it began */
        ask(&m);
}

TEST(damage_and_the_daemons_own_advice)
{
        struct made m;
        struct answers a;

        begin(&m);
        m.advices[0] = &m.advice;
        SET_LIST(m.health, advice, m.advices, 1);
        SET(m.advice, code, HW_ADVICE_NO_HEAP_PROFILE);
        m.advice.text = (char *)"There is no heap profile";
        ask(&m);
        m.advice.code = HW_ADVICE_NO_GC_EVENTS;
        assert_string_equal(advice(&m), "no-collections");
        m.health.n_advice = 0;
        SET(m.health, lost_bytes, 2048);
        SET(m.health, resyncs, 3);
        a = ask(&m);
        assert_string_equal(advice(&m), "damaged");
        assert_int_equal(a.n_caveats, 1);
        SET(m.health, bands_left_out, 200);
        m.health.memory_pressure = (char *)"38.0 MiB of its 40.0 MiB of memory is in use";
        a = ask(&m);
        assert_int_equal(a.n_caveats, 2);
        m.health.memory_pressure = NULL;
        m.health.bands_left_out = 0;
        SET(m.run, first_time_ns, MINUTE);
        m.census.has_unfinished = m.census.unfinished = 1;
        a = ask(&m);
        assert_int_equal(a.n_caveats, 3);
        m.run.first_time_ns = SECOND;
        assert_int_equal(ask(&m).n_caveats, 2);
        m.state.has_joined_late = m.state.joined_late = 1;
        ask(&m);
}

/* -------------------------------------------------------------------- rank */

TEST(the_worst_has_the_highest_rank)
{
        struct made m;
        double steady, unknown, growing, leak, soon, killed;

        begin(&m);
        steady = ask(&m).rank;
        m.t.trends[HW__SERIES__SERIES_LIVE] = NULL;
        m.growth.where = HW__GROWTH__WHERE__WHERE_UNKNOWN;
        unknown = ask(&m).rank;
        leak_live(&m);
        leak = ask(&m).rank;
        m.live.verdict = HW__VERDICT__VERDICT_GROWING;
        growing = ask(&m).rank;
        leak_live(&m);
        m.trends.time_to_limit = &m.limit;
        m.limit.has_low_ns = 1;
        SET(m.limit, mid_ns, MINUTE);
        soon = ask(&m).rank;
        begin(&m);
        m.state.state = HW__TARGET__STATE__STATE_CRASHED;
        killed = ask(&m).rank;
        assert_true(killed > soon && soon > leak && leak > growing && growing > unknown && unknown > steady);
        (void)snprintf(m.t.name, sizeof(m.t.name),
                       "api~1"); /* of a run before the present one nothing has to be done */
        assert_true(steady > ask(&m).rank);
        leak_live(&m);
        m.state.state = HW__TARGET__STATE__STATE_ENDED;
        assert_true(steady > ask(&m).rank);
        begin(&m);
        rise(&m);
        assert_true(growing > ask(&m).rank && ask(&m).rank > unknown);
        SET(m.early, runs_out, 1);
        SET(m.early, limit_bytes, 400 * MIB);
        SET(m.early, soonest_ns, 20 * SECOND);
        SET(m.early, mid_ns, 30 * SECOND);
        SET(m.early, latest_ns, 40 * SECOND);
        soon = ask(&m).rank;
        assert_true(killed > soon && soon > leak);
        m.early.mid_ns = 10 * SECOND;
        assert_true(ask(&m).rank > soon);
}

TEST(hostile_texts_are_cut_at_a_character)
{
        struct made m;
        struct answers a;
        char label[4000], text[60];

        leak_live(&m);
        for (size_t i = 0; i + 3 < sizeof(label); i += 3)
                memcpy(label + i, "€", 3);
        label[sizeof(label) - 1 - (sizeof(label) - 1) % 3] = '\0';
        m.growing.label = m.band.label = label;
        m.growing.band = 77; /* none of the bands that are known */
        a = ask(&m);
        assert_true(hw_utf8_valid(a.culprit_text, strlen(a.culprit_text)));
        for (int q = 0; q < QUESTIONS; q++)
                assert_true(hw_utf8_valid(a.answer[q].text, strlen(a.answer[q].text)));
        assert_int_equal(strlen(answers_headline(text, sizeof(text), &a, "5m 00s")), sizeof(text) - 1);
        for (int q = 0; q < QUESTIONS; q++) {
                assert_non_null(question_text((enum target_question)q));
                assert_non_null(question_key((enum target_question)q));
        }
        assert_string_equal(answer_tone_name(ANSWER_BAD), "bad");
}

TEST(the_holder_is_named_with_the_moment)
{
        Hw__ActionResult result = HW__ACTION_RESULT__INIT;
        struct made m;
        struct answers a;

        begin(&m);
        m.run.has_local = m.run.local = 1;
        ask(&m);
        leak_live(&m);
        ask(&m);
        m.run.has_local = m.run.local = 1;
        ask(&m);
        before_verdict(&m, 20);
        rise(&m);
        m.run.has_local = m.run.local = 1;
        ask(&m);

        m.state.why = &result;
        SET(result, wall_ns, 1060 * SECOND);
        ask(&m);
        result.has_ok = result.ok = 1;
        result.detail = (char *)"CAF Main.sessions keeps 100.0 % of Main.Session";
        SET(m.run, start_wall_ns, 1000 * SECOND);
        a = ask(&m);
        assert_int_equal(a.answer[QUESTION_WHY].time_ns, 60 * SECOND);
        result.ok = 0;
        result.detail = (char *)"process 7 belongs to user 0";
        ask(&m);
}

static void says_age(const struct made *m, uint64_t now_ns)
{
        struct census_age age;
        char line[CENSUS_LINE];

        census_age_of(&age, &m->t, true);
        golden_state("the_age_of_the_last_census");
        golden_says("age", census_age_text(line, sizeof(line), &age, now_ns));
        assert_int_equal(age.any, line[0] != '\0');
}

/* Of when the bands are, and whether live data has become other since; in the past when the run is over. */
TEST(the_age_of_the_last_census)
{
        struct made m;

        begin(&m);
        m.census.time_ns = 5 * MINUTE;
        m.census.total_bytes = 40 * MIB;
        says_age(&m, 9 * MINUTE + MINUTE / 6);
        m.heap_state.live_bytes = 98 * MIB;
        SET(m.heap_state, live_time_ns, 4 * MINUTE); /* before it */
        says_age(&m, 6 * MINUTE);
        m.heap_state.live_time_ns = m.t.event_time_ns = 6 * MINUTE;
        says_age(&m, 6 * MINUTE);
        m.t.event_time_ns = 7 * MINUTE;
        says_age(&m, 7 * MINUTE);
        m.t.event_time_ns = 6 * MINUTE;
        m.heap_state.live_bytes = 45 * MIB; /* they differ by that much anyway */
        says_age(&m, 6 * MINUTE);
        m.heap_state.live_bytes = 20 * MIB;
        m.run.no_census = (char *)"it would pause the program about 180 ms, --max-pause is 50 ms";
        says_age(&m, 6 * MINUTE);
        m.t.census = NULL;
        says_age(&m, 6 * MINUTE);
        m.run.no_census = NULL;
        says_age(&m, 6 * MINUTE);
        char absence[CENSUS_LINE];
        m.run.breakdown = HW__BREAKDOWN__BREAKDOWN_NONE;
        golden_state(__func__);
        golden_says("absence", census_absence(absence, sizeof(absence), &m.t, true));
        m.run.breakdown = HW__BREAKDOWN__BREAKDOWN_CLOSURE_TYPE;
        golden_state(__func__);
        golden_says("absence", census_absence(absence, sizeof(absence), &m.t, true));
        golden_state(__func__);
        m.state.state = HW__TARGET__STATE__STATE_ENDED;
        golden_says("absence", census_absence(absence, sizeof(absence), &m.t, false));
        m.t.census = &m.census;
        says_age(&m, 10 * MINUTE);
        m.state.state = HW__TARGET__STATE__STATE_RUNNING;
        m.state.uri = (char *)"outside:7@1";
        m.heap_state.live_time_ns = 4 * MINUTE; /* before it: garbage is in it from the first moment on */
        says_age(&m, 6 * MINUTE);
        Hw__Gc gc = HW__GC__INIT; /* a recording of such a program has another source */
        m.state.uri = NULL;
        m.t.gc = &gc;
        says_age(&m, 6 * MINUTE);
        gc.has_counted = gc.counted = 1;
        says_age(&m, 6 * MINUTE);
        m.heap_state.live_time_ns = 6 * MINUTE;
        m.heap_state.live_bytes = 98 * MIB;
        says_age(&m, 6 * MINUTE);
        m.state.state = HW__TARGET__STATE__STATE_ENDED;
        m.heap_state.live_bytes = MIB; /* by the collection of its end */
        says_age(&m, 6 * MINUTE);
}

/* What resident memory was divided into is not the one beside it: its own size and age are said. */
TEST(parts_of_another_moment_say_so)
{
        static struct made m;
        Hw__Process process = HW__PROCESS__INIT;
        Hw__Resident resident = HW__RESIDENT__INIT;

        begin(&m);
        m.heap_state.process = &process;
        m.heap_state.resident = &resident;
        process.has_rss_bytes = resident.has_rss_bytes = 1;
        resident.has_given_back_bytes = resident.has_files_bytes = 1;
        process.rss_bytes = resident.rss_bytes = 900 * MIB;
        SET(resident, foreign_bytes, 800 * MIB);
        resident.sampled_wall_ns = 10 * SECOND;
        SET(process, sampled_wall_ns, 15 * SECOND);
        ask(&m);
        process.rss_bytes = 920 * MIB;
        ask(&m);
        m.heap_state.resident = NULL; /* of a run that was seen without them */
        ask(&m);
}

TEST_GOLDEN("tests/unit/answers/answers.txt")

TEST(sentences_name_slots_that_there_are)
{
#define TABLE(...)
#define END
#define SAY(key, tone, condition, text) { key, text, 0 },
#define SLOT(name, ...)                 #name,
        static const struct phrase_row rows[] = {
#include "client/answers/sentences.def"
                { NULL, NULL, 0 }
        };
        static const char *const names[] = {
#include "client/answers/slots.def"
                NULL
        };

        assert_slots_exist(rows, names);
}
