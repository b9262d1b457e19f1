/* SPDX-License-Identifier: BSD-3-Clause */
/* Each verdict, each place of growth, each kind of limit in words: the sentence whole, and never beyond its end. */
#include <math.h>

#include "daemon/publish/sentences.h"
#include "tests/unit/model/events.h"
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

static const char *key; /* of what was said last */

static void says(const char *said, const char *wanted)
{
        key = said;
        assert_string_equal(out, wanted);
}

static void has(const char *said, const char *wanted)
{
        key = said;
        if (!strstr(out, wanted))
                fail_msg("%s", out);
}

TEST(verdicts)
{
        struct trend_result r = { .verdict = TREND_UNKNOWN, .verdict_by_ns = UINT64_MAX };

        says(sentence_verdict(out, sizeof(out), &r), "too little data for a verdict");
        r.provisional = (struct trend_provisional){ true, 1 << 20, 1 << 19, 3 << 19, UINT64_C(12000000000) };
        r.verdict_in_ns = UINT64_C(6000000000);
        says(sentence_verdict(out, sizeof(out), &r),
             "too little data for a verdict; provisional growth 1.00 MiB/s (0.50 MiB/s to 1.50 MiB/s) over 12.0 s; "
             "slow growth can be judged in 6.00 s");
        r.rises_so_far = true;
        r.verdict_by_ns = UINT64_C(32000000000);
        says(sentence_verdict(out, sizeof(out), &r),
             "rises, and it is not clear yet whether that lasts; provisional growth 1.00 MiB/s (0.50 MiB/s to "
             "1.50 MiB/s) over 12.0 s; a verdict is due in 6.00 s to 32.0 s");
        r.rises_so_far = false;
        r.verdict_by_ns = UINT64_MAX;
        r.over = true;
        r.verdict_in_ns = 0;
        r.provisional.known = false;
        says(sentence_verdict(out, sizeof(out), &r),
             "too little data for a verdict; the run was too short for one at this step");
        r.is_part = true;
        says(sentence_verdict(out, sizeof(out), &r),
             "too little data for a verdict; the part of the run that was seen was too short for one at this step");
        r.is_part = false;
        r.verdict_in_ns = UINT64_MAX; /* long enough, but too many of its steps are empty */
        says(sentence_verdict(out, sizeof(out), &r), "too little data for a verdict");
        r.rises_so_far = true;
        says(sentence_verdict(out, sizeof(out), &r), "rose to its end, not clearly enough for a verdict");
        r.over = false;
        says(sentence_verdict(out, sizeof(out), &r), "rises, and it is not clear yet whether that lasts");
        r = rising(TREND_STEADY, TREND_BASIS_RECENT, TEST_Z3);
        says(sentence_verdict(out, sizeof(out), &r), "no lasting growth: a rise lost in the noise");
        r.doubted = true; /* it is told as far as it is known beside the growth of others */
        says(sentence_verdict(out, sizeof(out), &r),
             "no lasting growth so far; whether it is flat while other memory grows is not clear yet");
        r.over = true;
        says(sentence_verdict(out, sizeof(out), &r),
             "no lasting growth; whether it was flat while other memory grew is not clear");
        r.over = r.doubted = r.has_slope = false;
        says(sentence_verdict(out, sizeof(out), &r), "no lasting growth");
        r.has_slope = true;
        r.evidence.missing = TEST_COUNT;
        r.provisional = (struct trend_provisional){ true, 2 * MIB, MIB, 3 * MIB, 12 * SECOND };
        says(sentence_verdict(out, sizeof(out), &r),
             "no lasting growth; provisional growth 2.00 MiB/s (1.00 MiB/s to 3.00 MiB/s) over 12.0 s");

#define BY_2_MIB "by 2.00 MiB/s (1.00 MiB/s to 3.00 MiB/s) over the last 1h 00m"
        r = rising(TREND_GROWING, TREND_BASIS_GROWS, TEST_SPAN);
        says(sentence_verdict(out, sizeof(out), &r),
             "grows to new highs, " BY_2_MIB "; not called a leak: not observed for long enough");
        r.evidence.missing = TEST_COUNT;
        says(sentence_verdict(out, sizeof(out), &r), "grows to new highs, " BY_2_MIB);
        r.evidence.basis = TREND_BASIS_RECENT;
        says(sentence_verdict(out, sizeof(out), &r),
             "grows to new highs, " BY_2_MIB "; no window shows the growth at present");
        r.has_slope = false;
        says(sentence_verdict(out, sizeof(out), &r), "grows to new highs; no window shows the growth at present");
        r = rising(TREND_LEAK, TREND_BASIS_LEAKS, TEST_COUNT);
        says(sentence_verdict(out, sizeof(out), &r), "a leak: grows and does not slow down, " BY_2_MIB);
        r.evidence.basis = TREND_BASIS_HOLDS;
        says(sentence_verdict(out, sizeof(out), &r),
             "a leak: grows and does not slow down, " BY_2_MIB "; confirmed earlier and still rising");
        r.slope_low = r.slope_high = r.slope; /* one number is not an interval */
        r.over = true;
        says(sentence_verdict(out, sizeof(out), &r),
             "a leak: grew and did not slow down, by 2.00 MiB/s over its last 1h 00m; confirmed earlier, and it rose "
             "to the end");
}

