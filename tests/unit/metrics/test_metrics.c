/* SPDX-License-Identifier: BSD-3-Clause */
/* test_metrics.c - bands that keep their places, histograms, limits, names. */
#include <math.h>
#include <stdio.h>
#include "tests/unit/test.h"
#include <stdlib.h>

#include "client/out/metrics/collect.h"
#include "client/out/metrics/metric.h"
#include "proto/base/document.h"
#include "proto/base/sketch.h"
#include "tests/unit/console/made_up.h"

static const char *daemon_name(const void *ctx, size_t daemon)
{
        return "ipc:///d";
}

/* What a scraper gets; to free(). */
static char *sheet(struct metrics *m, const struct world *v, bool open)
{
        struct metrics_source source = { .world = v, .n_daemons = 1, .daemon_name = daemon_name };
        struct document d;

        document_open(&d);
        metrics_print(d.to, m, &source, open);
        assert_true(document_close(&d));
        return document_detach(&d);
}

static void has(const char *text, const char *line, bool wanted)
{
        if (!strstr(text, line) == wanted)
                fail_msg("%s '%s' in:\n%s", wanted ? "no" : "there is", line, text);
}

/* ------------------------------------------------------------------ bands */

static void census(struct world *v, uint64_t number, uint64_t a, uint64_t b, uint64_t c)
{
        uint32_t ids[] = { 1, 2, 3 };
        uint64_t bytes[] = { a, b, c };

        assert_int_equal(send_census(v, "t", 1, number, ids, bytes, 3), 0);
}

/* With room for one, b takes a's place when it is more than a quarter larger, not before. */
TEST(a_band_keeps_its_place)
{
        struct metrics *m = metrics_new(&(struct metrics_options){ .bands = 1 });
        struct world *v = world_new(NULL);
        static const struct {
                uint64_t a, b;
                bool b_shown;
        } steps[] = { { 100, 90, false }, { 100, 120, false }, { 100, 125, false },
                      { 100, 126, true }, { 125, 101, true },  { 127, 101, false } };

        assert_int_equal(send_band(v, "t", 1, 1, "a"), 0);
        assert_int_equal(send_band(v, "t", 1, 2, "b"), 0);
        assert_int_equal(send_band(v, "t", 1, 3, "c"), 0);
        for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
                char line[96];

                census(v, i + 1, steps[i].a, steps[i].b, 7);
                char *text = sheet(m, v, false);
                has(text, "band=\"a\"", !steps[i].b_shown);
                has(text, "band=\"b\"", steps[i].b_shown);
                (void)snprintf(line, sizeof(line), "{target=\"t\",band=\"other\",id=\"other\"} %d\n",
                               (int)(7 + (steps[i].b_shown ? steps[i].a : steps[i].b)));
                has(text, line, true);
                free(text);
        }
        world_destroy(&v);
        metrics_destroy(&m);
}

/* Ids belong to a run: the choice in the previous run does not count. */
TEST(a_new_run_chooses_anew)
{
        struct metrics *m = metrics_new(&(struct metrics_options){ .bands = 1 });
        struct world *v = world_new(NULL);
        uint32_t ids[] = { 1, 2 };
        uint64_t first[] = { 100, 10 }, second[] = { 100, 101 };

        assert_int_equal(send_census(v, "t", 1, 1, ids, first, 2), 0);
        free(sheet(m, v, false));
        assert_int_equal(send_census(v, "t", 2, 1, ids, second, 2), 0);
        char *text = sheet(m, v, false);
        has(text, "id=\"2\"} 101\n", true);
        has(text, "id=\"1\"", false);
        free(text);
        world_destroy(&v);
        metrics_destroy(&m);
}

/* The largest, as many as there is room for, in any order of the input. */
TEST(the_largest_are_chosen)
{
        enum { N = 400, ROOM = 50 };
        struct metric_scope s = { .bands = ROOM };
        struct world *v = world_new(NULL);
        uint32_t ids[N];
        uint64_t bytes[N], sum = 0;
        struct bands_shown shown;

        for (uint32_t i = 0; i < N; i++) {
                ids[i] = i + 1;
                bytes[i] = 1 + (uint64_t)i * 7919 % N; /* 1 to N, mixed */
                sum += bytes[i];
        }
        assert_int_equal(send_census(v, "t", 1, 1, ids, bytes, N), 0);
        s.target = world_find(v, "t");
        assert_true(bands_choose(&shown, &s));
        assert_int_equal(shown.n, ROOM);
        for (size_t i = 0; i < ROOM; i++) {
                assert_int_equal(shown.bands[i]->bytes, N - i);
                sum -= shown.bands[i]->bytes;
        }
        assert_int_equal(shown.other_bytes, sum);
        world_destroy(&v);
}

/* -------------------------------------------------------------- histograms */

/* At each bound of its buckets, by the same rule. */
static void a_native_one_counts_the_same(const Hw__Generation *g, const uint64_t *values, size_t n)
{
        struct native_histogram h;
        double so_far;

        native_of_pauses(&h, g);
        so_far = (double)h.zero;
        assert_int_equal(h.count, n);
        assert_true(h.n > 0 && h.counts[0] > 0 && h.counts[h.n - 1] > 0);
        for (size_t b = 0; b < h.n; b++) {
                double bound = exp2((double)(h.first + (int)b) / (1 << NATIVE_SCHEMA)) * 1e9, most = 0, least = 0;

                so_far += (double)h.counts[b];
                for (size_t i = 0; i < n; i++) {
                        most += (double)values[i] <= bound * (1 + 1e-9);
                        least += (double)values[i] <= bound * 31 / 32;
                }
                assert_true(so_far <= most && so_far >= least);
        }
        assert_true(so_far == (double)n);
}

