/* SPDX-License-Identifier: BSD-3-Clause */
/* test_console.c - every view, drawn without a terminal and used with keys and clicks. */
#include <stdio.h>
#include "tests/unit/test.h"

#include <locale.h>

#include "client/console/console.h"
#include "proto/base/utf8.h"
#include "tests/unit/console/drawn.h"

struct world {
        struct world *world;
        struct console *console;
};

/* One service with five bands over ten censuses: the second grows. */
static void fill(struct world *v, const char *name)
{
        const char *labels[] = { "ARR_WORDS", "Main.sessions", "THUNK_1_0", "Main.cache", "TSO" };
        uint32_t ids[] = { 1, 2, 3, 4, 5 };

        assert_int_equal(send_state(v, 0, name, 1, HW__TARGET__STATE__STATE_RUNNING), 0);
        for (uint32_t i = 0; i < 5; i++)
                assert_int_equal(send_band(v, name, 1, ids[i], labels[i]), 0);
        for (uint64_t n = 1; n <= 10; n++) {
                uint64_t bytes[] = { 40 * MIB, n * 10 * MIB, 3 * MIB, 2 * MIB + n, 1000 };

                assert_int_equal(send_census(v, name, 1, n, ids, bytes, 5), 0);
                assert_int_equal(send_live(v, 0, name, 1, n * SECOND, n * 10 * MIB), 0);
        }
        assert_int_equal(send_note(v, name, 1, 1, "cache on"), 0);
}

/* The console sees what the world is sent. */
static void watch(struct console *c, const char *name)
{
        uint32_t ids[] = { 1, 2, 3, 4, 5 };

        for (uint64_t n = 1; n <= 10; n++) {
                uint64_t bytes[] = { 40 * MIB, n * 10 * MIB, 3 * MIB, 2 * MIB + n, 1000 };
                Hw__Update u = update_of(name, 1, n * SECOND);
                Hw__Census census = census_of(n, ids, bytes, 5);

                u.body_case = HW__UPDATE__BODY_CENSUS;
                u.census = &census;
                console_watch(c, 0, &u);
        }
}

static int setup(void **state)
{
        struct world *w = calloc(1, sizeof(*w));

        w->world = world_new(&console_past);
        fill(w->world, "api-1");
        w->console = console_new(w->world, true);
        assert_non_null(w->console);
        watch(w->console, "api-1");
        *state = w;
        return 0;
}

static int teardown(void **state)
{
        struct world *w = *state;

        console_destroy(&w->console);
        world_destroy(&w->world);
        free(w);
        return 0;
}

static struct console *console_of(void **state)
{
        return ((struct world *)*state)->console;
}

/* ------------------------------------------------------------------- views */

TEST_WITH(targets, setup, teardown)
{
        struct console *c = console_of(state);

        fill(((struct world *)*state)->world, "worker");
        press(c, 't');
        assert_true(shows(c, "2 targets"));
        assert_true(row_shows(c, "api-1", "running", "100 MiB"));
        assert_true(row_shows(c, "api-1", "–"));                   /* RSS, GC, trend: not known, never 0 */
        assert_true(place_of(c, "api-1") < place_of(c, "worker")); /* alike: in the order of names */
        press(c, '<');
        press(c, 'r');
        assert_true(shows(c, "target↓"));
        assert_true(place_of(c, "api-1") > place_of(c, "worker"));
        press(c, SCREEN_END);
        press(c, SCREEN_ENTER);
        assert_string_equal(c->target, "api-1");
        assert_string_equal(c->shown->class->name, "overview");
}

TEST_WITH(the_way_to_the_help_is_on_every_screen, setup, teardown)
{
        for (int width = 10; width < 140; width++) {
                char *all = drawn(console_of(state), 16, width, false);

                if (!strstr(all, "? q") && !strstr(all, "? help  q quit"))
                        fail_msg("%d columns:\n%s", width, all);
                free(all);
        }
}

TEST_WITH(memory, setup, teardown)
{
        struct console *c = console_of(state);

        press(c, '2');
        assert_true(shows(c, "live 100 MiB", "-M 512 MiB"));
        assert_true(shows(c, "128 MiB"));                  /* the axis */
        assert_true(row_shows(c, "live    ", "10.0 MiB")); /* min */
        assert_true(shows(c, "▲"));
        press(c, SCREEN_LEFT);
        assert_true(shows(c, "│"));
        press_times(c, 200, SCREEN_LEFT);
        assert_true(shows(c, "cache on"));      /* the note is at the first sample */
        assert_true(shows(c, "live 10.0 MiB")); /* values at the cursor */
        press(c, SCREEN_ESCAPE);
        assert_true(hides(c, "│"));
        assert_string_equal(c->shown->class->name, "memory");
}

TEST_WITH(window_changes, setup, teardown)
{
        struct console *c = console_of(state);

        press(c, '2');
        assert_true(shows(c, "window 10 min"));
        press(c, '+');
        assert_true(shows(c, "window 30 min"));
        press_times(c, 20, '+');
        assert_true(shows(c, "window all"));
        press_times(c, 20, '-');
        assert_true(shows(c, "window 10 s"));
}

TEST_WITH(bands, setup, teardown)
{
        struct console *c = console_of(state);

        press(c, 'b');
        assert_int_equal(place_of(c, "Main.sessions"), 3); /* the greatest is on top */
        assert_true(row_shows(c, "last census", " ago at "));
        assert_true(row_shows(c, "Main.sessions", "100 MiB", "69.0 %", "+90.0 MiB"));
        assert_true(row_shows(c, "ARR_WORDS", "0 B")); /* no change */
        press_times(c, 20, '-');
        press(c, '+');
        press(c, '-');
        assert_true(row_shows(c, "Main.sessions", "+90.0 MiB")); /* 10 s: less is known */
        assert_true(row_shows(c, "ARR_WORDS", "–"));             /* no trend yet */
        press(c, 'r');
        assert_int_equal(place_of(c, "TSO"), 3);
}

