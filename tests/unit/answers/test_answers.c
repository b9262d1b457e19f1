/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_answers.c - the answers: from states, verdicts, bands, ends and alerts to words and advice.
 *
 * The states are in answers.txt, and below each what is said of it (golden.h). Each test is a name at the left; then
 *
 *   = leak               what stands below "leak:", so that the lines after it say what is different
 *   + trends.early rate=10MiB rising=true      fields of the newest messages, message_text.h; "." is world_target
 *   ?                    the answers; ? account: the post-mortem; ? census 9m: how old it was then
 *   # why this state is there
 *
 * `make golden` writes the answers anew.
 */
#include <math.h>

#include "tests/unit/golden.h"

#include "client/answers/answers.h"
#include "client/answers/census.h"
#include "client/answers/evidence.h"
#include "heapwatch/text.h"
#include "proto/base/array.h"
#include "tests/unit/message_text.h"
#include "tests/unit/phrase_slots.h"

#define STATES    "tests/unit/answers/answers.txt"
#define LINES_MAX 4000

static struct {
        char *text, *lines[LINES_MAX];
        size_t n;
} states;

/* Whatever is NULL is not known. */
static struct {
        struct world_target t;
        struct world_band band, *bands[1];
        bool finished; /* it was read from a log */
} now;

/* ------------------------------------------------------------------ a state */

static void set(void *ctx, const char *path, const char *value)
{
#define PLAIN(name, member)                                                                                            \
        {                                                                                                              \
                name, &now.member, sizeof(now.member)                                                                  \
        }
        static const struct {
                const char *name;
                void *at;
                size_t size;
        } plain[] = {
                PLAIN("run", t.run),
                PLAIN("event_time_ns", t.event_time_ns),
                PLAIN("published_wall_ns", t.published_wall_ns),
                PLAIN("n_bands", t.n_bands),
                PLAIN("finished", finished),
                PLAIN("band.id", band.id),
                PLAIN("band.seen", band.seen),
                PLAIN("band.bytes", band.bytes),
                PLAIN("band.first_bytes", band.first_bytes),
                PLAIN("band.max_bytes", band.max_bytes),
                PLAIN("band.census", band.census),
        };
        const struct {
                const char *name;
                const void *at; /* of a pointer to the message */
                const ProtobufCMessageDescriptor *type;
        } kept[] = {
                { "target", &now.t.target, &hw__target__descriptor },
                { "heap", &now.t.heap, &hw__heap__descriptor },
                { "gc", &now.t.gc, &hw__gc__descriptor },
                { "census", &now.t.census, &hw__census__descriptor },
                { "health", &now.t.health, &hw__health__descriptor },
                { "trends", &now.t.trend_state, &hw__trends__descriptor },
                { "alerts", &now.t.alerts, &hw__alerts__descriptor },
                { "band.def", &now.band.def, &hw__band__descriptor },
                { "band.contents", &now.band.contents, &hw__band_contents__descriptor },
                { "band.trend", &now.band.trend, &hw__trend__descriptor },
                { "live", &now.t.trends[HW__SERIES__SERIES_LIVE], &hw__trend__descriptor },
                { "heap_size", &now.t.trends[HW__SERIES__SERIES_HEAP_SIZE], &hw__trend__descriptor },
                { "rss", &now.t.trends[HW__SERIES__SERIES_RSS], &hw__trend__descriptor },
                { "foreign", &now.t.trends[HW__SERIES__SERIES_FOREIGN], &hw__trend__descriptor },
        };

        for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
                if (!strcmp(plain[i].name, path)) {
                        const uint64_t n = !strcmp(value, "true")    ? 1
                                           : !strcmp(value, "false") ? 0
                                                                     : message_whole(value);
                        if (plain[i].size == sizeof(bool))
                                *(bool *)plain[i].at = n;
                        else if (plain[i].size == sizeof(uint32_t))
                                *(uint32_t *)plain[i].at = (uint32_t)n;
                        else
                                *(uint64_t *)plain[i].at = n;
                        return;
                }
        for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
                const size_t n = strlen(kept[i].name);
                if (strncmp(path, kept[i].name, n) != 0 || (path[n] != '.' && path[n] != '\0'))
                        continue;
                message_set_in((ProtobufCMessage **)kept[i].at, kept[i].type, path + n + (path[n] == '.'), value);
                return;
        }
        if (strcmp(path, "name") != 0)
                fail_msg("%s is nothing that can be set", path);
        (void)snprintf(now.t.name, sizeof(now.t.name), "%s", value);
}

