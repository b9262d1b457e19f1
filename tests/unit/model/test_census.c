/* SPDX-License-Identifier: BSD-3-Clause */
/* Censuses, bands and their names, from synthetic events. */
#include "daemon/model/bands_private.h"
#include "daemon/model/limits.h"
#include "proto/base/agent_socket.h"
#include "proto/base/array.h"
#include "proto/base/limits.h"
#include "proto/base/outside_census.h"
#include "tests/unit/model/one_feed.h"

#include <math.h>
#include <stdio.h>

static void profile_begin(enum breakdown breakdown)
{
        ev(&f, HW_HEAP_PROF_BEGIN, NONE, 1, "184zzzzzzz", U(0), U(100000000), U(breakdown), "", "", "", "", "", "", "");
}

static void begin(uint64_t t)
{
        ev(&f, HW_HEAP_PROF_SAMPLE_BEGIN, NONE, t, "8", U(0));
}

static void row(const char *label, uint64_t bytes)
{
        ev(&f, HW_HEAP_PROF_SAMPLE_STRING, NONE, 1, "18z", U(0), bytes, label);
}

static void end(uint64_t t)
{
        ev(&f, HW_HEAP_PROF_SAMPLE_END, NONE, t, "8", U(0));
}

static const struct band *band(uint32_t id)
{
        return bands_get(model_bands(f.m), id);
}

/* Its count is 0 when there is none. */
static struct cell point(const struct band *b, uint32_t i)
{
        struct cell p = { .n = 0 };

        (void)band_point(b, i, &p);
        return p;
}

FEED_TEST(test_rows_and_bands)
{
        profile_begin(BREAKDOWN_CLOSURE_TYPE);
        row("orphan", 5); /* of a sample that began before the log */
        begin(10);
        row("FUN", 100);
        row("base:GHC.Types.I#", 50);
        row("FUN", 7); /* rows are keyed by pointer: one label may come twice */
        assert_int_equal(f.n_censuses, 0);
        assert_int_equal(f.n_bands, 2);
        end(12);
        assert_int_equal(f.n_censuses, 1);
        assert_true(f.census.number == 1 && f.census.time_ns == 10 && f.census.total_bytes == 157);
        assert_int_equal(f.census.n_rows, 2);
        assert_true(f.rows[0].band == 1 && f.rows[0].bytes == 107);
        assert_true(f.rows[1].band == 2 && f.rows[1].bytes == 50);
        assert_false(f.census.unfinished);
        assert_string_equal(band(1)->label, "FUN");
        assert_int_equal(band(1)->bytes, 107);
        assert_int_equal(band(1)->first_seen_ns, 10);
        begin(20 * SECOND);
        row("base:GHC.Types.I#", 60);
        row("ARR_WORDS", 1);
        assert_int_equal(model_census(f.m)->number, 1); /* the newest finished one stays while the next arrives */
        assert_int_equal(model_census(f.m)->rows[0].bytes, 107);
        end(21 * SECOND);
        assert_int_equal(f.n_bands, 3);
        assert_int_equal(band(1)->bytes, 0); /* no row in the newest */
        assert_int_equal(band(2)->bytes, 60);
        assert_int_equal(band_total(band(2)).cell.n, 2);
        assert_int_equal(point(band(2), 0).n, 1);
        assert_int_equal(point(band(2), 1).n, 0);
        assert_true(point(band(2), 20).last == 60);
        assert_int_equal(point(band(2), 21).n, 0);
        assert_int_equal(f.n_samples[SERIES_CENSUS_TOTAL], 2);
        assert_int_equal(f.newest_sample[SERIES_CENSUS_TOTAL], 61);
        begin(30 * SECOND);
        end(30 * SECOND); /* empty, but a census */
        assert_int_equal(model_census(f.m)->number, 3);
        assert_int_equal(model_census(f.m)->n_rows, 0);
        assert_int_equal(band(2)->bytes, 0);
        assert_null(band(0));
        assert_null(band(4));
        model_begin_run(f.m, 2);
        assert_int_equal(bands_count(model_bands(f.m)), 0);
        assert_int_equal(model_census(f.m)->number, 0);
}

static void census_numbered(uint64_t time_ns, uint64_t number, uint64_t threads)
{
        ev(&f, HW_HEAP_PROF_SAMPLE_BEGIN, NONE, time_ns, "8", number);
        if (threads)
                ev(&f, HW_OUTSIDE_BAND_THREADS, NONE, time_ns, "48", U(0), threads);
        row("FUN", 100);
        end(time_ns);
}

/* The number of an estimated census has its spread, in whole millionths, none of which are lost upwards. */
FEED_TEST(test_an_estimated_census)
{
        static const double spreads[] = { 1e-6, 0.0306, 1.5, 1e9 };
        const struct census_history *h = model_census_history(f.m);

        profile_begin(BREAKDOWN_CLOSURE_TYPE);
        for (uint64_t i = 0; i < ARRAY_SIZE(spreads); i++) {
                census_numbered((2 * i + 1) * SECOND, outside_census_number(spreads[i]), 0);
                const struct census *c = model_census(f.m);
                const double most = fmin(spreads[i], UINT32_MAX * 1e-6);
                assert_true(c->outside && c->spread >= most * (1 - 1e-9) && c->spread <= most + 1.001e-6);
                assert_true(h->spread == c->spread);
                census_numbered((2 * i + 2) * SECOND, i, 0);
                assert_true(!model_census(f.m)->outside && model_census(f.m)->spread == 0);
                assert_int_equal(h->first_ns, SECOND);
        }
        census_numbered(20 * SECOND, 0, 50); /* threads have a band of their own, and in the next one they have not */
        assert_int_equal(h->first_ns, SECOND);
        census_numbered(21 * SECOND, outside_census_number(0.05), 0);
        assert_int_equal(h->first_ns, 21 * SECOND);
        census_numbered(22 * SECOND, outside_census_number(0), 50);
        assert_true(model_census(f.m)->outside && model_census(f.m)->spread == 0);
        assert_int_equal(h->first_ns, 22 * SECOND);
        assert_true(census_margin(0.05, 25, 125) == 2.5 && census_margin(0.05, 125, 125) == 0);
}