TEST_WITH(band_opens, setup, teardown)
{
        struct console *c = console_of(state);

        press(c, '3');
        press(c, SCREEN_DOWN);
        press(c, SCREEN_ENTER);
        assert_string_equal(c->shown->class->name, "band");
        assert_true(shows(c, "ARR_WORDS", "now 40.0 MiB"));
        press(c, SCREEN_ESCAPE);
        assert_string_equal(c->shown->class->name, "bands");
}

TEST_WITH(search, setup, teardown)
{
        struct console *c = console_of(state);

        press(c, '3');
        type(c, "/main.c");
        assert_true(shows(c, "search: main.c"));
        press(c, SCREEN_ENTER);
        assert_string_equal(((const struct world_band *)table_selected(c->table))->def->label, "Main.cache");
        type(c, "/main.");
        press(c, SCREEN_ENTER);
        press(c, 'n');
        assert_string_equal(((const struct world_band *)table_selected(c->table))->def->label, "Main.sessions");
        press(c, 'N');
        assert_string_equal(((const struct world_band *)table_selected(c->table))->def->label, "Main.cache");
        type(c, "/nothing here");
        assert_true(shows(c, "not found"));
}

TEST_WITH(filter, setup, teardown)
{
        struct console *c = console_of(state);

        press(c, '3');
        type(c, "fmain");
        press(c, SCREEN_ENTER);
        assert_true(shows(c, "2 of 5"));
        assert_true(hides(c, "ARR_WORDS"));
        press(c, 'f');
        press_times(c, 10, SCREEN_BACKSPACE);
        type(c, "/^T(SO|HUNK)/");
        press(c, SCREEN_ENTER);
        assert_true(shows(c, "THUNK_1_0", "TSO"));
        assert_true(hides(c, "Main.cache"));
        press(c, 'f');
        press(c, SCREEN_ESCAPE);
        assert_true(shows(c, "Main.cache"));
        type(c, "f/(/");
        assert_true(shows(c, "not a valid regular expression: at character 2"));
        press(c, SCREEN_ENTER); /* it is not taken for another one */
        assert_true(shows(c, "not a valid regular expression: at character 2"));
        press(c, SCREEN_ESCAPE);
        assert_true(hides(c, "not a valid"));
        type(c, "f/^main"); /* as if its last slash were there */
        assert_true(shows(c, "2 of 5"));
        press(c, SCREEN_ENTER);
        assert_true(hides(c, "ARR_WORDS"));
}

TEST_WITH(selection_follows_its_row, setup, teardown)
{
        struct world *w = *state;
        struct console *c = w->console;
        uint32_t ids[] = { 1, 2, 3, 4, 5 };
        uint64_t bytes[] = { 1, 2, 900 * MIB, 4, 5 };

        press(c, '3');
        press(c, SCREEN_DOWN);
        press(c, SCREEN_DOWN);
        assert_string_equal(((const struct world_band *)table_selected(c->table))->def->label, "THUNK_1_0");
        assert_int_equal(send_census(w->world, "api-1", 1, 11, ids, bytes, 5), 0);
        assert_int_equal(place_of(c, "THUNK_1_0"), 3);
        assert_string_equal(((const struct world_band *)table_selected(c->table))->def->label, "THUNK_1_0");
}

/* Now against a marked moment, which is the cursor's where there is one. */
TEST_WITH(since_the_mark, setup, teardown)
{
        struct world *w = *state;
        struct console *c = w->console;
        uint32_t ids[] = { 1, 2, 3, 4, 5 };
        uint64_t bytes[] = { 40 * MIB, 130 * MIB, 3 * MIB, 2 * MIB + 10, 1000 };

        press(c, 'b');
        assert_true(hides(c, "since mark"));
        press(c, 'M');
        assert_true(shows(c, "marked 22:13:30", "since mark"));
        assert_true(row_shows(c, "Main.sessions", "–")); /* no census since */
        Hw__Update u = update_of("api-1", 1, 13 * SECOND);
        Hw__Census census = census_of(13, ids, bytes, 5);
        u.body_case = HW__UPDATE__BODY_CENSUS;
        u.census = &census;
        console_watch(c, 0, &u);
        assert_int_equal(send_census(w->world, "api-1", 1, 13, ids, bytes, 5), 0);
        assert_int_equal(send_live(w->world, 0, "api-1", 1, 13 * SECOND, 160 * MIB), 0);
        assert_true(row_shows(c, "Main.sessions", "+30.0 MiB"));
        assert_true(row_shows(c, "ARR_WORDS", "0 B"));
        press(c, 'm');
        assert_true(row_shows(c, " live    ", "+60.0 MiB"));
        assert_true(shows(c, "▲ mark")); /* in the chart, with its label */
        press_times(c, 90, SCREEN_LEFT);
        press(c, 'M');
        assert_true(hides(c, "marked 22:13:30", "+60.0 MiB"));
        press(c, 'C');
        assert_true(shows(c, "no census: only for a program with the agent")); /* it is a file here */
}

TEST_WITH(notes, setup, teardown)
{
        struct world *w = *state;
        struct console *c = w->console;

        press(c, 'l');
        assert_true(row_shows(c, "cache on", "22:13:21")); /* time of day, as in charts; the other clock on demand */
        press(c, 'c');
        assert_true(row_shows(c, "cache on", "1.00 s"));
        press(c, 'c');
        for (uint64_t i = 2; i < 100; i++)
                assert_int_equal(send_note(w->world, "api-1", 1, i, i == 99 ? "the newest" : "older"), 0);
        assert_true(shows(c, "the newest")); /* it follows the end */
        assert_true(hides(c, "cache on"));
        press(c, SCREEN_HOME);
        assert_true(shows(c, "cache on"));
        assert_int_equal(send_note(w->world, "api-1", 1, 100, "still newer"), 0);
        assert_true(hides(c, "still newer"));
        press(c, SCREEN_END);
        assert_true(shows(c, "still newer"));
}

