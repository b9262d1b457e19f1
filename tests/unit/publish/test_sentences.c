/* SPDX-License-Identifier: BSD-3-Clause */
/* Each verdict, each place of growth, each kind of limit in words, and never beyond the end of the room for it. */
#include <math.h>

#include "daemon/publish/sentences.h"
#include "tests/unit/model/events.h"
#include "tests/unit/golden.h"
#include "tests/unit/phrase_slots.h"
#include "tests/unit/test.h"

#define MIB 1048576.0

static char out[SENTENCE_MAX];

static struct trend_result rising(enum trend_verdict verdict, enum trend_basis basis, enum window_test missing)
{
        return (struct trend_result){
                .verdict = verdict,
                .has_slope = true,
                .slope = 2 * MIB,
                .slope_low = MIB,
                .slope_high = 3 * MIB,
                .onset_ns = 5 * SECOND,
                .evidence = { .basis = basis, .missing = missing, .span_ns = 3600 * SECOND },
        };
}

/* Of what is in `out`, under its key. */
#define says(key) golden_line(__func__, key, out)

TEST(verdicts)
{
        struct trend_result r = { .verdict = TREND_UNKNOWN, .verdict_by_ns = UINT64_MAX };

        says(sentence_verdict(out, sizeof(out), &r));
        r.provisional = (struct trend_provisional){ true, 1 << 20, 1 << 19, 3 << 19, UINT64_C(12000000000) };
        r.verdict_in_ns = UINT64_C(6000000000);
        says(sentence_verdict(out, sizeof(out), &r));
        r.rises_so_far = true;
        r.verdict_by_ns = UINT64_C(32000000000);
        says(sentence_verdict(out, sizeof(out), &r));
        r.rises_so_far = false;
        r.verdict_by_ns = UINT64_MAX;
        r.over = true;
        r.verdict_in_ns = 0;
        r.provisional.known = false;
        says(sentence_verdict(out, sizeof(out), &r));
        r.is_part = true;
        says(sentence_verdict(out, sizeof(out), &r));
        r.is_part = false;
        r.verdict_in_ns = UINT64_MAX; /* long enough, but too many of its steps are empty */
        says(sentence_verdict(out, sizeof(out), &r));
        r.rises_so_far = true;
        says(sentence_verdict(out, sizeof(out), &r));
        r.over = false;
        says(sentence_verdict(out, sizeof(out), &r));
        r = rising(TREND_STEADY, TREND_BASIS_RECENT, TEST_Z3);
        says(sentence_verdict(out, sizeof(out), &r));
        r.doubted = true; /* it is told as far as it is known beside the growth of others */
        says(sentence_verdict(out, sizeof(out), &r));
        r.over = true;
        says(sentence_verdict(out, sizeof(out), &r));
        r.over = r.doubted = r.has_slope = false;
        says(sentence_verdict(out, sizeof(out), &r));
        r.has_slope = true;
        r.evidence.missing = TEST_COUNT;
        r.provisional = (struct trend_provisional){ true, 2 * MIB, MIB, 3 * MIB, 12 * SECOND };
        says(sentence_verdict(out, sizeof(out), &r));

        r = rising(TREND_GROWING, TREND_BASIS_GROWS, TEST_SPAN);
        says(sentence_verdict(out, sizeof(out), &r));
        r.evidence.missing = TEST_COUNT;
        says(sentence_verdict(out, sizeof(out), &r));
        r.evidence.basis = TREND_BASIS_RECENT;
        says(sentence_verdict(out, sizeof(out), &r));
        r.has_slope = false;
        says(sentence_verdict(out, sizeof(out), &r));
        r = rising(TREND_LEAK, TREND_BASIS_LEAKS, TEST_COUNT);
        says(sentence_verdict(out, sizeof(out), &r));
        r.evidence.basis = TREND_BASIS_HOLDS;
        says(sentence_verdict(out, sizeof(out), &r));
        r.slope_low = r.slope_high = r.slope; /* one number is not an interval */
        r.over = true;
        says(sentence_verdict(out, sizeof(out), &r));
}

/* Every test that can be missing has its own words. */
TEST(what_is_missing)
{
        for (unsigned i = 0; i < TEST_COUNT; i++) {
                const char *words = window_test_failure((enum window_test)i);
                struct trend_result r = rising(TREND_STEADY, TREND_BASIS_RECENT, (enum window_test)i);

                assert_true(words && strlen(words) > 6 && strcmp(words, "unknown") != 0);
                says(sentence_verdict(out, sizeof(out), &r));
                assert_non_null(strstr(out, words));
                for (unsigned k = 0; k < i; k++)
                        assert_string_not_equal(words, window_test_failure((enum window_test)k));
        }
}