/* One that was read from outside costs no pause, also where its time is within a collection's. */
FEED_TEST(test_a_census_from_outside_costs_no_pause)
{
        static const uint64_t numbers[] = { OUTSIDE_CENSUS, 0 };

        ev(&f, HW_HEAP_INFO_GHC, NONE, 1, "428888", U(0), U(2), U(0), U(4194304), U(1048576), U(4096));
        profile_begin(BREAKDOWN_CLOSURE_TYPE);
        for (uint64_t i = 0; i < 2; i++) {
                const uint64_t from = (i + 1) * SECOND;
                ev(&f, HW_GC_START, 0, from, "");
                ev(&f, HW_HEAP_PROF_SAMPLE_BEGIN, NONE, from + 10, "8", numbers[i]);
                row("FUN", 100 + i);
                end(from + 10);
                ev(&f, HW_GC_STATS_GHC, 0, from + 20, "42888488", U(0), U(1), U(500), U(30), U(40), U(1), U(0), U(500));
                ev(&f, HW_GC_END, 0, from + 20, "");
                assert_true(model_census(f.m)->number == i + 1 && model_census(f.m)->total_bytes == 100 + i);
                assert_int_equal(model_gc(f.m)->census_pause_ns, 20 * i);
                assert_true(model_census(f.m)->outside == (i == 0));
        }
}

static void collect(uint64_t from, uint64_t to)
{
        ev(&f, HW_GC_START, 0, from, "");
        ev(&f, HW_GC_STATS_GHC, 0, to, "42888488", U(0), U(1), U(500), U(30), U(40), U(1), U(0), U(500));
        ev(&f, HW_GC_END, 0, to, "");
}

/* A collection for heapwatch's own census is none of the program's, whichever of their events come first. */
FEED_TEST(test_what_watching_costs_is_kept_apart)
{
        for (uint64_t period = 0; period <= 1; period++)
                for (int late = 0; late <= 1; late++) {
                        feed_close(&f);
                        feed_open(&f);
                        ev(&f, HW_HEAP_INFO_GHC, NONE, 1, "428888", U(0), U(2), U(0), U(4194304), U(1048576), U(4096));
                        ev(&f, HW_HEAP_PROF_BEGIN, NONE, 1, "184zzzzzzz", U(0),
                           period ? UINT64_C(0) : AGENT_CENSUS_PERIOD_NS, U(BREAKDOWN_CLOSURE_TYPE), "", "", "", "", "",
                           "", "");
                        collect(SECOND, SECOND + 1000);
                        for (uint64_t i = 2; i < 4; i++) {
                                if (late)
                                        collect(i * SECOND, i * SECOND + 2000 * i);
                                census_numbered(i * SECOND + 10, 0, 0);
                                if (!late)
                                        collect(i * SECOND, i * SECOND + 2000 * i);
                        }
                        const struct gc *gc = model_gc(f.m);
                        const double *facts = model_heap(f.m)->facts;
                        const struct generation *g = &gc->generations[1];
                        assert_int_equal(gc->pause_total_ns, 11000);
                        assert_int_equal(gc->census_pause_ns, 10000);
                        assert_int_equal(gc->last[2].for_watching, !period);
                        assert_int_equal(g->count, period ? 3 : 1);
                        assert_int_equal(g->pauses.count, g->count);
                        assert_int_equal(g->pause_total_ns, period ? 11000 : 1000);
                        assert_in_range(g->pause_max_ns, period ? 6000 : 1000, period ? 6000 : 1032);
                        if (period) {
                                assert_true(isnan(facts[CARRIED_WATCH_CENSUSES]));
                                continue;
                        }
                        assert_true(facts[CARRIED_WATCH_CENSUSES] == 2);
                        assert_true(facts[CARRIED_WATCH_PAUSES] == 10000);
                        assert_true(facts[CARRIED_WATCH_PAUSE_MAX] == 6000);
                }
}

/* How many threads a band has comes before its row, and is of that row alone. */
FEED_TEST(test_threads_of_a_band)
{
        ev(&f, HW_OUTSIDE_THREADS, NONE, 1, "48", U(0), U(99));
        assert_true(model_heap(f.m)->facts[CARRIED_HASKELL_THREADS] == 99);
        profile_begin(BREAKDOWN_CLOSURE_TYPE);
        for (uint64_t i = 0; i < 2; i++) {
                begin((i + 1) * SECOND);
                row("TSO", 100);
                ev(&f, HW_OUTSIDE_BAND_THREADS, NONE, (i + 1) * SECOND, "48", U(0), U(16 + i));
                row("threads of one place", 1600 + 100 * i);
                row("STACK", 100);
                end((i + 1) * SECOND);
                const struct census *c = model_census(f.m);
                assert_true(c->tells_groups && c->rows[1].band == 2 && c->rows[1].threads == 16 + i);
                assert_true(c->rows[0].threads == 0 && c->rows[2].threads == 0);
        }
        ev(&f, HW_OUTSIDE_THREADS, NONE, 3 * SECOND, "48", U(0), U(7)); /* too few at any place */
        begin(3 * SECOND);
        ev(&f, HW_OUTSIDE_BAND_THREADS, NONE, 3 * SECOND, "48", U(0), U(7)); /* of no row */
        end(3 * SECOND);
        assert_true(model_census(f.m)->tells_groups);
        begin(4 * SECOND);
        row("threads of one place", 1600);
        end(4 * SECOND);
        assert_true(!model_census(f.m)->tells_groups && model_census(f.m)->rows[0].threads == 0);
}