TEST_WITH(absent_is_never_zero, setup, teardown)
{
        struct console *c = console_of(state);

        press(c, '4');
        assert_true(shows(c, "no collection seen yet"));
        assert_true(row_shows(c, "copied", "–"));
        press(c, '5');
        assert_true(shows(c, "no time profile"));
        press(c, '6');
        assert_true(row_shows(c, "threads created", "–"));
        press(c, '8');
        assert_true(shows(c, "no alert"));
        press(c, '2');
        assert_true(row_shows(c, "RSS     ", "–"));
}

TEST_WITH(trends_and_alerts, setup, teardown)
{
        struct world *w = *state;
        struct console *c = w->console;
        Hw__Update u = update_of("api-1", 1, 10 * SECOND);
        Hw__Trends trends = HW__TRENDS__INIT;
        Hw__Trend live = HW__TREND__INIT, band = HW__TREND__INIT;
        Hw__Trend *list[] = { &live, &band };
        Hw__Growth growth = HW__GROWTH__INIT;
        Hw__GrowingBand growing = HW__GROWING_BAND__INIT;
        Hw__GrowingBand *growing_list[] = { &growing };
        Hw__TimeToLimit limit = HW__TIME_TO_LIMIT__INIT;
        static const int sizes[][2] = { { 16, 60 }, { 24, 80 }, { 40, 120 } };
        Hw__Alerts alerts = HW__ALERTS__INIT;
        Hw__Alert alert = HW__ALERT__INIT;
        Hw__Alert *alert_list[] = { &alert };

        SET(live, series, HW__SERIES__SERIES_LIVE);
        SET(live, verdict, HW__VERDICT__VERDICT_LEAK);
        SET(live, slope, MIB / 60.0 * 1.5);
        SET(live, slope_low, MIB / 60.0);
        SET(live, slope_high, MIB / 60.0 * 2);
        band = live;
        band.has_series = 0;
        SET(band, band, 2);
        growth.sentence = (char *)"live data grows 1.5 MiB/min since 14:02";
        growing.label = (char *)"Main.sessions";
        SET_LIST(growth, bands, growing_list, 1);
        SET(live, onset_ns, 300 * SECOND);
        SET(limit, mid_ns, 42 * 60 * SECOND);
        SET_LIST(trends, trends, list, 2);
        trends.growth = &growth;
        trends.time_to_limit = &limit;
        u.body_case = HW__UPDATE__BODY_TRENDS;
        u.trends = &trends;
        assert_int_equal(apply_made(w->world, 0, &u), 0);
        alert.rule = (char *)"HeapLeak";
        SET(alert, state, HW__ALERT__STATE__STATE_FIRING);
        alert.value_text = (char *)"1.5 MiB/min";
        alert.sentence = (char *)"it has grown for three hours";
        SET_LIST(alerts, alerts, alert_list, 1);
        u.body_case = HW__UPDATE__BODY_ALERTS;
        u.alerts = &alerts;
        assert_int_equal(apply_made(w->world, 0, &u), 0);

        press(c, '2');
        assert_true(shows(c, "leak  1 alert"));
        assert_true(row_shows(c, "live    ", "+25.6 KiB/s", "leak"));
        press(c, '3');
        assert_true(row_shows(c, "Main.sessions", "leak"));
        press(c, '8');
        assert_true(row_shows(c, "HeapLeak", "firing", "1.5 MiB/min"));
        assert_true(shows(c, "A leak: live data grows by 25.6 KiB/s (17.1 KiB/s to 34.1 KiB/s)",
                          "it has grown for three hours"));
        press(c, '1');
        assert_true(row_shows(c, "running", "+25.6 KiB/s", "leak", "n.sessions"));
        assert_true(row_shows(c, "running", "22:18:20")); /* since when */
        press(c, '0');
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) { /* the answer first, whatever the size */
                char *all = drawn(c, sizes[i][0], sizes[i][1], false);

                if (!strstr(all, "\n leak: +25.6 KiB/s since 22:18:20, Main.sessions, limit in") ||
                    !strstr(all, "42m 00s") || !strstr(all, "next "))
                        fail_msg("%s", all);
                free(all);
        }
}

/* A trend of live data, with the verdict, and a label of what grows (NULL: nothing). */
static void send_trend(struct world *w, const char *name, Hw__Verdict verdict, double slope)
{
        Hw__Update u = update_of(name, 1, 10 * SECOND);
        Hw__Trends trends = HW__TRENDS__INIT;
        Hw__Trend live = HW__TREND__INIT;
        Hw__Trend *list[] = { &live };
        Hw__Growth growth = HW__GROWTH__INIT;

        SET(live, series, HW__SERIES__SERIES_LIVE);
        SET(live, verdict, verdict);
        live.has_slope = verdict != HW__VERDICT__VERDICT_UNKNOWN;
        live.slope = live.provisional_slope = slope;
        live.has_verdict_in_ns = !live.has_slope;
        live.has_provisional_slope = !live.has_slope && slope >= 2048;
        live.verdict_in_ns = 350 * SECOND;
        SET(growth, where,
            verdict >= HW__VERDICT__VERDICT_GROWING  ? HW__GROWTH__WHERE__WHERE_LIVE
            : verdict == HW__VERDICT__VERDICT_STEADY ? HW__GROWTH__WHERE__WHERE_NOWHERE
                                                     : HW__GROWTH__WHERE__WHERE_UNKNOWN);
        SET_LIST(trends, trends, list, 1);
        trends.growth = &growth;
        u.body_case = HW__UPDATE__BODY_TRENDS;
        u.trends = &trends;
        assert_int_equal(apply_made(w->world, 0, &u), 0);
}

/* So many major collections, without a rise. */
static void send_flat(struct world *w, const char *name, uint64_t n)
{
        Hw__Update u = update_of(name, 1, 10 * SECOND);
        Hw__Heap heap = HW__HEAP__INIT;

        SET(heap, live_bytes, MIB);
        SET(heap, live_samples, n);
        u.body_case = HW__UPDATE__BODY_HEAP;
        u.heap = &heap;
        assert_int_equal(apply_made(w->world, 0, &u), 0);
}