static struct growth_series series(struct trend_result r)
{
        return (struct growth_series){ .known = true, .trend = r };
}

static struct growth nothing(enum growth_where where)
{
        return (struct growth){
                .where = where,
                .start_wall_ns = UNKNOWN_U64,
                .foreign_bytes = UNKNOWN_U64,
                .slop_bytes = UNKNOWN_U64,
                .fragmentation_bytes = UNKNOWN_U64,
                .megablocks_held = UNKNOWN_U64,
                .megablocks_needed = UNKNOWN_U64,
                .megablocks_returned = UNKNOWN_U64,
                .nonmoving_bytes = UNKNOWN_U64,
                .nonmoving_live_bytes = UNKNOWN_U64,
        };
}

/* A number of a census long ago is not beside one of now without its age. */
TEST(threads_of_an_old_census)
{
        struct thread_rise r = { .threads = 6000,
                                 .rate = 112,
                                 .rate_low = 109,
                                 .rate_high = 114.2,
                                 .band_threads = 1900,
                                 .band_time_ns = 20 * SECOND };
        struct feed f;

        feed_open(&f);
        ev(&f, HW_HEAP_PROF_SAMPLE_BEGIN, NONE, 20 * SECOND, "8", U(1));
        ev(&f, HW_HEAP_PROF_SAMPLE_STRING, NONE, 20 * SECOND, "18z", U(0), U(9000), "threads in Main.worker");
        ev(&f, HW_HEAP_PROF_SAMPLE_END, NONE, 20 * SECOND, "8", U(1));
        r.as_of_ns = 50 * SECOND;
        says(sentence_threads(out, sizeof(out), &r, model_bands(f.m)));
        r.rate_low = r.rate_high = r.rate;
        r.age_ns = 40 * SECOND;
        r.band = 1;
        says(sentence_threads(out, sizeof(out), &r, model_bands(f.m)));
        feed_close(&f);
}

TEST(places)
{
        struct growth g = nothing(GROWTH_UNKNOWN);
        struct feed f;

        feed_open(&f);
        const struct bands *bands = model_bands(f.m);
        says(sentence_growth(out, sizeof(out), &g, bands));
        g.live = series((struct trend_result){ .verdict = TREND_UNKNOWN });
        says(sentence_growth(out, sizeof(out), &g, bands));
        g.live.trend.rises_so_far = true;
        says(sentence_growth(out, sizeof(out), &g, bands));
        g.live.trend.rises_so_far = false;
        g.live.trend.verdict = TREND_STEADY;
        says(sentence_growth(out, sizeof(out), &g, bands));
        g.bands_rise = true;
        says(sentence_growth(out, sizeof(out), &g, bands));
        g.where = GROWTH_NOWHERE;
        says(sentence_growth(out, sizeof(out), &g, bands));
        g.live.trend.provisional = (struct trend_provisional){ true, 2 * MIB, MIB, 3 * MIB, 3 * SECOND };
        g.live.trend.verdict_in_ns = SECOND;
        says(sentence_growth(out, sizeof(out), &g, bands));
        g.over = g.live.trend.over = true;
        says(sentence_growth(out, sizeof(out), &g, bands));
        g.live.trend.provisional.known = false;
        says(sentence_growth(out, sizeof(out), &g, bands));

        g = nothing(GROWTH_RETENTION);
        g.live = series((struct trend_result){ .verdict = TREND_STEADY });
        g.heap = series(rising(TREND_GROWING, TREND_BASIS_GROWS, TEST_SPAN));
        says(sentence_growth(out, sizeof(out), &g, bands));
        g.megablocks_held = 40;
        g.megablocks_needed = 12;
        g.megablocks_returned = 3;
        g.slop_bytes = 1 << 20;
        g.fragmentation_bytes = 2 << 20;
        g.nonmoving_bytes = 3 << 20;
        g.nonmoving_live_bytes = 1 << 19;
        says(sentence_growth(out, sizeof(out), &g, bands));

        g = nothing(GROWTH_FOREIGN);
        g.foreign = series(rising(TREND_LEAK, TREND_BASIS_LEAKS, TEST_COUNT));
        g.foreign_bytes = 64 << 20;
        says(sentence_growth(out, sizeof(out), &g, bands));
        g.foreign.known = false;
        g.foreign_bytes = UNKNOWN_U64;
        g.rss = series(rising(TREND_GROWING, TREND_BASIS_GROWS, TEST_SPAN));
        g.rss.trend.slope = 4 * MIB;
        says(sentence_growth(out, sizeof(out), &g, bands));
        feed_close(&f);
}