static void put_message(const char *text)
{
        ev(&f, HW_LOG_MSG, NONE, SECOND, "z", text);
}

/* In a program's own log messages tell threads, whose bytes are in other bands: no band has them twice. */
FEED_TEST(test_threads_beside_bands)
{
        static const char *const others[] = { "",
                                              "x",
                                              "1 x",
                                              "18446744073709551616",
                                              "0 5 none",
                                              "-1 5 none",
                                              "7 5",
                                              "7 5 ",
                                              "7  5 none",
                                              "4294967296 5 none",
                                              "7 99999999999999999999 none" };
        const uint64_t notes = notes_total(model_notes(f.m));
        char text[64];

        profile_begin(BREAKDOWN_CLOSURE_TYPE);
        put_message(OUTSIDE_SAYS_THREADS "40 39000 threads of no census");
        begin(SECOND); /* the program's own */
        put_message(OUTSIDE_SAYS_THREADS "40");
        end(SECOND);
        assert_true(!model_census(f.m)->tells_groups && isnan(model_heap(f.m)->facts[CARRIED_HASKELL_THREADS]));
        ev(&f, HW_HEAP_PROF_SAMPLE_BEGIN, NONE, 2 * SECOND, "8", OUTSIDE_CENSUS);
        put_message(OUTSIDE_SAYS_THREADS "41");
        put_message(OUTSIDE_SAYS_THREADS "40 39000 threads of one place");
        row("STACK", 40000);
        for (unsigned i = 0; i < ARRAY_SIZE(others); i++) {
                (void)snprintf(text, sizeof(text), OUTSIDE_SAYS_THREADS "%s", others[i]);
                put_message(text);
        }
        end(2 * SECOND);
        const struct census *c = model_census(f.m);
        assert_true(c->tells_groups && c->n_groups == 1 && c->n_rows == 1 && c->total_bytes == 40000);
        assert_true(c->groups[0].threads == 40 && c->groups[0].bytes == 39000);
        assert_string_equal(band(c->groups[0].band)->label, "threads of one place");
        assert_true(band(c->groups[0].band)->bytes == 0 && !band(c->groups[0].band)->sampled);
        assert_true(model_heap(f.m)->facts[CARRIED_HASKELL_THREADS] == 41);
        assert_int_equal(notes_total(model_notes(f.m)), notes);
        ev(&f, HW_HEAP_PROF_SAMPLE_BEGIN, NONE, 3 * SECOND, "8", OUTSIDE_CENSUS);
        for (unsigned i = 0; i < 1000; i++) { /* more than any inspection finds */
                (void)snprintf(text, sizeof(text), OUTSIDE_SAYS_THREADS "40 39000 group %u", i);
                put_message(text);
        }
        end(3 * SECOND);
        assert_true(model_census(f.m)->n_groups == 256 && !model_census(f.m)->tells_groups);
}

/* How many closures bands have is known where one message tells all of them. */
FEED_TEST(test_closures_of_bands)
{
        static const char *const others[] = { "",       "12",    "12 ",
                                              "12 3 4", "12 x",  "12  3",
                                              "x",      "-12 3", "12 18446744073709551616" };

        profile_begin(BREAKDOWN_CLOSURE_TYPE);
        put_message(OUTSIDE_SAYS_CLOSURES "12"); /* of no census */
        for (unsigned i = 0; i < ARRAY_SIZE(others) + 3; i++) {
                char text[64] = OUTSIDE_SAYS_CLOSURES "12 18446744073709551615";
                if (i < ARRAY_SIZE(others))
                        (void)snprintf(text, sizeof(text), OUTSIDE_SAYS_CLOSURES "%s", others[i]);
                begin((2 * i + 1) * SECOND);
                row("a", 500);
                if (i == ARRAY_SIZE(others)) /* before a row */
                        put_message(text);
                row("b", 40);
                if (i != ARRAY_SIZE(others))
                        put_message(text);
                if (i == ARRAY_SIZE(others) + 1) /* it has another row */
                        row("c", 3);
                end((2 * i + 1) * SECOND);
                assert_true(census_has_closures(model_census(f.m)) == (i == ARRAY_SIZE(others) + 2));
        }
        const struct census *c = model_census(f.m);
        assert_true(c->rows[0].closures == 12 && c->rows[1].closures == UINT64_MAX);
}