static void begin(const char *name);

/* Whether the line says something of a state. */
static bool set_by(const char *line)
{
        if (!strncmp(line, "  = ", 4))
                begin(line + 4);
        else if (!strncmp(line, "  + ", 4))
                message_each(line + 4, set, NULL);
        else
                return !strncmp(line, "  #", 3);
        return true;
}

/* The state with that name in place of, or beside, the one before. */
static void begin(const char *name)
{
        const size_t n = strlen(name);
        size_t i = 0;

        if (!strcmp(name, "nothing")) {
                memset(&now, 0, sizeof(now));
                messages_forget();
                now.bands[0] = &now.band;
                now.t.bands = now.bands;
                return;
        }
        while (i < states.n && (strncmp(states.lines[i], name, n) != 0 || strcmp(states.lines[i] + n, ":") != 0))
                i++;
        if (i == states.n)
                fail_msg("%s has no state %s", STATES, name);
        while (++i < states.n && set_by(states.lines[i]))
                ;
}

/* --------------------------------------------------------- what is said of it */

static void says(const char *what, const struct target_answer *a)
{
        char time[40], text[2 * ANSWER_TEXT], whole[3 * ANSWER_TEXT] = "";

        (void)snprintf(time, sizeof(time), "<%gs>", (double)a->time_ns / 1e9);
        answer_whole(text, sizeof(text), a, time);
        if (text[0])
                (void)snprintf(whole, sizeof(whole), "%s  [%s%s%s]", text, answer_tone_name(a->tone), a->key ? " " : "",
                               a->key ? a->key : "");
        golden_says(what, whole);
}

/* Tables show the same as the picture of one target. */
static void check_brief(const struct answers *a)
{
        struct answers b;

        answers_brief(&b, &now.t, !now.finished);
        assert_string_equal(b.word, a->word);
        assert_int_equal(b.tone, a->tone);
        assert_true(b.rank >= a->rank && b.rank <= a->rank);
        assert_int_equal(b.verdict, a->verdict);
        assert_true(b.has_slope == a->has_slope && b.has_onset == a->has_onset && b.has_limit == a->has_limit);
        assert_true(b.slope >= a->slope && b.slope <= a->slope);
        assert_int_equal(b.onset_ns, a->onset_ns);
        assert_int_equal(b.limit_ns, a->limit_ns);
        assert_int_equal(b.culprit, a->culprit);
        assert_string_equal(b.culprit_text, a->culprit_text);
        assert_string_equal(b.answer[QUESTION_WRONG].text, a->answer[QUESTION_WRONG].text);
}

static double say_answers(void)
{
        char text[2 * ANSWER_TEXT], what[16];
        struct answers a;

        answers_of(&a, &now.t, !now.finished);
        check_brief(&a);
        (void)snprintf(text, sizeof(text), "%s  [%s]", a.word, answer_tone_name(a.tone));
        golden_says("word", text);
        for (int q = 0; q < QUESTIONS; q++) {
                assert_true(q == QUESTION_WHY || a.answer[q].text[0] != '\0');
                says(question_key((enum target_question)q), &a.answer[q]);
        }
        golden_says("culprit", a.culprit_text);
        golden_says("headline", answers_headline(text, sizeof(text), &a, "5m 00s"));
        FILE *f = fmemopen(text, sizeof(text), "w");
        assert_non_null(f);
        (void)fprintf(f, "rank %.4g", a.rank);
        if (a.has_slope)
                (void)fprintf(f, ", %.6g B/s", a.slope);
        if (a.has_onset)
                (void)fprintf(f, ", since %gs%s", (double)a.onset_ns / 1e9, a.onset_is_latest ? " at the latest" : "");
        if (a.has_limit)
                (void)fprintf(f, ", limit in %gs", (double)a.limit_ns / 1e9);
        (void)fprintf(f, ", band %u%s%s", a.culprit, answers_grow(&a) ? ", grows" : "",
                      a.ended_rising ? ", ended rising" : "");
        assert_int_equal(fclose(f), 0);
        golden_says("numbers", text);
        for (size_t i = 0; i < ANSWER_CAVEATS; i++) {
                (void)snprintf(what, sizeof(what), "caveat %zu", i + 1);
                golden_says(what, i < a.n_caveats ? a.caveats[i] : "");
        }
        return a.rank;
}