static void census(struct feed *f)
{
        static const char *const labels[] = { "Main.cache", "ARR_WORDS", "THUNK", "STACK" };

        ev(f, HW_HEAP_PROF_SAMPLE_BEGIN, NONE, SECOND, "8", U(0));
        for (unsigned i = 0; i < 4; i++)
                ev(f, HW_HEAP_PROF_SAMPLE_STRING, NONE, SECOND, "18z", U(0), U(1) << 20, labels[i]);
        ev(f, HW_HEAP_PROF_SAMPLE_END, NONE, SECOND, "8", U(0));
}

/* Live growth names the three bands that gained most, and says ? for one that is gone. */
TEST(bands_that_grow)
{
        struct growth g = nothing(GROWTH_LIVE);
        struct feed f;

        feed_open(&f);
        census(&f);
        g.live = series(rising(TREND_LEAK, TREND_BASIS_LEAKS, TEST_COUNT));
        says(sentence_growth(out, sizeof(out), &g, model_bands(f.m)));
        g.n_bands = 4;
        for (uint32_t i = 0; i < 4; i++)
                g.bands[i] = (struct growing_band){ .band = i == 2 ? 99 : i + 1, .slope = MIB / (i + 1) };
        says(sentence_growth(out, sizeof(out), &g, model_bands(f.m)));
        g.n_bands = 1;
        g.bands[0].threads = 412;
        g.bands[0].thread_slope = NAN; /* not known */
        says(sentence_growth(out, sizeof(out), &g, model_bands(f.m)));
        g.bands[0].thread_slope = 3;
        g.bands[0].thread_slope_low = 2.8;
        g.bands[0].thread_slope_high = 3.2;
        says(sentence_growth(out, sizeof(out), &g, model_bands(f.m)));
        g.bands[0].threads = 0;
        g.bands[0].slope = g.live.trend.slope / 10; /* what carries the rest is too new for a verdict */
        g.n_bands = 1;
        says(sentence_growth(out, sizeof(out), &g, model_bands(f.m)));
        g.bands[0].slope = MIB;
        g.over = true;
        g.n_bands = 1;
        says(sentence_growth(out, sizeof(out), &g, model_bands(f.m)));
        g.start_wall_ns = UINT64_C(1764000000000000000);
        says(sentence_growth(out, sizeof(out), &g, model_bands(f.m)));
        feed_close(&f);
}

TEST(limits)
{
        struct limit_time l = { .limit = { 2u << 30, LIMIT_SOURCE_CGROUP },
                                .series = SERIES_LIVE,
                                .low_s = 4200,
                                .mid_s = 5000,
                                .high_s = 7500,
                                .heap_over_live = 2.53 };

        says(sentence_limit(out, sizeof(out), &l));
        l.high_s = NAN;
        says(sentence_limit(out, sizeof(out), &l));
        l.low_s = 0;
        says(sentence_limit(out, sizeof(out), &l));
        l.high_s = 7500;
        says(sentence_limit(out, sizeof(out), &l));
        l = (struct limit_time){ .limit = { 512u << 20, LIMIT_SOURCE_MAX_HEAP },
                                 .series = SERIES_HEAP_SIZE,
                                 .low_s = 30,
                                 .mid_s = 40,
                                 .high_s = 50,
                                 .heap_over_live = NAN };
        says(sentence_limit(out, sizeof(out), &l));
        l.series = SERIES_RSS;
        l.limit.source = LIMIT_SOURCE_MEMORY;
        says(sentence_limit(out, sizeof(out), &l));
        l.series = SERIES_FOREIGN;
        l.limit.source = LIMIT_SOURCE_GIVEN;
        says(sentence_limit(out, sizeof(out), &l));
}

TEST(scales)
{
        struct tracker_config c = tracker_config_scaled(SECOND);

        says(sentence_scale(out, sizeof(out), &c));
        c.automatic = true;
        says(sentence_scale(out, sizeof(out), &c));
}