/* What most of a band is: of one that the census has, and no more than all of it. */
FEED_TEST(test_contents_of_bands)
{
        static const char *const others[] = { "",          "0",           "0 ",         "0 300",
                                              "0 300 ",    "x 3 [Int]",   "0 x [Int]",  "0  3 [Int]",
                                              "2 3 [Int]", "0 501 [Int]", "-1 3 [Int]", "4294967296 3 [Int]" };
        const uint64_t notes = notes_total(model_notes(f.m));
        char text[512];

        profile_begin(BREAKDOWN_CLOSURE_TYPE);
        put_message(OUTSIDE_SAYS_CONTENTS "0 3 [Int]"); /* of no census */
        begin(SECOND);
        put_message(OUTSIDE_SAYS_CONTENTS "0 3 [Int]"); /* before its row */
        row("a", 500);
        row("b", 40);
        for (unsigned i = 0; i < ARRAY_SIZE(others); i++) {
                (void)snprintf(text, sizeof(text), OUTSIDE_SAYS_CONTENTS "%s", others[i]);
                put_message(text);
        }
        put_message(OUTSIDE_SAYS_CONTENTS "1 40 Map Int Session");
        (void)snprintf(text, sizeof(text), OUTSIDE_SAYS_CONTENTS "0 499 %0300d", 7); /* longer than is kept */
        put_message(text);
        end(SECOND);
        const struct census *c = model_census(f.m);
        assert_int_equal(c->n_contents, 2);
        assert_true(c->contents[0].band == c->rows[1].band && c->contents[0].bytes == 40);
        assert_string_equal(c->contents[0].name, "Map Int Session");
        assert_true(c->contents[1].band == c->rows[0].band && c->contents[1].bytes == 499);
        assert_int_equal(strlen(c->contents[1].name), sizeof(c->contents[1].name) - 1);
        assert_int_equal(notes_total(model_notes(f.m)), notes);
        for (unsigned i = 0; i < 2; i++) { /* of censuses that tell none, estimated: until the band has doubled */
                ev(&f, HW_HEAP_PROF_SAMPLE_BEGIN, NONE, SECOND + SECOND / 2, "8", U(i * outside_census_number(0.1)));
                row("b", 82);
                row("a", 700);
                end(SECOND + SECOND / 2);
                c = model_census(f.m);
                assert_int_equal(c->n_contents, 1);
                assert_true(c->contents[0].band == c->rows[1].band && c->contents[0].bytes == 499);
                assert_int_equal(c->contents[0].of_bytes, 500);
        }
        begin(2 * SECOND);
        row("a", 500);
        for (unsigned i = 0; i < 100; i++)
                put_message(OUTSIDE_SAYS_CONTENTS "0 3 [Int]");
        end(2 * SECOND);
        assert_int_equal(model_census(f.m)->n_contents, OUTSIDE_CONTENTS_MOST);
}

FEED_TEST(test_unfinished)
{
        begin(10);
        row("a", 5);
        end(11);
        begin(20);
        row("a", 9);
        row("b", 9);
        begin(30); /* the end is lost */
        assert_int_equal(f.n_censuses, 2);
        assert_true(f.census.unfinished && f.census.number == 2 && f.census.total_bytes == 18);
        assert_int_equal(model_census(f.m)->number, 1);
        assert_int_equal(band(1)->bytes, 5); /* half a census says nothing of a band */
        row("a", 7);
        end(31);
        assert_int_equal(f.census.number, 3);
        assert_int_equal(band(1)->bytes, 7);
        begin(40);
        row("a", 1);
        profile_begin(BREAKDOWN_CLOSURE_TYPE); /* the profile begins again */
        assert_true(f.census.unfinished && f.census.number == 4);
        begin(50);
        model_end_run(f.m, true);
        assert_true(f.census.unfinished && f.census.number == 5);
        assert_int_equal(model_census(f.m)->number, 3);
        model_end_run(f.m, true);
        assert_int_equal(f.n_censuses, 5);
}

/* Before 8.10 a sample ends where the next begins, or with the log. */
FEED_TEST(test_without_end_events)
{
        ev(&f, HW_RTS_IDENTIFIER, NONE, 0, "4t", U(0), "GHC-8.6.5 rts_p");
        begin(10);
        row("a", 5);
        begin(20);
        assert_true(f.n_censuses == 1 && !f.census.unfinished && f.census.number == 1);
        row("a", 6);
        model_end_run(f.m, true);
        assert_true(f.n_censuses == 2 && !f.census.unfinished && f.census.number == 2);
        assert_int_equal(band(1)->bytes, 6);
        model_begin_run(f.m, 2); /* nothing known of the release: the first cut sample cannot be trusted */
        begin(10);
        model_end_run(f.m, true);
        assert_true(f.census.unfinished);
}

FEED_TEST(test_biography)
{
        profile_begin(BREAKDOWN_BIOGRAPHY);
        for (uint64_t i = 1; i <= 3; i++) {
                ev(&f, HW_HEAP_BIO_PROF_SAMPLE_BEGIN, NONE, 100 * SECOND, "88", U(7), i * SECOND);
                row("VOID", 10 * i);
                end(100 * SECOND);
                assert_int_equal(f.census.time_ns, i * SECOND);
        }
        ev(&f, HW_HEAP_BIO_PROF_SAMPLE_BEGIN, NONE, 100 * SECOND, "88", U(7), UINT64_MAX);
        end(100 * SECOND);
        assert_int_equal(f.census.time_ns, 100 * SECOND); /* a sample is not later than its event */
}

static void centre(uint32_t id, const char *label, const char *module)
{
        ev(&f, HW_HEAP_PROF_COST_CENTRE, NONE, 1, "4zzz1", U(id), label, module, "a.hs:1:2-3", U(id == 3));
}