TEST_WITH(the_worst_target_stands_first, setup, teardown)
{
        struct world *w = *state;
        struct console *c = w->console;

        fill(w->world, "b-steady");
        fill(w->world, "c-leaks");
        fill(w->world, "d-grows");
        fill(w->world, "e-killed");
        send_trend(w, "api-1", HW__VERDICT__VERDICT_UNKNOWN, 2048);
        send_trend(w, "b-steady", HW__VERDICT__VERDICT_STEADY, 0);
        send_trend(w, "c-leaks", HW__VERDICT__VERDICT_LEAK, 4096);
        send_trend(w, "d-grows", HW__VERDICT__VERDICT_GROWING, 8192);
        fill(w->world, "f-either");
        send_trend(w, "f-either", HW__VERDICT__VERDICT_UNKNOWN, 1024);
        assert_int_equal(send_state(w->world, 0, "e-killed", 1, HW__TARGET__STATE__STATE_CRASHED), 0);
        press(c, '1');
        assert_true(shows(c, "verdict↓"));
        assert_true(place_of(c, "e-killed") < place_of(c, "c-leaks"));
        assert_true(place_of(c, "c-leaks") < place_of(c, "d-grows"));
        assert_true(place_of(c, "d-grows") < place_of(c, "api-1"));
        assert_true(place_of(c, "api-1") < place_of(c, "b-steady"));
        assert_true(row_shows(c, "d-grows", "+8.00 KiB/s"));
        assert_true(row_shows(c, "api-1", "~+2.00 KiB/s")); /* provisional */
        assert_true(row_shows(c, "api-1", "unknown"));
        assert_true(row_shows(c, "b-steady", " steady "));
        send_flat(w, "f-either", 9);
        assert_true(row_shows(c, "f-either", " ~steady ")); /* so far: told from a verdict without its colour */
        press(c, 'r');
        assert_true(shows(c, "verdict↑"));
        assert_true(place_of(c, "b-steady") < place_of(c, "c-leaks"));
        assert_true(shows_in(c, 24, 80, "history", "since", "what grows"));
}

/* Each question has its answer on one screen, and none of them is cut off by the size of the others. */
static void send_damage(struct world *w, const char *name, const char *reason)
{
        Hw__Update u = update_of(name, 1, 10 * SECOND);
        Hw__Health health = HW__HEALTH__INIT;
        Hw__Damage damage = HW__DAMAGE__INIT, *damages[] = { &damage };

        damage.reason = (char *)reason;
        SET(health, lost_bytes, 2048);
        SET(health, resyncs, 3);
        SET_LIST(health, damages, damages, 1);
        u.body_case = HW__UPDATE__BODY_HEALTH;
        u.health = &health;
        assert_int_equal(apply_made(w->world, 0, &u), 0);
}

TEST_WITH(the_overview_answers, setup, teardown)
{
        static const int sizes[][2] = { { 20, 60 }, { 24, 80 }, { 40, 120 }, { 60, 200 } };
        static const char *const labels[] = { "\n since ", "\n grows ", "\n where ", "\n until ",
                                              "\n next ",  "live  ",    "Bands" };
        struct world *w = *state;
        struct console *c = w->console;

        send_trend(w, "api-1", HW__VERDICT__VERDICT_LEAK, 4096);
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
                char *all = drawn(c, sizes[i][0], sizes[i][1], false);

                for (size_t k = 0; k < sizeof(labels) / sizeof(labels[0]); k++) {
                        if (!strstr(all, labels[k]))
                                fail_msg("%dx%d lacks '%s':\n%s", sizes[i][1], sizes[i][0], labels[k] + 2, all);
                }
                assert_non_null(strstr(all, "\n leak: +4.00 KiB/s"));
                free(all);
        }
        send_trend(w, "api-1", HW__VERDICT__VERDICT_UNKNOWN, 0);
        assert_true(shows(c, "Is anything wrong? Not known yet: too few major collections",
                          "a rise shows only after 4 measurements of live data; slow growth can be judged in"));
        send_trend(w, "api-1", HW__VERDICT__VERDICT_STEADY, 0);
        assert_true(shows(c, "Is anything wrong? No: memory shows no lasting growth"));
        send_damage(w, "api-1", "a block of the stream whose length is more than its capability's buffer can hold");
        char *all = drawn(c, 24, 80, false); /* the advice is complete, the caveat after it gets the rest */
        char *next = strstr(all, "\n next "), *but = strstr(all, "\n but ");
        if (!next || !but || memmem(next, (size_t)(but - next), "…", 3) ||
            !memmem(next, (size_t)(but - next), "change", 6))
                fail_msg("%s", all);
        free(all);
        world_set_stale(w->world, 0, true);
        assert_true(row_shows(c, " next ", "Find out why heapwatchd is gone"));
        assert_true(shows(c, "the program itself continues"));
        world_set_stale(w->world, 0, false);
        assert_int_equal(send_state(w->world, 0, "api-1", 1, HW__TARGET__STATE__STATE_CRASHED), 0);
        world_set_stale(w->world, 0, true);
        assert_true(row_shows(c, " next ", "Find out why heapwatchd is gone"));
        assert_true(hides(c, "the program itself continues"));
        press(c, '?'); /* what is on the screen is explained first, then what saved files have besides */
        assert_true(shows(c, "the most urgent step that the evidence supports"));
        press_times(c, 10, SCREEN_DOWN);
        assert_true(shows(c, "samples that came too late"));
        char *more = row_with(c, "more ↓");
        assert_ptr_equal(strstr(more, "more ↓"), more + strspn(more, " ")); /* alone: it hides no word */
        free(more);
        press_times(c, 40, SCREEN_DOWN);
        assert_true(shows(c, "how far the stream is behind the program's clock"));
}