/* A rise to half of -M, where the other half is no room for it. */
TEST(rises)
{
        struct tracked_early r = {
                .series = SERIES_LIVE,
                .rising = true,
                .runs_out = true,
                .level_bytes = 196 * MIB,
                .base_bytes = 4 * MIB,
                .rate = 10 * MIB,
                .rate_low = 10 * MIB,
                .rate_high = 10 * MIB,
                .onset_from_ns = 10 * SECOND,
                .onset_to_ns = 10 * SECOND,
                .level_time_ns = 29 * SECOND,
                .until_ns = 29 * SECOND,
                .as_of_ns = 29 * SECOND,
                .limit = { 400 * (uint64_t)MIB, LIMIT_SOURCE_MAX_HEAP },
                .soonest_s = 1,
                .mid_s = 1,
                .latest_s = 1,
        };

        says(sentence_early(out, sizeof(out), &r));
        r.latest_s = 3;
        says(sentence_early(out, sizeof(out), &r));
        r.mid_s = 0.4;
        says(sentence_early(out, sizeof(out), &r));
        r.mid_s = 1;
        r.ended = true;
        says(sentence_early(out, sizeof(out), &r));
        r.mid_s = 0;
        says(sentence_early(out, sizeof(out), &r));
        r.ended = false;
        r.mid_s = 1;
        r.latest_s = 1;
        r.held_back = true;
        says(sentence_early(out, sizeof(out), &r));
        r.held_back = false;
        r.at_limit = true;
        says(sentence_early(out, sizeof(out), &r));
        r.mid_s = 0;
        r.as_of_ns += 20 * SECOND; /* at its limit it is what it was */
        says(sentence_early(out, sizeof(out), &r));
        r.as_of_ns -= 20 * SECOND;
        r.at_limit = r.runs_out = false;
        r.limit.bytes = UNKNOWN_U64;
        says(sentence_early(out, sizeof(out), &r));
        r.as_of_ns += 20 * SECOND; /* no measurement since: the rise lasts to the last one */
        says(sentence_early(out, sizeof(out), &r));
        r.as_of_ns = r.level_time_ns;
        r.until_ns = 20 * SECOND; /* flat since then */
        says(sentence_early(out, sizeof(out), &r));
        r.until_ns = r.level_time_ns;
        r.level_bytes *= 4;
        says(sentence_early(out, sizeof(out), &r));
}

/* However little room there is, the text ends inside of it. */
TEST(cut)
{
        struct trend_result r = rising(TREND_GROWING, TREND_BASIS_GROWS, TEST_SPAN);
        char whole[SENTENCE_MAX], room[SENTENCE_MAX + 8];

        (void)sentence_verdict(whole, sizeof(whole), &r);
        for (size_t size = 1; size < strlen(whole) + 8; size++) {
                memset(room, '#', sizeof(room));
                (void)sentence_verdict(room, size, &r);
                assert_int_equal(strlen(room), strlen(whole) < size ? strlen(whole) : size - 1);
                assert_memory_equal(room, whole, strlen(room));
                assert_int_equal(room[size], '#');
        }
}

/* Nothing of what is read from outside says its flags. */
TEST(sizes_of_a_heap)
{
        const struct heap heap = { .live_bytes = 100 << 20, .heap_size_bytes = 300 << 20 };
        struct run run = { .allocation_area_bytes = UNKNOWN_U64, .max_heap_bytes = UNKNOWN_U64 };

        says(sentence_sizing(out, sizeof(out), &run, &heap));
        run.args[run.n_args++] = "program";
        run.allocation_area_bytes = 1 << 20;
        says(sentence_sizing(out, sizeof(out), &run, &heap));
}

TEST_GOLDEN("tests/unit/publish/sentences.txt")

TEST(sentences_name_slots_that_there_are)
{
#define TABLE(...)
#define SLOTS(...)
#define OTHERS(...)
#define END
#define SLOT(name, ...)
#define SAY(key, condition, text) { key, text, 0 },
        static const struct phrase_row rows[] = {
#include "daemon/publish/sentences.def"
                { NULL, NULL, 0 }
        };
#undef SLOT
#undef SAY
#define SLOT(name, ...) #name,
#define SAY(...)
        static const char *const names[] = {
#include "daemon/publish/sentences.def"
                NULL
        };

        assert_slots_exist(rows, names);
}