/* Against a count of the values: too small at most by those within 1/32 of the bound, never too large. */
TEST(a_histogram_counts_pauses)
{
        enum { CELLS = SKETCH_CELLS(5, 42) };
        static uint64_t counts[CELLS], values[20000];
        static uint32_t cells[CELLS];
        static uint64_t filled[CELLS];
        Hw__Generation g = HW__GENERATION__INIT;
        double got[HISTOGRAM_BOUNDS];
        uint64_t x = 1;

        for (size_t i = 0; i < 20000; i++) {
                x = x * 6364136223846793005u + 1442695040888963407u;
                values[i] = (x >> 33) >> (x >> 59); /* of all sizes up to 2 s */
                counts[sketch_cell(5, values[i])]++;
        }
        for (uint32_t c = 0; c < CELLS; c++) {
                if (!counts[c])
                        continue;
                cells[g.n_bucket] = c;
                filled[g.n_bucket++] = counts[c];
        }
        g.bucket = cells;
        SET_LIST(g, bucket_count, filled, g.n_bucket);
        assert_true(histogram_of_pauses(got, &g) == 20000);
        a_native_one_counts_the_same(&g, values, 20000);
        for (size_t b = 0; b < HISTOGRAM_BOUNDS; b++) {
                double most = 0, least = 0;

                for (size_t i = 0; i < 20000; i++) {
                        most += (double)values[i] <= histogram_bounds[b] * 1e9;
                        least += (double)values[i] <= histogram_bounds[b] * 1e9 * 31 / 32;
                }
                assert_true(got[b] <= most && got[b] >= least);
        }
}

/* A cell that no value has, as in a broken message. */
TEST(cells_beyond_the_last_are_the_last)
{
        Hw__Generation g = HW__GENERATION__INIT;
        double got[HISTOGRAM_BOUNDS];
        uint32_t cells[] = { UINT32_MAX };
        uint64_t counts[] = { 3, 4 };

        g.bucket = cells;
        g.bucket_count = counts;
        g.n_bucket = 1;
        g.n_bucket_count = 2;
        assert_true(histogram_of_pauses(got, &g) == 3);
        assert_true(got[HISTOGRAM_BOUNDS - 1] == 0);

        struct native_histogram h;
        native_of_pauses(&h, &g);
        assert_int_equal(h.count, 3);
        assert_int_equal(h.n, 1);
        assert_int_equal(h.counts[0], 3);
        cells[0] = 0; /* pauses of 0 ns have no logarithm */
        native_of_pauses(&h, &g);
        assert_int_equal(h.zero, 3);
        assert_int_equal(h.n, 0);
}

/* ------------------------------------------------------------------ limits */

TEST(samples_of_a_target_are_bounded)
{
        struct metrics *m = metrics_new(&(struct metrics_options){ .series = 20 });
        struct world *v = world_new(NULL);
        uint32_t ids[30];
        uint64_t bytes[30];

        for (uint32_t i = 0; i < 30; i++) {
                ids[i] = i + 1;
                bytes[i] = 100 - i;
        }
        assert_int_equal(send_state(v, 0, "t", 1, HW__TARGET__STATE__STATE_RUNNING), 0);
        assert_int_equal(send_live(v, 0, "t", 1, SECOND, 5), 0);
        assert_int_equal(send_census(v, "t", 1, 1, ids, bytes, 30), 0);
        char *text = sheet(m, v, false);
        size_t samples = 0;
        for (const char *at = text; (at = strstr(at, "\nheapwatch_")); at++)
                samples++;
        assert_int_equal(samples, 21); /* and the one that says how many are left out */
        has(text, "heapwatch_live_bytes{target=\"t\"} 5\n", true);
        has(text, "heapwatch_series_left_out{target=\"t\"} ", true);
        free(text);
        world_destroy(&v);
        metrics_destroy(&m);
}

/* ------------------------------------------------------------------- names */

TEST(rows_are_whole)
{
        const struct metric *const lists[] = { metrics_of_target, metrics_of_daemon, metrics_of_sink };

        for (size_t l = 0; l < 3; l++)
                for (const struct metric *m = lists[l]; m->name; m++) {
                        assert_int_equal(!!m->fact + !!m->value + !!m->put, 1);
                        assert_non_null(metric_help(m));
                        assert_non_null(m->labels);
                }
}

/* Each fact is one metric, unless it is hidden; so a number is added by its row in facts.def alone. */
TEST(every_fact_is_a_metric)
{
        for (int id = FACT_NONE + 1; id < FACTS; id++) {
                size_t found = 0;

                for (const struct metric *m = metrics_of_target; m->name; m++)
                        found += m->fact == (enum fact)id;
                if (found != (fact_rows[id].kind != FACT_HIDDEN))
                        fail_msg("%s is %zu metrics", fact_rows[id].name, found);
        }
}

TEST(openmetrics_is_asked_for)
{
        assert_false(metrics_wants_open(NULL));
        assert_false(metrics_wants_open("text/plain;version=0.0.4"));
        assert_true(metrics_wants_open("application/openmetrics-text"));
        assert_true(metrics_wants_open("application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"));
        assert_true(metrics_wants_open("text/plain, application/openmetrics-text; version=\"1.0.0\""));
        assert_false(metrics_wants_open("application/openmetrics-text; version=0.0.1,text/plain"));
}