static void say_account(void)
{
        struct account account;

        account_of(&account, &now.t, !now.finished);
        says(account.rows[0].key, &account.rows[0].says);
        for (size_t i = 1; i < account.n; i++)
                if (!strcmp(account.rows[i].key, "limit"))
                        says("limit", &account.rows[i].says);
}

static void say_census(uint64_t now_ns)
{
        struct census_age age;
        char line[CENSUS_LINE], old[40] = "";
        uint64_t old_ns;

        census_age_of(&age, &now.t, true);
        golden_says("age", census_age_text(line, sizeof(line), &age, now_ns));
        assert_int_equal(age.any, line[0] != '\0');
        golden_says("absence", now.t.census ? "" : census_absence(line, sizeof(line), &now.t, !now.finished));
        if (live_is_old(&now.t, &old_ns))
                (void)snprintf(old, sizeof(old), "%gs", (double)old_ns / 1e9);
        golden_says("old", old);
}

TEST(read_states)
{
        FILE *f = fopen(STATES, "r");
        size_t size = 0;

        if (!f || getdelim(&states.text, &size, '\0', f) < 0)
                fail_msg("%s: %s", STATES, strerror(errno));
        (void)fclose(f);
        for (char *line = states.text, *end; *line; line = end) {
                end = line + strcspn(line, "\n");
                if (*end)
                        *end++ = '\0';
                assert_in_range(states.n, 0, LINES_MAX - 1);
                states.lines[states.n++] = line;
        }
}

TEST(states_have_their_answers)
{
        bool ranked = false;
        double rank = 0;

        for (size_t i = 0; i < states.n; i++) {
                const char *line = states.lines[i];
                if (*line && *line != ' ') {
                        golden_open(line);
                        ranked = !strcmp(line, "the_worst_comes_first");
                        rank = HUGE_VAL;
                } else if (set_by(line)) {
                        (void)fprintf(golden.out, "%s\n", line);
                } else if (!strncmp(line, "  ?", 3)) {
                        (void)fprintf(golden.out, "%s\n", line);
                        if (!strcmp(line, "  ? account")) {
                                say_account();
                        } else if (!strncmp(line, "  ? census", 10)) {
                                say_census(message_whole(line + 11));
                        } else {
                                const double before = rank;
                                rank = say_answers();
                                assert_true(!ranked || rank < before);
                        }
                }
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
        SET(m.run, census_period_ns, 0); /* the agent's */
        m.state.state = HW__TARGET__STATE__STATE_CRASHED;
        ask(&m);
        m.state.state = HW__TARGET__STATE__STATE_RUNNING;
        m.run.has_census_period_ns = 0;
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
        m.state.state = HW__TARGET__STATE__STATE_FAILED; /* an unknown flag of the runtime: it has no log of anything */
        assert_string_equal(advice(&m), "failed");
        m.state.state = HW__TARGET__STATE__STATE_RUNNING;
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
        struct answers a;
        char label[4000], text[60];

        begin("leak");
        for (size_t i = 0; i + 3 < sizeof(label); i += 3)
                memcpy(label + i, "€", 3);
        label[sizeof(label) - 1 - (sizeof(label) - 1) % 3] = '\0';
        set(NULL, "trends.growth.bands.0.label", label);
        set(NULL, "trends.growth.bands.0.band", "77"); /* none of the bands that are known */
        answers_of(&a, &now.t, true);
        assert_true(hw_utf8_valid(a.culprit_text, strlen(a.culprit_text)));
        for (int q = 0; q < QUESTIONS; q++) {
                assert_true(hw_utf8_valid(a.answer[q].text, strlen(a.answer[q].text)));
                assert_non_null(question_text((enum target_question)q));
        }
        assert_int_equal(strlen(answers_headline(text, sizeof(text), &a, "5m 00s")), sizeof(text) - 1);
}

TEST_GOLDEN(STATES)

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