FEED_TEST(test_stacks)
{
        profile_begin(BREAKDOWN_COST_CENTRE_STACK);
        centre(1, "inner", "Main");
        centre(2, "outer", "Lib");
        centre(3, "CAF", "Lib");
        begin(10);
        ev(&f, HW_HEAP_PROF_SAMPLE_COST_CENTRE, NONE, 1, "18144", U(0), U(100), U(2), U(1), U(2));
        ev(&f, HW_HEAP_PROF_SAMPLE_COST_CENTRE, NONE, 1, "18144", U(0), U(10), U(2), U(2), U(1));
        ev(&f, HW_HEAP_PROF_SAMPLE_COST_CENTRE, NONE, 1, "181", U(0), U(5), U(0));
        ev(&f, HW_HEAP_PROF_SAMPLE_COST_CENTRE, NONE, 1, "18144", U(0), U(1), U(2), U(3), U(99));
        ev(&f, HW_HEAP_PROF_SAMPLE_COST_CENTRE, NONE, 1, "18144", U(0), U(3), U(2), U(1), U(2));
        ev(&f, HW_HEAP_PROF_SAMPLE_COST_CENTRE, NONE, 1, "18144", U(0), U(9), U(255), U(1), U(2)); /* lies */
        end(11);
        assert_int_equal(f.census.n_rows, 4);
        assert_int_equal(f.census.total_bytes, 119);
        assert_string_equal(band(1)->label, "inner/outer");
        assert_int_equal(band(1)->bytes, 103);
        assert_true(band(1)->depth == 2 && band(1)->stack[0] == 1 && band(1)->stack[1] == 2);
        assert_string_equal(band(2)->label, "outer/inner");
        assert_string_equal(band(3)->label, "MAIN");
        assert_int_equal(band(3)->depth, 0);
        assert_string_equal(band(4)->label, "Lib.CAF/cc#99");
        struct cost_centre c = bands_cost_centre(model_bands(f.m), 3);
        assert_string_equal(c.label, "CAF");
        assert_string_equal(c.module, "Lib");
        assert_string_equal(c.source, "a.hs:1:2-3");
        assert_true(c.caf && !bands_cost_centre(model_bands(f.m), 1).caf);
        c = bands_cost_centre(model_bands(f.m), 99);
        assert_true(c.id == 99 && c.label == NULL);
        centre(1, "renamed", "Main"); /* may be posted again */
        assert_string_equal(bands_cost_centre(model_bands(f.m), 1).label, "renamed");
        assert_int_equal(bands_cost_centres_left_out(model_bands(f.m)), 0);
}

FEED_TEST(test_a_deep_stack_is_cut)
{
        uint8_t payload[10 + 255 * 4] = { 0 };

        begin(1);
        payload[8] = 1;
        payload[9] = 255;
        for (size_t i = 0; i < 255; i++)
                payload[10 + i * 4 + 3] = (uint8_t)i;
        struct hw_event e = { .payload = payload, .size = sizeof(payload), .id = HW_HEAP_PROF_SAMPLE_COST_CENTRE };
        model_events(f.m, &e, 1);
        assert_int_equal(band(1)->depth, 255);
        assert_int_equal(band(1)->stack[254], 254);
        assert_true(strlen(band(1)->label) <= 512);
        assert_string_equal(band(1)->label + strlen(band(1)->label) - 3, "...");
}

static void ipe(uint64_t key, const char *name)
{
        ev(&f, HW_IPE, NONE, 1, "8zzzzzz", key, name, "21", "T", "bind", "Main", "a.hs:1:2");
}

FEED_TEST(test_info_tables)
{
        profile_begin(BREAKDOWN_INFO_TABLE);
        ipe(0x4ab3c8, "Main_Leak_con_info");
        begin(10);
        row("0x4ab3c8", 100);
        row("0xDEADbeef", 20);
        row("00000000004AB3C8", 1); /* the other spelling of the same */
        row("oops", 3);
        row("0x", 4);
        row("0x11111111111111111", 5); /* 17 digits: no key */
        end(11);
        assert_int_equal(f.census.n_rows, 5);
        assert_int_equal(band(1)->bytes, 101);
        assert_string_equal(band(1)->label, "Main_Leak_con_info");
        assert_true(band(1)->key == 0x4ab3c8 && band(1)->info_table);
        assert_string_equal(band(1)->info_table->closure_type, "21");
        assert_string_equal(band(1)->info_table->type, "T");
        assert_string_equal(band(1)->info_table->label, "bind");
        assert_string_equal(band(1)->info_table->module, "Main");
        assert_string_equal(band(1)->info_table->source, "a.hs:1:2");
        assert_string_equal(band(2)->label, "0xDEADbeef");
        assert_true(band(2)->key == 0xdeadbeef && !band(2)->info_table);
        assert_string_equal(band(3)->label, "oops");
        assert_int_equal(f.n_bands, 5);
        ipe(0xdeadbeef, "late_info"); /* after its band */
        assert_int_equal(f.n_bands, 6);
        assert_int_equal(f.band.id, 2);
        assert_string_equal(f.band.label, "late_info");
        assert_non_null(band(2)->info_table);
        ipe(0xdeadbeef, "late_info"); /* again, as after a restart: nothing new */
        assert_int_equal(f.n_bands, 6);
        ipe(0x777, ""); /* no table name: the binding's */
        begin(20);
        row("0x777", 1);
        end(20);
        assert_string_equal(band(6)->label, "bind");
        ipe(0x4ab3c8, "renamed"); /* another definition of the same table */
        assert_string_equal(band(1)->label, "renamed");
        begin(30);
        row("0xdeadbeef", 7);
        row("0x4ab3c8", 8);
        end(31);
        assert_true(f.rows[0].band == 2 && f.rows[1].band == 1); /* still the same bands */
        assert_int_equal(bands_count(model_bands(f.m)), 6);
        assert_int_equal(bands_info_tables(model_bands(f.m)), 3);
        assert_int_equal(bands_info_tables_left_out(model_bands(f.m)), 0);
}

/* More of them than are prefetched at once, each with a table, in two orders. */
FEED_TEST(test_many_info_tables)
{
        enum { MANY = 3000 };
        char label[32];

        profile_begin(BREAKDOWN_INFO_TABLE);
        for (uint32_t i = 0; i < MANY; i++)
                if (i % 3)
                        ipe(0x1000 + i, "table");
        for (uint32_t n = 0; n < 2; n++) {
                begin(10 + n);
                for (uint32_t i = 0; i < MANY; i++) {
                        uint32_t k = n ? MANY - 1 - i : i;
                        snprintf(label, sizeof(label), "0x%x", (unsigned)(0x1000 + k));
                        row(label, k);
                }
                end(10 + n);
                assert_int_equal(f.census.n_rows, MANY);
        }
        assert_int_equal(bands_count(model_bands(f.m)), MANY);
        for (uint32_t i = 0; i < MANY; i++) {
                const struct band *b = band(i + 1);
                assert_true(b->key == 0x1000 + i && b->bytes == i && !b->info_table == !(i % 3));
                assert_int_equal(band_total(b).cell.n, 2);
        }
}