static void send_alerts_of(struct world *w, const char *name, Hw__Alert **list, size_t n)
{
        Hw__Update u = update_of(name, 1, 10 * SECOND);
        Hw__Alerts alerts = HW__ALERTS__INIT;

        SET_LIST(alerts, alerts, list, n);
        u.body_case = HW__UPDATE__BODY_ALERTS;
        u.alerts = &alerts;
        assert_int_equal(apply_made(w->world, 0, &u), 0);
}

static void send_alerts(struct world *w, Hw__Alert **list, size_t n)
{
        send_alerts_of(w, "api-1", list, n);
}

/* One leak is one alert wherever alerts are counted; severity decides their order and colour. */
TEST_WITH(one_leak_is_one_alert, setup, teardown)
{
        static const struct {
                const char *rule, *severity, *band;
        } made[] = { { "leaking-band", "warning", "Main.cache" },
                     { "chatty", "info", NULL },
                     { "leaking-band", "warning", "Main.sessions" },
                     { "leak", "warning", NULL },
                     { "memory-runs-out-now", "critical", NULL } };
        enum { N = sizeof(made) / sizeof(made[0]) };
        struct world *w = *state;
        struct console *c = w->console;
        Hw__Alert alerts[N], *list[N];
        struct canvas *canvas;

        for (size_t i = 0; i < N; i++) {
                hw__alert__init(&alerts[i]);
                alerts[i].rule = (char *)made[i].rule;
                alerts[i].severity = (char *)made[i].severity;
                alerts[i].band_label = (char *)made[i].band;
                SET(alerts[i], state, HW__ALERT__STATE__STATE_FIRING);
                alerts[i].part_of = made[i].band ? (char *)"leak" : NULL;
                list[i] = &alerts[i];
        }
        send_alerts(w, list, N);
        press(c, '0');
        assert_true(shows(c, "3 alerts"));
        press(c, '1');
        assert_true(row_shows(c, "api-1", "  3  "));
        press(c, '8');
        assert_true(hides(c, "Main.cache"));
        assert_true(row_shows(c, "leak  ", " 2 ")); /* so many bands belong to it */
        assert_true(place_of(c, "memory-runs-out-now") < place_of(c, "leak  "));
        assert_true(place_of(c, "leak  ") < place_of(c, "chatty"));
        canvas = canvas_new(40, 140, false);
        console_prepare(c, NOW_NS);
        console_draw(c, canvas);
        assert_int_equal(canvas_cell(canvas, 2, 4)->tint, TINT_SELECTED);
        assert_int_equal(canvas_cell(canvas, 3, 4)->tint, TINT_WARN);
        assert_int_equal(canvas_cell(canvas, 4, 4)->tint, TINT_PLAIN);
        canvas_destroy(&canvas);
        press(c, 'e');
        assert_true(shows(c, "Main.cache"));
        alerts[4].has_silenced = alerts[4].silenced = 1;
        send_alerts(w, list, N);
        assert_true(place_of(c, "chatty") < place_of(c, "memory-runs-out-now"));
        press(c, '2');
        assert_true(shows(c, "2 alerts"));
}

/* Of a program that was killed before anything was read of it no start is known: the alert has a time of day. */
TEST_WITH(an_alert_without_a_run_has_a_time, setup, teardown)
{
        struct world *w = *state;
        Hw__Alert alert = HW__ALERT__INIT, *list[] = { &alert };
        Hw__Update u = update_of("b-killed", 1, 0);
        Hw__Target t = HW__TARGET__INIT;

        SET(t, state, HW__TARGET__STATE__STATE_CRASHED);
        u.body_case = HW__UPDATE__BODY_TARGET_STATE;
        u.target_state = &t;
        assert_int_equal(apply_made(w->world, 0, &u), 0);
        alert.rule = (char *)"crashed";
        SET(alert, state, HW__ALERT__STATE__STATE_FIRING);
        SET(alert, fired_ns, SECOND);
        SET(alert, fired_wall_ns, 1700000000 * SECOND);
        send_alerts_of(w, "b-killed", list, 1);
        press(w->console, '8');
        assert_true(row_shows(w->console, "crashed", "22:13:20"));
        press(w->console, 'c'); /* the other clock */
        assert_true(row_shows(w->console, "crashed", "1.00 s"));
}

/* A time of days ago shows its day, and is not wider for it. */
TEST(moments_of_other_days)
{
        const uint64_t hour = 3600 * SECOND, wall = 1700000000 * SECOND; /* a Tuesday, 22:13:20 */
        char text[SHORT_TEXT];

        assert_string_equal(time_of_day(text, sizeof(text), wall, wall + hour), "22:13:20");
        assert_string_equal(time_of_day(text, sizeof(text), wall, wall + 30 * hour), "Tu 22:13");
        assert_string_equal(time_of_day(text, sizeof(text), wall, wall + 1000 * hour), "14 Nov");
}

/* No number is cut: a column has room for the longest text of its unit. */
TEST(numbers_fit_their_columns)
{
        static const struct {
                enum unit unit;
                double number;
        } longest[] = {
                { UNIT_BYTES, 1023 * 1024.0 }, { UNIT_CHANGE, -1023 * 1024.0 },     { UNIT_SHARE, 1 },
                { UNIT_RATE, 1023 * 1024.0 },  { UNIT_SLOPE, -1023 * 1024.0 / 60 }, { UNIT_INTEGRAL, 1023 * 1024.0 },
                { UNIT_NS, 59.9 * 60e9 }
        };

        for (size_t i = 0; console_views[i]; i++) {
                for (size_t k = 0; k < VIEW_TABLES && console_views[i]->tables[k]; k++) {
                        const struct table_class *t = console_views[i]->tables[k];

                        for (size_t n = 0; n < t->n_columns; n++) {
                                const struct column *column = &t->columns[n];

                                for (size_t u = 0; u < sizeof(longest) / sizeof(longest[0]); u++) {
                                        char text[SHORT_TEXT];
                                        int width = column->width < 0 ? -column->width : column->width;

                                        if (column->unit != longest[u].unit || column->draw || column->hidden)
                                                continue;
                                        (void)unit_text(text, sizeof(text), column->unit, longest[u].number);
                                        if (text_columns(text) > width)
                                                fail_msg("%s: %s: '%s' has no room", t->name, column->name, text);
                                }
                        }
                }
        }
}