/* Every test that can be missing has its own words. */
TEST(what_is_missing)
{
        for (unsigned i = 0; i < TEST_COUNT; i++) {
                const char *words = window_test_failure((enum window_test)i);
                struct trend_result r = rising(TREND_STEADY, TREND_BASIS_RECENT, (enum window_test)i);

                assert_true(words && strlen(words) > 6 && strcmp(words, "unknown") != 0);
                has(sentence_verdict(out, sizeof(out), &r), words);
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
        struct thread_rise r = { .threads = 6000, .rate = 112, .band_threads = 1900, .band_time_ns = 20 * SECOND };
        struct feed f;

        feed_open(&f);
        ev(&f, HW_HEAP_PROF_SAMPLE_BEGIN, NONE, 20 * SECOND, "8", U(1));
        ev(&f, HW_HEAP_PROF_SAMPLE_STRING, NONE, 20 * SECOND, "18z", U(0), U(9000), "threads in Main.worker");
        ev(&f, HW_HEAP_PROF_SAMPLE_END, NONE, 20 * SECOND, "8", U(1));
        r.as_of_ns = 50 * SECOND;
        says(sentence_threads(out, sizeof(out), &r, model_bands(f.m)), "6,000 threads, +112/s");
        r.band = 1;
        says(sentence_threads(out, sizeof(out), &r, model_bands(f.m)),
             "6,000 threads, +112/s; the largest group at the last census: threads in Main.worker");
        feed_close(&f);
}

TEST(places)
{
        struct growth g = nothing(GROWTH_UNKNOWN);
        struct feed f;

        feed_open(&f);
        const struct bands *bands = model_bands(f.m);
        says(sentence_growth(out, sizeof(out), &g, bands),
             "not known yet: no major collection has measured what is live");
        g.live = series((struct trend_result){ .verdict = TREND_UNKNOWN });
        says(sentence_growth(out, sizeof(out), &g, bands), "not known yet: too few steps with major collections");
        g.live.trend.rises_so_far = true;
        has(sentence_growth(out, sizeof(out), &g, bands), "live data rises, and whether that lasts");
        g.live.trend.rises_so_far = false;
        g.live.trend.verdict = TREND_STEADY;
        says(sentence_growth(out, sizeof(out), &g, bands), "not known yet: too little data");
        g.bands_rise = true;
        says(sentence_growth(out, sizeof(out), &g, bands),
             "not known yet: live data has shown no lasting growth, and bands that carry much of it grow");
        g.where = GROWTH_NOWHERE;
        says(sentence_growth(out, sizeof(out), &g, bands), "memory shows no lasting growth");
        g.live.trend.provisional = (struct trend_provisional){ true, 2 * MIB, MIB, 3 * MIB, 3 * SECOND };
        g.live.trend.verdict_in_ns = SECOND;
        says(sentence_growth(out, sizeof(out), &g, bands),
             "no lasting growth so far, but live data rises by 2.00 MiB/s (1.00 MiB/s to 3.00 MiB/s) over 3.00 s; "
             "called growing in 1.00 s if it continues");
        g.over = g.live.trend.over = true;
        says(sentence_growth(out, sizeof(out), &g, bands),
             "no lasting growth, but live data rose to its end by 2.00 MiB/s (1.00 MiB/s to 3.00 MiB/s) over 3.00 s");
        g.live.trend.provisional.known = false;
        says(sentence_growth(out, sizeof(out), &g, bands), "memory showed no lasting growth");

        g = nothing(GROWTH_RETENTION);
        g.live = series((struct trend_result){ .verdict = TREND_STEADY });
        g.heap = series(rising(TREND_GROWING, TREND_BASIS_GROWS, TEST_SPAN));
#define HELD                                                                                                           \
        "the runtime keeps more and more memory while live data does not grow (fragmentation, or memory "              \
        "kept for later): the heap grows " BY_2_MIB ", since 5.00 s into the run"
        says(sentence_growth(out, sizeof(out), &g, bands), HELD);
        g.megablocks_held = 40;
        g.megablocks_needed = 12;
        g.megablocks_returned = 3;
        g.slop_bytes = 1 << 20;
        g.fragmentation_bytes = 2 << 20;
        g.nonmoving_bytes = 3 << 20;
        g.nonmoving_live_bytes = 1 << 19;
        says(sentence_growth(out, sizeof(out), &g, bands), HELD
             "; 40 megablocks held, 12 needed, 3 returned at the last major collection; slop 1.00 MiB; free blocks "
             "2.00 MiB; nonmoving segments 3.00 MiB; of which live 512 KiB");

        g = nothing(GROWTH_FOREIGN);
        g.foreign = series(rising(TREND_LEAK, TREND_BASIS_LEAKS, TEST_COUNT));
        g.foreign_bytes = 64 << 20;
        says(sentence_growth(out, sizeof(out), &g, bands),
             "foreign memory (C code, malloc, shared memory) grows while the heap does not: it grows " BY_2_MIB
             ", since 5.00 s into the run; foreign 64.0 MiB");
        g.foreign.known = false;
        g.foreign_bytes = UNKNOWN_U64;
        g.rss = series(rising(TREND_GROWING, TREND_BASIS_GROWS, TEST_SPAN));
        g.rss.trend.slope = 4 * MIB;
        has(sentence_growth(out, sizeof(out), &g, bands), "be told apart here: it grows by 4.00 MiB/s");
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
#define LIVE "the program retains more and more data: live data grows " BY_2_MIB ", since 5.00 s into the run"
        says(sentence_growth(out, sizeof(out), &g, model_bands(f.m)), LIVE);
        g.n_bands = 4;
        for (uint32_t i = 0; i < 4; i++)
                g.bands[i] = (struct growing_band){ .band = i == 2 ? 99 : i + 1, .slope = MIB / (i + 1) };
        says(sentence_growth(out, sizeof(out), &g, model_bands(f.m)),
             LIVE "; what grows most: Main.cache (1.00 MiB/s), ARR_WORDS (0.50 MiB/s), ? (0.33 MiB/s)");
        g.n_bands = 1;
        g.bands[0].threads = 412;
        g.bands[0].thread_slope = NAN; /* not known */
        says(sentence_growth(out, sizeof(out), &g, model_bands(f.m)),
             LIVE "; what grows most: 412 Main.cache (1.00 MiB/s)");
        g.bands[0].thread_slope = 3;
        g.bands[0].thread_slope_low = 2.8;
        g.bands[0].thread_slope_high = 3.2;
        says(sentence_growth(out, sizeof(out), &g, model_bands(f.m)),
             LIVE "; what grows most: 412 Main.cache (+3.0/s (+2.8/s to +3.2/s), 1.00 MiB/s)");
        g.bands[0].threads = 0;
        g.bands[0].slope = g.live.trend.slope / 10; /* what carries the rest is too new for a verdict */
        g.n_bands = 1;
        says(sentence_growth(out, sizeof(out), &g, model_bands(f.m)), LIVE);
        g.bands[0].slope = MIB;
        g.over = true;
        g.n_bands = 1;
        says(sentence_growth(out, sizeof(out), &g, model_bands(f.m)),
             "the program retained more and more data: live data grew by 2.00 MiB/s (1.00 MiB/s to 3.00 MiB/s) over "
             "its "
             "last 1h 00m, since 5.00 s into the run; what grew most: Main.cache (1.00 MiB/s)");
        g.start_wall_ns = UINT64_C(1764000000000000000);
        has(sentence_growth(out, sizeof(out), &g, model_bands(f.m)),
            ", since 2025-11-24T16:00:05.000Z (5.00 s into the run);");
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

#define CGROUP "the limit of its control group (2.00 GiB)"
#define NEED   ", as the collector needs 2.5 times the live bytes"
        says(sentence_limit(out, sizeof(out), &l), "in 1h 10m to 2h 05m live data reaches " CGROUP NEED);
        l.high_s = NAN;
        says(sentence_limit(out, sizeof(out), &l), "at the earliest in 1h 10m live data reaches " CGROUP NEED);
        l.low_s = 0;
        says(sentence_limit(out, sizeof(out), &l), "live data may be at " CGROUP NEED);
        l.high_s = 7500;
        says(sentence_limit(out, sizeof(out), &l), "within 2h 05m live data reaches " CGROUP NEED);
        l = (struct limit_time){ .limit = { 512u << 20, LIMIT_SOURCE_MAX_HEAP },
                                 .series = SERIES_HEAP_SIZE,
                                 .low_s = 30,
                                 .mid_s = 40,
                                 .high_s = 50,
                                 .heap_over_live = NAN };
        says(sentence_limit(out, sizeof(out), &l), "in 30.0 s to 50.0 s the heap reaches the heap limit -M (512 MiB)");
        l.series = SERIES_RSS;
        l.limit.source = LIMIT_SOURCE_MEMORY;
        has(sentence_limit(out, sizeof(out), &l), "resident memory reaches the machine's memory (");
        l.series = SERIES_FOREIGN;
        l.limit.source = LIMIT_SOURCE_GIVEN;
        has(sentence_limit(out, sizeof(out), &l), "foreign memory reaches the given limit (");
}

TEST(scales)
{
        struct tracker_config c = tracker_config_scaled(SECOND);

        says(sentence_scale(out, sizeof(out), &c),
             "judged in steps of 1.00 s: growth that lasts 3m 00s without slowing down is called a leak");
        c.automatic = true;
        says(sentence_scale(out, sizeof(out), &c),
             "judged in steps of 1.00 s (chosen from the length of the log): "
             "growth that lasts 3m 00s without slowing down is called a leak");
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
                .as_of_ns = 29 * SECOND,
                .limit = { 400 * (uint64_t)MIB, LIMIT_SOURCE_MAX_HEAP },
                .soonest_s = 1,
                .mid_s = 1,
                .latest_s = 1,
        };
#define ROSE_19_S "live data has risen for 19.0 s, from 4.00 MiB to 196 MiB, by 10.0 MiB/s"

        says(sentence_early(out, sizeof(out), &r),
             ROSE_19_S "; if it continues, it reaches the heap limit -M (400 MiB) in 1.00 s");
        r.latest_s = 3;
        says(sentence_early(out, sizeof(out), &r),
             ROSE_19_S "; if it continues, it reaches the heap limit -M (400 MiB) in 1.00 s (1.00 s to 3.00 s)");
        assert_string_equal(key, "rise-meets-limit");
        r.mid_s = 0.4;
        says(sentence_early(out, sizeof(out), &r), ROSE_19_S
             "; if it continues, it reaches the heap limit -M (400 MiB) at any time, in 3.00 s at the latest");
        assert_string_equal(key, "rise-meets-limit-now");
        r.mid_s = 1;
        r.ended = true;
        says(sentence_early(out, sizeof(out), &r),
             "live data had risen for 19.0 s, from 4.00 MiB to 196 MiB, by 10.0 MiB/s; it was about to reach the heap "
             "limit -M (400 MiB) in 1.00 s (1.00 s to 3.00 s)");
        r.mid_s = 0;
        says(sentence_early(out, sizeof(out), &r),
             "live data had risen for 19.0 s, from 4.00 MiB to 196 MiB, by 10.0 MiB/s; it was about to reach the heap "
             "limit -M (400 MiB)");
        r.ended = false;
        r.mid_s = 1;
        r.latest_s = 1;
        r.held_back = true;
        says(sentence_early(out, sizeof(out), &r), ROSE_19_S
             "; if it continues, it reaches the heap limit -M (400 MiB) in 1.00 s; half of it is reserved by the "
             "runtime "
             "for copying live data in a collection");
        r.held_back = false;
        r.at_limit = true;
        says(sentence_early(out, sizeof(out), &r), ROSE_19_S
             "; its heap has reached the heap limit -M (400 MiB); if it continues, its live data leaves no room in it "
             "in "
             "1.00 s");
        assert_string_equal(key, "rise-fills-limit");
        r.mid_s = 0;
        says(sentence_early(out, sizeof(out), &r), ROSE_19_S "; it has reached the heap limit -M (400 MiB)");
        assert_string_equal(key, "rise-met-limit");
        r.at_limit = r.runs_out = false;
        r.limit.bytes = UNKNOWN_U64;
        says(sentence_early(out, sizeof(out), &r), ROSE_19_S "; not confirmed yet");
        r.as_of_ns += 20 * SECOND; /* no measurement since: the rise lasts to the last one */
        says(sentence_early(out, sizeof(out), &r),
             ROSE_19_S "; measured 20.0 s ago, about 396 MiB now if it went on; not confirmed yet");
        assert_string_equal(key, "rise");
        r.as_of_ns = r.level_time_ns;
        r.level_bytes *= 4;
        says(sentence_early(out, sizeof(out), &r),
             "live data has risen for 19.0 s, from 4.00 MiB to 784 MiB, by 10.0 MiB/s "
             "for most of it; not confirmed yet");
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

        has(sentence_sizing(out, sizeof(out), &run, &heap),
            "4 times the live data (by default: its flags are not known)");
        run.args[run.n_args++] = "program";
        run.allocation_area_bytes = 1 << 20;
        has(sentence_sizing(out, sizeof(out), &run, &heap), "and 2.00 MiB for allocation (from the flags");
}

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