/* First seen in a census that never ends: without a sample, until one that ends. */
FEED_TEST(test_band_of_an_unfinished_census)
{
        begin(10);
        row("a", 1);
        end(10);
        begin(20);
        row("b", 2);
        begin(30);
        row("a", 3);
        end(30);
        assert_int_equal(band(2)->first_seen_ns, 20);
        assert_int_equal(band_total(band(2)).cell.n, 0);
        begin(40);
        row("b", 4);
        end(40);
        struct trend_cell b = band_total(band(2));
        assert_true(b.cell.n == 1 && b.cell.min == 4 && b.cell.max == 4 && b.cell.last == 4 && b.cell.last_ns == 40);
        assert_true(b.cell.mean == 4 && b.m_tt == 0 && b.m_vv == 0);
        assert_int_equal(band_total(band(1)).cell.n, 2);
}

/* GHC 9.4.3 wrote the address of the code behind the table; the releases around it did not. */
FEED_TEST(test_info_tables_of_943)
{
        static const struct {
                const char *rts;
                uint64_t behind;
        } cases[] = { { "GHC-9.4.3 rts_v", 16 },
                      { "GHC-9.4.3 rts_thr_p_l", 32 },
                      { "GHC-9.4.2 rts_v", 0 },
                      { "GHC-9.4.4 rts_v", 0 } };

        for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
                model_begin_run(f.m, i + 1);
                ev(&f, HW_RTS_IDENTIFIER, NONE, 0, "4t", U(0), cases[i].rts);
                profile_begin(BREAKDOWN_INFO_TABLE);
                ipe(0x4ab3c8 + cases[i].behind, "known_info");
                begin(10);
                row("0x4ab3c8", 100);
                row("0x777000", 20);
                end(11);
                assert_string_equal(band(1)->label, "known_info");
                assert_string_equal(band(2)->label, "0x777000");
                ipe(0x777000 + cases[i].behind, "late_info");
                assert_string_equal(band(2)->label, "late_info");
        }
}

FEED_TEST(test_texts_that_are_cut_short)
{
        profile_begin(BREAKDOWN_INFO_TABLE);
        ev(&f, HW_IPE, NONE, 1, "8zt", U(5), "name", "no NUL behind"); /* four texts are missing */
        begin(10);
        row("0x5", 1);
        ev(&f, HW_HEAP_PROF_SAMPLE_STRING, NONE, 1, "18t", U(0), U(2), "no NUL");
        ev(&f, HW_HEAP_PROF_SAMPLE_STRING, NONE, 1, "18", U(0), U(3));
        end(11);
        assert_string_equal(band(1)->info_table->closure_type, "no NUL behind");
        assert_string_equal(band(1)->info_table->source, "");
        assert_string_equal(band(2)->label, "no NUL");
        assert_string_equal(band(3)->label, "");
        ev(&f, HW_HEAP_PROF_COST_CENTRE, NONE, 1, "4", U(6));
        assert_string_equal(bands_cost_centre(model_bands(f.m), 6).label, "");
}

static void many(uint32_t from, uint32_t to)
{
        for (uint32_t i = from; i < to; i++) {
                char label[32];
                snprintf(label, sizeof(label), "Module.binding%u", (unsigned)i);
                row(label, 10);
        }
}

/* Out of memory. */
FEED_TEST(test_closed_to_new_bands)
{
        begin(10);
        many(0, 3);
        end(11);
        model_close_bands(f.m, true);
        const size_t held = model_held_bytes(f.m);
        begin(20);
        many(0, 5);
        end(21);
        begin(22);
        many(3, 5000);
        end(23);
        assert_true(model_held_bytes(f.m) < held + 50000); /* rows of the census, but no labels */
        assert_int_equal(bands_count(model_bands(f.m)), 3);
        assert_int_equal(f.census.rows_left_out, 4997);
        assert_int_equal(bands_left_out(model_bands(f.m)), 4997);
        model_close_bands(f.m, false);
        begin(30);
        many(0, 5);
        end(31);
        assert_int_equal(bands_count(model_bands(f.m)), 5);
}

FEED_TEST(test_too_many_bands)
{
        begin(10);
        many(0, LIMIT_BANDS);
        row("one more", 7);
        row("and another", 6);
        row("Module.binding5", 1); /* known ones go on */
        end(11);
        assert_int_equal(bands_count(model_bands(f.m)), LIMIT_BANDS);
        assert_int_equal(f.census.rows_left_out, 2);
        assert_int_equal(f.census.bytes_left_out, 13);
        assert_int_equal(f.census.total_bytes, LIMIT_BANDS * 10 + 14);
        assert_int_equal(bands_left_out(model_bands(f.m)), 2);
        assert_non_null(band(LIMIT_FULL_BANDS)->history);
        assert_null(band(LIMIT_FULL_BANDS + 1)->history);
        assert_int_equal(band(LIMIT_FULL_BANDS + 1)->bytes, 10);
        assert_true(sizeof(struct fold) + BAND_POINTS * sizeof(struct band_point) <= 2300);
}