TEST(a_line_ends_between_words_and_not_in_a_number)
{
        static const struct {
                const char *text, *first;
                int width;
        } cases[] = {
                { "limit in 6d 23h", "limit in ", 12 },
                { "live 26.7 KiB, RSS 57.2 MiB", "live 26.7 KiB, RSS ", 24 },
                { "since 5:00 (cache on)", "since 5:00 ", 13 },
                { "12 MiB", "12 ", 4 }, /* there is no other place */
                { "grows (+4.54 KiB/s)", "grows ", 14 },
                { "all fits", "all fits", 8 },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                assert_int_equal(text_wrap(cases[i].text, cases[i].width), strlen(cases[i].first));
}

TEST(a_slope_has_its_sign)
{
        static const struct {
                double bytes_per_s;
                const char *text;
        } cases[] = {
                { 2.0 * MIB, "+2.00 MiB/s" }, { -2.0 * MIB, "-2.00 MiB/s" }, { 0, "0 MiB/s" }, { 1, "~0 MiB/s" }
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                char text[SHORT_TEXT];

                (void)rate_in_unit(text, sizeof(text), UNIT_SLOPE, rate_unit(1.0 * MIB), cases[i].bytes_per_s);
                assert_string_equal(text, cases[i].text);
        }
}

/* --------------------------------------------------------------- behaviour */

TEST_WITH(frozen_picture_stands_still, setup, teardown)
{
        struct world *w = *state;
        struct console *c = w->console;

        press(c, '2');
        press(c, ' ');
        assert_true(shows(c, "FROZEN", "live 100 MiB"));
        press(c, '3'); /* other views of the same moment */
        assert_true(shows(c, "Main.sessions"));
        press(c, '2');
        press(c, ' ');
        assert_true(hides(c, "FROZEN"));
}

TEST_WITH(stale_says_its_age, setup, teardown)
{
        struct world *w = *state;
        struct console *c = w->console;

        world_set_stale(w->world, 0, true);
        press(c, '2');
        assert_true(shows(c, "STALE 1m 30s")); /* heard at 10 s, now is 100 s */
        assert_true(shows(c, "live 100 MiB")); /* the last picture stays */
        assert_true(shows(c, "heapwatchd gone for 1m 30s; data as of ", "reconnecting"));
        press(c, '1'); /* of all targets, too */
        assert_true(shows(c, "heapwatchd gone for 1m 30s"));
        press(c, '0');
        assert_true(shows_in(c, 20, 60, "reconnecting"));
        world_set_stale(w->world, 0, false);
        assert_true(hides(c, "heapwatchd gone"));
}

/* Of all targets, as `top --once` prints it. */
static char *printed(struct console *c)
{
        static const struct plain_options options = { .view = "targets", .width = 100 };
        char *text = NULL;
        size_t size;
        FILE *to = open_memstream(&text, &size);

        assert_non_null(to);
        assert_int_equal(plain_report(to, c, &options, 1000), 0);
        (void)fclose(to);
        return text;
}

static bool prints(struct console *c, const char *what)
{
        char *text = printed(c);
        const bool found = strstr(text, what) != NULL;

        free(text);
        return found;
}

TEST_WITH(short_of_memory, setup, teardown)
{
        struct world *w = *state;
        Hw__Update u = update_of("", 0, 0);
        Hw__DaemonState daemon = HW__DAEMON_STATE__INIT;

        daemon.memory_pressure = (char *)"38.5 MiB of its 40.0 MiB of memory is in use";
        u.body_case = HW__UPDATE__BODY_DAEMON;
        u.daemon = &daemon;
        press(w->console, '1');
        assert_true(hides(w->console, "short of memory"));
        assert_int_equal(apply_made(w->world, 0, &u), 0);
        assert_true(shows(w->console, "heapwatchd is short of memory: 38.5 MiB of its 40.0 MiB of memory is in use"));
        assert_true(
                prints(w->console, "\n heapwatchd is short of memory: 38.5 MiB of its 40.0 MiB of memory is in use\n"));
        daemon.memory_pressure = NULL;
        assert_int_equal(apply_made(w->world, 0, &u), 0);
        assert_true(hides(w->console, "short of memory"));
        assert_false(prints(w->console, "short of memory"));
}

/* The heap profile is not what is missing when the daemon is. */
TEST(no_census_says_why)
{
        struct world *empty = world_new(&console_past);
        struct console *c = console_new(empty, true);

        assert_int_equal(send_state(empty, 0, "api-1", 1, HW__TARGET__STATE__STATE_RUNNING), 0);
        press(c, '3');
        assert_true(shows(c, "heap profiles need +RTS -h"));
        world_set_stale(empty, 0, true);
        assert_true(hides(c, "+RTS -h"));
        press(c, '0');
        assert_true(hides(c, "+RTS -h"));
        console_destroy(&c);
        world_destroy(&empty);
}

/* A daemon that was restarted without the target: its last picture stays, and no other target is chosen. */
TEST_WITH(picture_outlives_its_daemon, setup, teardown)
{
        struct world *w = *state;
        struct console *c = w->console;

        press(c, '2');
        assert_true(shows(c, "live 100 MiB"));
        console_forget(c, 0);
        world_reset(w->world, 0);
        assert_true(shows(c, "live 100 MiB"));
        assert_int_equal(send_state(w->world, 0, "another", 1, HW__TARGET__STATE__STATE_RUNNING), 0);
        assert_true(shows(c, "live 100 MiB", "heapwatchd was restarted without api-1; data as of "));
        press(c, '1');
        assert_true(hides(c, "api-1"));
        assert_true(shows(c, "another"));
        press(c, '2');
        fill(w->world, "api-1");
        assert_int_equal(send_live(w->world, 0, "api-1", 1, 20 * SECOND, 300 * MIB), 0);
        assert_true(shows(c, "live 300 MiB"));
        assert_true(hides(c, "restarted without"));
}

TEST_WITH(a_removed_target_is_said_to_be_gone, setup, teardown)
{
        struct world *w = *state;
        struct console *c = w->console;

        press(c, '2');
        assert_true(shows(c, "live 100 MiB"));
        fill(w->world, "another");
        assert_int_equal(send_state(w->world, 0, "api-1", 1, HW__TARGET__STATE__STATE_REMOVED), 0);
        assert_true(shows(c, "api-1 is not watched now.", "t shows the 1 that is."));
        press(c, '.');
        assert_true(shows(c, "another", "live 100 MiB"));
}

static int send_collections(struct world *v, const char *name)
{
        Hw__Update u = update_of(name, 1, 10 * SECOND);
        Hw__Gc gc = HW__GC__INIT;
        Hw__Generation young = HW__GENERATION__INIT, old = HW__GENERATION__INIT;
        Hw__Generation *both[] = { &young, &old };

        young.has_generation = young.has_count = 1;
        SET(old, generation, 1);
        SET(old, count, 63);
        SET(old, pause_total_ns, 32 * SECOND / 1000);
        SET(old, pause_p99_ns, SECOND / 1000);
        SET_LIST(gc, generations, both, 2);
        SET(gc, gc_share, 0.25);
        u.body_case = HW__UPDATE__BODY_GC;
        u.gc = &gc;
        return apply_made(v, 0, &u);
}

/* Nothing of an ended run is called new, and its times do not advance; 80x24 shows the collected generation. */
TEST_WITH(what_has_ended_is_shown_as_it_ended, setup, teardown)
{
        struct world *w = *state;
        struct console *c = w->console;

        assert_int_equal(send_collections(w->world, "api-1"), 0);
        press(c, '0');
        assert_true(shows_in(c, 24, 80, " up ", "last census ", " ago at ", "25.0 % of the last 10 s",
                             "gen 1            63"));
        assert_true(hides_in(c, 24, 80, "gen 0"));
        assert_int_equal(send_state(w->world, 0, "api-1", 1, HW__TARGET__STATE__STATE_CRASHED), 0);
        assert_true(
                shows_in(c, 24, 80, " lasted ", "at its end · max ", "25.0 % of its last 10 s", " before the end at "));
        assert_true(hides_in(c, 24, 80, " old", " up "));
}

TEST_WITH(help_explains, setup, teardown)
{
        struct console *c = console_of(state);

        press(c, '3');
        press(c, '?');
        assert_true(shows(c, "in the newest census", "standard deviation over the window"));
        press_times(c, 100, SCREEN_DOWN);
        assert_true(shows(c, "freeze the screen"));
        press(c, '?');
        assert_string_equal(c->shown->class->name, "bands");
        press(c, '?');
        assert_true(shows(c, "? q back"));
        press(c, 'q');
        assert_string_equal(c->shown->class->name, "bands");
        assert_false(c->quit);
        press(c, SCREEN_ESCAPE); /* there is one target: no list to go to */
        assert_string_equal(c->shown->class->name, "bands");
        fill(c->live, "api-2");
        press(c, SCREEN_ESCAPE);
        assert_string_equal(c->shown->class->name, "targets");
        press(c, 'q');
        assert_true(c->quit);
}

/* Each number has a help text, and a name that files can use, only once in its view. */
TEST(every_column_is_explained)
{
        char help[1024];

        for (size_t i = 0; console_views[i]; i++) {
                for (size_t k = 0; k < VIEW_TABLES && console_views[i]->tables[k]; k++) {
                        const struct table_class *t = console_views[i]->tables[k];

                        for (size_t n = 0; n < t->n_columns; n++) {
                                const char *name = column_name(&t->columns[n]);

                                assert_non_null(name);
                                assert_true(!t->columns[n].title[0] ||
                                            *column_help(help, sizeof(help), &t->columns[n]));
                                for (size_t m = 0; m < n; m++)
                                        assert_string_not_equal(column_name(&t->columns[m]), name);
                        }
                }
                for (size_t n = 0; n < console_views[i]->n_figures; n++)
                        assert_true(*column_help(help, sizeof(help), &console_views[i]->figures[n]));
        }
}

/* A column that names a fact has its value, name, unit and help. */
TEST(a_column_of_a_fact)
{
        static const struct column column = { .title = "live", .fact = FACT_LIVE };
        struct world_target *t = calloc(1, sizeof(*t));
        Hw__Heap heap = HW__HEAP__INIT;
        char help[1024], text[SHORT_TEXT];

        assert_non_null(t);
        t->heap = &heap;
        assert_int_equal(column_value(&column, NULL, t).is, VALUE_NONE);
        assert_string_equal(facts_text(text, t, FACT_LIVE), UNKNOWN_TEXT);
        SET(heap, live_bytes, 3 << 20);
        assert_int_equal(column_value(&column, NULL, t).is, VALUE_NUMBER);
        assert_true(column_value(&column, NULL, t).number == 3 << 20);
        assert_string_equal(facts_text(text, t, FACT_LIVE), "3.00 MiB");
        assert_string_equal(column_name(&column), "live_bytes");
        assert_int_equal(column_unit(&column), UNIT_BYTES);
        assert_string_equal(column_help(help, sizeof(help), &column),
                            "live data after the last major collection, or reached since then (watched from outside)");
        free(t);
}

TEST_WITH(mouse, setup, teardown)
{
        struct console *c = console_of(state);
        char *row;
        int at;

        free(drawn(c, 40, 140, false));
        row = row_with(c, "3Bands");
        at = (int)(strstr(row, "3Bands") - row);
        free(row);
        console_click(c, 39, at, false);
        assert_string_equal(c->shown->class->name, "bands");
        assert_int_equal(place_of(c, "ARR_WORDS"), 4);
        console_prepare(c, NOW_NS);
        console_click(c, 4, 20, false);
        assert_string_equal(((const struct world_band *)table_selected(c->table))->def->label, "ARR_WORDS");
        console_click(c, 4, 20, true);
        assert_string_equal(c->shown->class->name, "band");
        press(c, SCREEN_ESCAPE);
        row = row_with(c, "history");
        at = text_columns(row) - (int)strlen(strstr(row, "band"));
        free(row);
        console_click(c, 2, at, false);
        assert_string_equal(table_sorted_by(c->table)->name, "label");
}

TEST_WITH(small_screens, setup, teardown)
{
        struct console *c = console_of(state);
        static const int sizes[][2] = { { 16, 60 }, { 24, 80 }, { 3, 20 }, { 1, 1 }, { 60, 300 }, { 2, 500 } };

        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
                for (size_t i = 0; console_views[i]; i++) {
                        console_show(c, console_views[i]);
                        free(drawn(c, sizes[s][0], sizes[s][1], false));
                        free(drawn(c, sizes[s][0], sizes[s][1], true));
                }
        }
        console_show(c, &view_bands);
        assert_true(shows_in(c, 16, 60, "Main.sessions", "100 MiB"));
        console_show(c, &view_memory);
        assert_true(shows_in(c, 16, 60, "live 100 MiB", "128 MiB"));
}