/* 10,000 bands and 100,000 info tables in 40 MB. */
FEED_TEST(test_memory_of_a_large_program)
{
        profile_begin(BREAKDOWN_INFO_TABLE);
        for (uint32_t i = 0; i < 100000; i++) {
                char name[64], label[64], source[96];
                snprintf(name, sizeof(name), "Some_Module_Name_%u_closure_con_info", (unsigned)i);
                snprintf(label, sizeof(label), "someBinding%u", (unsigned)i);
                snprintf(source, sizeof(source), "src/Some/Module%u/Name.hs:%u:1-%u", i % 500u, (unsigned)i, i % 80u);
                ev(&f, HW_IPE, NONE, 1, "8zzzzzz", U(i) * 16, name, "21", "Data.Map.Internal.Map k v", label,
                   "Some.Module.Name", source);
        }
        begin(10);
        for (uint32_t i = 0; i < 10000; i++) {
                char label[32];
                snprintf(label, sizeof(label), "0x%x", (unsigned)(i * 16));
                row(label, i);
        }
        end(11);
        assert_int_equal(bands_info_tables(model_bands(f.m)), 100000);
        assert_int_equal(f.census.n_rows, 10000);
        assert_string_equal(band(10000)->label, "Some_Module_Name_9999_closure_con_info");
        assert_in_range(model_held_bytes(f.m), 10 << 20, 40000000);
}

FEED_TEST(test_sums_do_not_wrap)
{
        begin(10);
        row("a", UINT64_MAX - 1);
        row("a", 5);
        row("b", 5);
        end(10);
        assert_true(f.census.total_bytes == UINT64_MAX && f.rows[0].bytes == UINT64_MAX);
}

/* A band's history against all its samples, with times that jump. */
FEED_TEST(test_history_of_a_band)
{
        static uint64_t times[600], values[600];
        uint64_t x = 5, t = 100 * SECOND;

        for (unsigned i = 0; i < 600; i++) {
                x = x * UINT64_C(6364136223846793005) + 12345;
                uint64_t r = x >> 33;
                t += r % 10 ? r % (5 * SECOND) : 0;
                times[i] = r % 7 ? t : t - r % (t < 60 * SECOND ? t : 60 * SECOND); /* late at times */
                if (i == 400)
                        t += UINT64_C(86400) * SECOND;
                values[i] = r % 1000;
                begin(times[i]);
                row("x", values[i]);
                end(times[i]);
                const struct fold *h = band(1)->history;
                if (i % 50 && i < 590)
                        continue;
                uint64_t count = 0;
                for (unsigned p = 0; p < BAND_POINTS; p++) {
                        unsigned n = 0, min = 1000, max = 0, sum = 0;
                        for (unsigned k = 0; k <= i; k++) {
                                if (times[k] / h->width_ns != h->first + p)
                                        continue;
                                n++;
                                sum += (unsigned)values[k];
                                min = values[k] < min ? (unsigned)values[k] : min;
                                max = values[k] > max ? (unsigned)values[k] : max;
                        }
                        const struct cell at = point(band(1), p);
                        assert_int_equal(at.n, n);
                        count += n;
                        if (!n)
                                continue;
                        assert_true((unsigned)at.min == min && (unsigned)at.max == max);
                        double mean = (double)sum / n;
                        assert_true(at.mean > mean - 0.1 && at.mean < mean + 0.1);
                }
                assert_int_equal(count, i + 1);
        }
}

/* A band's bytes at a time, by its history: `last` of the newest cell that begins by then; 0 before the first. */
static double held(const struct band *b, uint64_t time_ns)
{
        double v = 0;

        for (uint32_t i = 0; i < b->history->n; i++) {
                const struct cell p = point(b, i);
                if (p.n && (b->history->first + i) * b->history->width_ns <= time_ns)
                        v = p.last;
        }
        return v;
}

/* At the last census of each of the total's cells, bands and total are those of that census, exactly. */
FEED_TEST(test_bands_and_total_are_of_one_census)
{
        enum { CENSUSES = 900, BANDS = 5 };
        static const char *const names[BANDS] = { "a", "b", "c", "d", "e" };
        static uint64_t times[CENSUSES], values[CENSUSES][BANDS];
        uint64_t x = 77, t = 0, start_ns;
        unsigned checked = 0;

        for (unsigned i = 0; i < CENSUSES; i++) {
                double total = 0;

                x = x * UINT64_C(6364136223846793005) + 12345;
                t += (x >> 33) % (3 * SECOND) + 1;
                times[i] = t;
                begin(t);
                for (unsigned b = 0; b < BANDS; b++) {
                        x = x * UINT64_C(6364136223846793005) + 12345;
                        /* one is always there, one comes late, the others come and go */
                        bool has = b == 0 || (b == 1 ? i > 300 : (x >> 40) % 3 != 0);
                        values[i][b] = has ? 1 + (x >> 33) % 100000 : 0;
                        if (has)
                                row(names[b], values[i][b]);
                }
                end(t);
                if (i % 37 && i != CENSUSES - 1)
                        continue;
                const struct census_history *h = model_census_history(f.m);
                for (uint32_t c = 0; c < h->fold.n; c++) {
                        const struct cell *cell = census_history_at(h, c);
                        unsigned k = 0;

                        start_ns = fold_time_ns(&h->fold, c);
                        if (!cell)
                                continue;
                        assert_true(start_ns <= cell->last_ns && cell->last_ns < start_ns + h->fold.width_ns);
                        while (times[k] != cell->last_ns)
                                k++;
                        total = 0;
                        for (unsigned b = 0; b < BANDS; b++)
                                total += (double)values[k][b];
                        assert_true(cell->last == total);
                        for (uint32_t id = 1; id <= f.n_bands; id++) {
                                unsigned b = (unsigned)(band(id)->label[0] - 'a');

                                assert_true(band(id)->history->width_ns <= h->fold.width_ns);
                                assert_true(held(band(id), cell->last_ns) == (double)values[k][b]);
                                checked++;
                        }
                }
        }
        assert_true(checked > 1000);
}