TEST_WITH(ascii, setup, teardown)
{
        struct console *c = console_of(state);

        for (size_t i = 0; console_views[i]; i++) {
                console_show(c, console_views[i]);
                char *all = drawn(c, 30, 100, true);

                for (char *p = all; *p; p++)
                        assert_true((*p >= ' ' && *p < 0x7f) || *p == '\n');
                free(all);
        }
}

/* Escape sequences, wide, combining and very long labels, bidi overrides. */
TEST_WITH(hostile_labels, setup, teardown)
{
        struct world *w = *state;
        struct console *c = w->console;
        char wide[4000] = "";
        uint32_t ids[] = { 1, 2, 3, 4 };
        uint64_t bytes[] = { 4000, 3000, 2000, 1000 };

        for (int i = 0; i < 1000; i++)
                memcpy(wide + strlen(wide), "字", 4);
        assert_int_equal(send_band(w->world, "api-1", 1, 1, "\x1b]0;title\x07\x1b[2J"), 0);
        assert_int_equal(send_band(w->world, "api-1", 1, 2, wide), 0);
        assert_int_equal(send_band(w->world, "api-1", 1, 3, "e\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81 joined"), 0);
        assert_int_equal(send_band(w->world, "api-1", 1, 4,
                                   "\xe2\x80\xae"
                                   "desrever \n\r\t"),
                         0);
        assert_int_equal(send_census(w->world, "api-1", 1, 11, ids, bytes, 4), 0);
        press(c, '3');
        for (int row = 0; row < 4; row++) {
                char *all = drawn(c, 30, 100, row % 2);

                for (char *p = all; *p; p++)
                        assert_true((unsigned char)*p >= ' ' || *p == '\n');
                assert_null(strstr(all, "\xe2\x80\xae"));
                assert_null(strchr(all, 0x7f));
                free(all);
                press(c, SCREEN_ENTER);
                free(drawn(c, 30, 100, false));
                press(c, SCREEN_ESCAPE);
                press(c, SCREEN_DOWN);
        }
        assert_true(shows(c, "\\x1B]0;title"));
}

TEST_WITH(ten_thousand_bands, setup, teardown)
{
        struct world *w = *state;
        struct console *c = w->console;
        enum { N = 10000 };
        uint32_t *ids = calloc(N, sizeof(*ids));
        uint64_t *bytes = calloc(N, sizeof(*bytes));

        for (uint32_t i = 0; i < N; i++) {
                ids[i] = i + 1;
                bytes[i] = (i * UINT64_C(7919)) % N + 1;
        }
        assert_int_equal(send_census(w->world, "api-1", 1, 11, ids, bytes, N), 0);
        press(c, '3');
        free(drawn(c, 40, 140, false));
        press(c, SCREEN_END);
        assert_int_equal(c->table->at, N - 1);
        assert_int_equal(((const struct world_band *)table_selected(c->table))->bytes, 1);
        press_times(c, 300, SCREEN_PAGE_UP);
        assert_int_equal(c->table->at, 0);
        assert_int_equal(((const struct world_band *)table_selected(c->table))->bytes, N);
        for (size_t i = 1; i < N; i++)
                assert_true(((const struct world_band *)c->table->rows[i - 1].data)->bytes >
                            ((const struct world_band *)c->table->rows[i].data)->bytes);
        free(ids);
        free(bytes);
}

TEST(nothing_to_show)
{
        struct world *empty = world_new(&console_past);
        struct console *c = console_new(empty, true);

        for (size_t i = 0; console_views[i]; i++) {
                console_show(c, console_views[i]);
                free(drawn(c, 24, 80, false));
                press(c, SCREEN_ENTER);
                press(c, SCREEN_DOWN);
                press(c, ' ');
                press(c, ' ');
        }
        console_show(c, &view_overview);
        assert_true(shows(c, "Waiting for a daemon"));
        console_destroy(&c);
        world_destroy(&empty);
}

TEST(what_was_cut_is_marked_once)
{
        for (int ascii = 0; ascii <= 1; ascii++) {
                struct canvas *canvas = canvas_new(1, 12, ascii);

                assert_non_null(canvas);
                assert_int_equal(canvas_put(canvas, canvas_area(canvas), 0, 0, 5, TINT_PLAIN, "abc… “def”"), 4);
                (void)canvas_put(canvas, canvas_area(canvas), 0, 5, 7, TINT_PLAIN, "“def” g");
                char *text = canvas_row_text(canvas, 0);
                assert_string_equal(text, ascii ? "abc~ \"def\" g" : "abc… “def” g");
                free(text);
                canvas_destroy(&canvas);
        }
}

static int begin_tests(void **state)
{
        (void)setlocale(LC_ALL, "C.UTF-8");
        (void)setenv("TZ", "UTC", 1);
        return 0;
}

TEST_GROUP(begin_tests, NULL)