FEED_TEST(test_history_of_hostile_times)
{
        static const uint64_t times[] = { 5, UINT64_MAX, 0, UINT64_MAX / 2, 7 };

        for (unsigned i = 0; i < 5; i++) {
                begin(times[i]);
                row("x", 1);
                end(times[i]);
        }
        uint64_t count = 0;
        for (unsigned p = 0; p < band(1)->history->n; p++)
                count += point(band(1), p).n;
        assert_int_equal(count, 5);
}

static uint64_t samples_kept(const struct band *b)
{
        uint64_t n = 0;

        for (uint32_t i = 0; i < b->history->n; i++)
                n += point(b, i).n;
        return n;
}

/* Beyond the first bands small ones have fewer points, until they are large; no sample is lost by that. */
FEED_TEST(test_small_bands_have_few_points)
{
        enum { CENSUSES = 300, BANDS = 100, GROWS = 60, FROM = 200 };
        char name[16];

        for (unsigned i = 0; i < CENSUSES; i++) {
                begin(i * SECOND);
                for (unsigned b = 0; b < BANDS; b++) {
                        snprintf(name, sizeof(name), "band %u", b);
                        row(name, b == 0 ? 100u << 20 : b == GROWS && i >= FROM ? BAND_WHOLE_BYTES : 100 + i);
                }
                end(i * SECOND);
                assert_int_equal(band(GROWS + 1)->whole, i >= FROM);
        }
        for (uint32_t id = 1; id <= BANDS; id++) {
                bool whole = id <= BAND_WHOLE_FIRST || id == GROWS + 1;
                assert_int_equal(band(id)->history->n > BAND_POINTS_THIN, whole);
                assert_int_equal(samples_kept(band(id)), CENSUSES);
        }
        assert_true(held(band(GROWS + 1), FROM * SECOND) >= BAND_WHOLE_BYTES);
        assert_true(held(band(GROWS + 1), (FROM - 20) * SECOND) < 1000);
}

/* Points of small bands are small: sizes below BAND_WHOLE_BYTES are kept exactly, whatever becomes of the count. */
FEED_TEST(test_thin_points)
{
        struct band_point_thin a = { .mean = 1000, .min = 0, .max = 65535, .last = 7, .count = UINT16_MAX };
        struct band_point_thin b = { .mean = 3000, .min = 1, .max = 9, .last = 65535, .count = UINT16_MAX },
                               none = { 0 };

        assert_true(sizeof(a) == 12);
        assert_true(band_point_thin_is_empty(&none) && !band_point_thin_is_empty(&a));
        band_point_thin_merge(&none, &a);
        assert_memory_equal(&none, &a, sizeof(a));
        band_point_thin_merge(&a, &b);
        assert_true(a.min == 0 && a.max == 65535 && a.last == 65535 && a.count == UINT16_MAX);
        assert_float_equal(a.mean, 2000, 0.5);
        band_point_thin_reset(&a);
        band_point_thin_merge(&b, &a); /* an empty one changes nothing */
        assert_true(b.mean > 2999 && b.mean < 3001 && b.count == UINT16_MAX);
        _Static_assert(BAND_WHOLE_BYTES - 1 <= UINT16_MAX, "what is smaller fits into a thin point");
}

static bool about(double a, double b, double scale)
{
        return a - b <= 1e-6 * scale && b - a <= 1e-6 * scale;
}

/* Against a cell that takes the same samples one by one; some come late, in some censuses there is no row. */
FEED_TEST(test_total)
{
        struct trend_cell naive = { .cell.n = 0 };
        uint64_t x = 7, t = 30 * UINT64_C(86400) * SECOND;

        for (unsigned i = 0; i < 2000; i++) {
                x = x * UINT64_C(6364136223846793005) + 12345;
                uint64_t r = x >> 33, bytes = (UINT64_C(1) << 40) + r % 100000;
                t += r % (3 * SECOND);
                uint64_t time_ns = r % 11 ? t : t - r % (50 * SECOND);

                begin(time_ns);
                if (r % 5)
                        row("x", bytes);
                end(time_ns);
                if (r % 5)
                        trend_cell_add(&naive, time_ns, (double)bytes);
                if (!naive.cell.n)
                        continue;
                struct trend_cell b = band_total(band(1));
                const struct trend_cell *m = &b, *n = &naive;
                assert_true(m->cell.n == n->cell.n && m->cell.min == n->cell.min && m->cell.max == n->cell.max);
                assert_true(m->cell.last == n->cell.last && m->cell.last_ns == n->cell.last_ns);
                assert_true(about(m->t_mean, n->t_mean, n->t_mean) && about(m->cell.mean, n->cell.mean, n->cell.mean));
                assert_true(about(m->m_tt, n->m_tt, n->m_tt + 1e-6) && about(m->m_vv, n->m_vv, n->m_vv + 1));
                assert_true(about(m->m_tv, n->m_tv, sqrt(n->m_tt * n->m_vv) + 1));
        }
}

/* The next row is usually that of the previous census: a label that only begins like it is another band. */
FEED_TEST(test_expected_rows)
{
        static const char *const labels[][3] = {
                { "FUN", "FUNX", "FU" }, { "FUN", "FU", "FUNX" }, { "FUNX", "FUNX", "FUN" }, { "FUN", "FUNX", "FU" }
        };
        static const uint64_t bytes[][3] = { { 1, 2, 4 }, { 1, 4, 2 }, { 4, 3, 0 }, { 1, 2, 4 } }; /* FUN, FUNX, FU */

        for (unsigned i = 0; i < 4; i++) {
                begin(10 + i);
                for (unsigned k = 0; k < 3; k++)
                        row(labels[i][k], UINT64_C(1) << k);
                end(10 + i);
                for (uint32_t id = 1; id <= 3; id++)
                        assert_int_equal(band(id)->bytes, bytes[i][id - 1]);
        }
        assert_int_equal(bands_count(model_bands(f.m)), 3);
}
