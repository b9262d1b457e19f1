/* SPDX-License-Identifier: BSD-3-Clause */
/* Every concept of the model but censuses, from synthetic events. */
#include "daemon/model/limits.h"
#include "tests/unit/model/one_feed.h"

#include "daemon/model/sizing.h"
#include "proto/base/limits.h"
#include "proto/eventlog/limits.h"

static struct series_view view;

static void args(const char *const *list, size_t n)
{
        uint8_t bytes[1024] = { 0, 0, 0, 0 };
        size_t size = 4;

        for (size_t i = 0; i < n; i++) {
                memcpy(bytes + size, list[i], strlen(list[i]) + 1);
                size += strlen(list[i]) + 1;
        }
        struct hw_event e = { .payload = bytes, .size = (uint32_t)size, .id = HW_PROGRAM_ARGS, .cap = NONE };
        model_events(f.m, &e, 1);
}

#define LIST(...) ((const char *const[]){ __VA_ARGS__ })
#define ARGS(...) args(LIST(__VA_ARGS__), sizeof(LIST(__VA_ARGS__)) / sizeof(char *))

static void identifier(const char *text)
{
        ev(&f, HW_RTS_IDENTIFIER, NONE, 0, "4t", U(0), text);
}

FEED_TEST(test_unknown_is_not_zero)
{
        const struct heap *h = model_heap(f.m);
        const struct gc *gc = model_gc(f.m);
        const struct run *run = model_run(f.m);

        assert_true(h->live_bytes == UNKNOWN_U64 && h->heap_size_bytes == UNKNOWN_U64);
        assert_true(h->allocated_bytes == UNKNOWN_U64 && h->megablocks_held == UNKNOWN_U64);
        assert_true(h->process.rss_bytes == UNKNOWN_U64 && h->process.wall_ns == UNKNOWN_U64);
        model_collect_changes(f.m);
        assert_true(h->allocation_rate_bps < 0 && gc->share < 0 && gc->share_run < 0);
        assert_true(gc->max_slop_bytes == UNKNOWN_U64 && gc->nonmoving.marked_objects == UNKNOWN_U64);
        assert_true(run->start_wall_ns == UNKNOWN_U64 && run->max_heap_bytes == UNKNOWN_U64 && !run->program);
        assert_int_equal(run->breakdown, BREAKDOWN_NONE);
        assert_true(model_event_time(f.m, 5) == UNKNOWN_U64 && model_wall_time(f.m, 5) == UNKNOWN_U64);
        assert_int_equal(model_census(f.m)->number, 0);
        assert_int_equal(model_time_ns(f.m), 0);
        assert_true(model_watermark_ns(f.m) == UNKNOWN_U64);
        assert_int_equal(notes_oldest(model_notes(f.m)), 0);
}

FEED_TEST(test_identity)
{
        const struct run *run = model_run(f.m);

        assert_true(model_collect_changes(f.m) & MODEL_RUN);
        assert_int_equal(model_collect_changes(f.m), 0);
        identifier("GHC-9.11.20240805 rts_thr_p");
        assert_int_equal(model_collect_changes(f.m), MODEL_RUN);
        assert_string_equal(run->ghc_version, "9.11.20240805");
        assert_string_equal(run->rts_way, "rts_thr_p");
        assert_string_equal(run->rts_identifier, "GHC-9.11.20240805 rts_thr_p");
        assert_int_equal(run->ghc_number, 911);
        assert_true(run->threaded && run->profiled);
        identifier("GHC-9.0.2 rts_l");
        assert_int_equal(run->ghc_number, 900);
        assert_false(run->threaded || run->profiled);
        identifier("GHC-10.0.1 rts_debug_p");
        assert_int_equal(run->ghc_number, 1000);
        assert_true(run->profiled);
        ev(&f, HW_OSPROCESS_PID, NONE, 1, "44", U(0), U(4711));
        ev(&f, HW_OSPROCESS_PPID, NONE, 1, "44", U(0), U(12));
        ev(&f, HW_HEAP_INFO_GHC, NONE, 1, "428888", U(0), U(2), U(0), U(4194304), U(1048576), U(4096));
        assert_int_equal(run->pid, 4711);
        assert_int_equal(run->parent_pid, 12);
        assert_int_equal(run->generations, 2);
        assert_int_equal(run->max_heap_bytes, 0);
        assert_int_equal(run->allocation_area_bytes, 4194304);
        assert_int_equal(run->megablock_bytes, 1048576);
        assert_int_equal(run->block_bytes, 4096);
        ev(&f, HW_PROF_BEGIN, NONE, 1, "8", U(1000000));
        assert_int_equal(run->tick_interval_ns, 1000000);
        model_begin_run(f.m, 2);
        assert_int_equal(run->ordinal, 2);
        assert_int_equal(run->pid, 0);
        assert_null(run->program);
}

FEED_TEST(test_options)
{
        const struct run *run = model_run(f.m);

        ARGS("/opt/bin/api", "-hc", "+RTS", "-hd", "-l", "-hmFoo", "-RTS", "-hy", "", "--RTS", "+RTS", "-hr");
        assert_string_equal(run->program, "api");
        assert_int_equal(run->n_args, 12);
        assert_string_equal(run->args[8], "");
        assert_int_equal(run->breakdown, BREAKDOWN_CLOSURE_DESCRIPTION);
        assert_true(run_has_rts_option(run, "-h") && run_has_rts_option(run, "-hmF") && run_has_rts_option(run, "-l"));
        assert_false(run_has_rts_option(run, "-hc") || run_has_rts_option(run, "-hy"));
        assert_false(run_has_rts_option(run, "-hr"));
        ARGS("api", "+RTS", "-h"); /* what it means depends on the way, which may come later */
        assert_int_equal(run->breakdown, BREAKDOWN_CLOSURE_TYPE);
        identifier("GHC-9.4.8 rts_p");
        assert_int_equal(run->breakdown, BREAKDOWN_COST_CENTRE_STACK);
        ARGS("api", "--", "+RTS", "-hi");
        assert_false(run_has_rts_option(run, "-hi"));
        ev(&f, HW_HEAP_PROF_BEGIN, NONE, 1, "184zzzzzzz", U(0), U(100000000), U(9), "", "", "", "", "", "", "");
        assert_int_equal(run->breakdown, BREAKDOWN_ERA);
        assert_int_equal(run->census_period_ns, 100000000);
        ARGS("api", "+RTS", "-hT"); /* the event knows better */
        assert_int_equal(run->breakdown, BREAKDOWN_ERA);
}

static void block(uint16_t cap, uint64_t begin, uint64_t end, uint32_t size)
{
        ev(&f, HW_BLOCK_MARKER, cap, begin, "482", U(size), U(end), U(cap));
}

FEED_TEST(test_clock)
{
        block(NONE, 100, 2000, 24);
        block(0, 100, 1500, 24);
        assert_true(model_watermark_ns(f.m) == UNKNOWN_U64); /* the first block of a capability may still lack events */
        block(1, 200, 3000, 24);
        assert_true(model_watermark_ns(f.m) == UNKNOWN_U64); /* nothing is known of the other capability yet */
        block(0, 1500, 4000, 24);
        assert_int_equal(model_watermark_ns(f.m), 1500); /* begun, not whole */
        block(1, 3000, 5000, 24);
        assert_int_equal(model_watermark_ns(f.m), 2000);
        assert_int_equal(model_run(f.m)->capabilities, 2);
        ev(&f, HW_WALL_CLOCK_TIME, NONE, 500, "484", U(1), U(1700000000), U(7));
        assert_true(model_wall_time(f.m, 500) == UINT64_C(1700000000000000007));
        assert_true(model_event_time(f.m, UINT64_C(1700000000000001007)) == 1500);
        assert_int_equal(model_event_time(f.m, 9), 0);                           /* before the start */
        ev(&f, HW_WALL_CLOCK_TIME, NONE, 600, "484", U(1), U(1700000100), U(0)); /* the latest counts */
        assert_true(model_wall_time(f.m, 600) == UINT64_C(1700000100000000000));
        ev(&f, HW_WALL_CLOCK_TIME, NONE, 700, "484", U(1), UINT64_MAX, U(0)); /* nonsense */
        assert_true(model_wall_time(f.m, 600) == UINT64_C(1700000100000000000));
        assert_int_equal(model_time_anomalies(f.m), 0);
        model_end_run(f.m, true);
        assert_int_equal(model_watermark_ns(f.m), model_time_ns(f.m));
}

FEED_TEST(test_a_log_without_capabilities)
{
        block(NONE, 100, 2000, 24);
        block(NONE, 2000, 3000, 24);
        assert_true(model_watermark_ns(f.m) == UNKNOWN_U64); /* capabilities may still come */
        ev(&f, HW_HEAP_SIZE, NONE, 2500, "48", U(0), U(1 << 20));
        block(NONE, 3000, 4000, 24);
        assert_int_equal(model_watermark_ns(f.m), 3000);
}

FEED_TEST(test_times_outside_their_block)
{
        block(0, 1000, 2000, 24 + 10 * 24);
        ev(&f, HW_HEAP_LIVE, 0, UINT64_MAX / 2, "48", U(0), U(10));
        assert_int_equal(model_time_anomalies(f.m), 1);
        assert_int_equal(model_heap(f.m)->live_time_ns, 2000);
        ev(&f, HW_HEAP_LIVE, 0, 3, "48", U(0), U(11));
        assert_int_equal(model_time_anomalies(f.m), 2);
        assert_int_equal(model_heap(f.m)->live_time_ns, 2000);
        assert_int_equal(model_heap(f.m)->live_bytes, 10); /* at 1000, which is before */
        ev(&f, HW_GC_START, 0, 900, "");                   /* may be older than its block */
        ev(&f, HW_GC_END, 0, 950, "");
        assert_int_equal(model_time_anomalies(f.m), 2);
        assert_int_equal(model_sched(f.m)->caps[0].gc_ns, 50);
        assert_int_equal(model_time_ns(f.m), 2000);
        f.offset += 10 * 24; /* after the block its range does not apply */
        ev(&f, HW_HEAP_LIVE, 0, 5000, "48", U(0), U(12));
        assert_int_equal(model_time_anomalies(f.m), 2);
        assert_int_equal(model_heap(f.m)->live_bytes, 12);
        block(0, 9000, 8000, 500); /* ends before it begins */
        assert_int_equal(model_time_anomalies(f.m), 3);
}

static void stats(uint16_t cap, uint64_t t, unsigned gen, uint64_t copied, uint64_t slop, unsigned threads)
{
        ev(&f, HW_GC_STATS_GHC, cap, t, "428884888", U(0), U(gen), U(copied), U(slop), U(77), U(threads), U(copied / 2),
           U(copied), U(copied / 4));
}

FEED_TEST(test_collections)
{
        const struct gc *gc = model_gc(f.m);

        ev(&f, HW_HEAP_INFO_GHC, NONE, 1, "428888", U(0), U(2), U(0), U(4194304), U(1048576), U(4096));
        ev(&f, HW_REQUEST_PAR_GC, 1, 1000, "");
        ev(&f, HW_GC_START, 1, 1100, "");
        ev(&f, HW_GC_GLOBAL_SYNC, 1, 1400, "");
        stats(1, 1400, 0, 1000, 10, 2);
        assert_int_equal(f.n_collections, 0);
        ev(&f, HW_GC_END, 1, 1350, ""); /* older than the event before it */
        assert_int_equal(f.n_collections, 1);
        assert_int_equal(f.collection.pause_ns, 250);
        assert_int_equal(f.collection.sync_ns, 100);
        assert_int_equal(f.collection.end_time_ns, 1350);
        assert_int_equal(f.collection.capability, 1);
        assert_int_equal(f.collection.parallel_balanced_copied_bytes, 250);
        assert_false(f.collection.major);
        /* the other capability took part, did not lead, and its block comes later */
        ev(&f, HW_GC_START, 0, 1050, "");
        ev(&f, HW_GC_END, 0, 1360, "");
        assert_int_equal(gc->collections, 1);
        assert_int_equal(model_sched(f.m)->caps[0].gc_ns, 310);
        assert_int_equal(model_sched(f.m)->caps[1].gc_ns, 250);
        /* major, sequential, without a request, in the short form of before 8.4 */
        ev(&f, HW_GC_START, 0, 5000, "");
        ev(&f, HW_GC_STATS_GHC, 0, 9000, "42888488", U(0), U(1), U(500), U(30), U(40), U(1), U(0), U(500));
        ev(&f, HW_GC_END, 0, 8000, "");
        assert_true(f.collection.major && f.collection.sync_ns == UNKNOWN_U64);
        assert_true(f.collection.parallel_balanced_copied_bytes == UNKNOWN_U64);
        assert_int_equal(gc->collections, 2);
        assert_int_equal(gc->n_generations, 2);
        assert_int_equal(gc->generations[0].count, 1);
        assert_int_equal(gc->generations[0].parallel_count, 1);
        assert_int_equal(gc->generations[1].pause_max_ns, 3000);
        assert_int_equal(histogram_quantile(&gc->generations[1].pauses, 0.5), 3000);
        assert_int_equal(gc->pause_total_ns, 3250);
        assert_int_equal(gc->sync_total_ns, 100);
        assert_int_equal(gc->copied_bytes, 1500);
        assert_int_equal(gc->max_slop_bytes, 30);
        assert_int_equal(gc->parallel_copied_bytes, 1000);
        assert_int_equal(gc->parallel_balanced_bytes, 250);
        assert_int_equal(gc->fragmentation_bytes, 40);
        assert_int_equal(gc->unmatched, 0);
        assert_int_equal(f.n_samples[SERIES_GC_PAUSE], 2);
        assert_int_equal(f.n_samples[SERIES_COPIED], 2);
        assert_int_equal(f.newest_sample[SERIES_SLOP], 30);
}

FEED_TEST(test_collections_without_their_pair)
{
        const struct gc *gc = model_gc(f.m);

        stats(0, 50, 0, 5, 5, 1); /* the log began inside a collection */
        ev(&f, HW_GC_END, 0, 60, "");
        assert_int_equal(gc->collections, 1);
        assert_true(f.collection.pause_ns == UNKNOWN_U64);
        assert_int_equal(gc->unmatched, 1);
        ev(&f, HW_GC_START, 0, 100, "");
        ev(&f, HW_GC_START, 0, 200, ""); /* the first has no end */
        assert_int_equal(gc->unmatched, 2);
        stats(0, 250, 1, 5, 5, 1);
        assert_int_equal(gc->collections, 1);
        ev(&f, HW_GC_START, 0, 300, ""); /* end lost, but it was a collection */
        assert_int_equal(gc->collections, 2);
        assert_true(f.collection.major); /* generations unknown: 1 counts as old */
        stats(0, 350, 20, 5, 5, 1);      /* a generation beyond all */
        model_end_run(f.m, true);
        assert_int_equal(gc->collections, 3);
        assert_int_equal(gc->n_generations, GC_MAX_GENERATIONS);
        assert_int_equal(gc->generations[GC_MAX_GENERATIONS - 1].count, 1);
        assert_int_equal(gc->unmatched, 4);
        assert_int_equal(gc->pause_total_ns, 0);
        assert_int_equal(f.n_samples[SERIES_GC_PAUSE], 0);
        ev(&f, HW_GC_START, NONE, 400, ""); /* no capability: nothing to pair */
        ev(&f, HW_GC_END, NONE, 500, "");
        assert_int_equal(gc->unmatched, 4);
}

/* The newest pauses, oldest first, whatever the order in which capabilities bring them. */
FEED_TEST(test_last_pauses)
{
        static const uint64_t ends[] = { 300, 100, 700, 200, 900, 500, 50, 800, 600 },
                              last[] = { 500, 600, 700, 800, 900 };
        const struct gc *gc = model_gc(f.m);

        ev(&f, HW_HEAP_INFO_GHC, NONE, 1, "428888", U(0), U(2), U(0), U(4194304), U(1048576), U(4096));
        for (uint16_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
                ev(&f, HW_GC_START, i, ends[i] - 10 - i, "");
                stats(i, ends[i] - 5, i % 2, 5, 5, 1);
                ev(&f, HW_GC_END, i, ends[i], "");
                assert_int_equal(gc->n_last, i + 1 < GC_LAST ? i + 1 : GC_LAST);
        }
        for (unsigned i = 0; i < GC_LAST; i++)
                assert_int_equal(gc->last[i].end_time_ns, last[i]);
        assert_int_equal(gc->last[4].pause_ns, 14);
        assert_int_equal(gc->last[4].generation, 0);
        assert_true(gc->last[3].major && gc->last[3].generation == 1);
}

FEED_TEST(test_shares)
{
        const struct gc *gc = model_gc(f.m);

        ev(&f, HW_CREATE_THREAD, 0, 0, "4", U(1));
        for (uint64_t s = 0; s < 40; s++) { /* 100 ms a second, then 300 ms */
                ev(&f, HW_GC_START, 0, s * SECOND + SECOND / 2, "");
                stats(0, s * SECOND + SECOND / 2, 0, 5, 5, 1);
                ev(&f, HW_GC_END, 0, s * SECOND + SECOND / 2 + (s < 20 ? 100000000u : 300000000u), "");
        }
        ev(&f, HW_CREATE_THREAD, 0, 40 * SECOND, "4", U(1));
        model_collect_changes(f.m);
        assert_true(gc->share > 0.29 && gc->share < 0.31);
        assert_true(gc->share_run > 0.199 && gc->share_run < 0.201);
        ev(&f, HW_CREATE_THREAD, 0, 80 * SECOND, "4", U(1)); /* idle since */
        assert_true(model_collect_changes(f.m) & MODEL_GC);
        assert_true(gc->share >= 0 && gc->share < 1e-9);
        assert_true(gc->share_run > 0.099 && gc->share_run < 0.101);
}

FEED_TEST(test_heap)
{
        const struct heap *h = model_heap(f.m);

        ev(&f, HW_HEAP_ALLOCATED, 0, SECOND / 4, "48", U(0), U(250000));
        model_collect_changes(f.m);
        assert_true(h->allocation_rate_bps < 0); /* one point has no slope */
        ev(&f, HW_HEAP_ALLOCATED, 0, SECOND / 2, "48", U(0), U(500000));
        model_collect_changes(f.m);
        assert_true(h->allocation_rate_bps > 999999 && h->allocation_rate_bps < 1000001);
        for (uint64_t s = 1; s <= 30; s++) {
                ev(&f, HW_HEAP_ALLOCATED, 0, s * SECOND, "48", U(0), U(1000000 * s));
                ev(&f, HW_HEAP_ALLOCATED, 1, s * SECOND, "48", U(0), U(500000 * s)); /* same capset, other capability */
                ev(&f, HW_HEAP_SIZE, 0, s * SECOND, "48", U(0), U(10 << 20));
                ev(&f, HW_BLOCKS_SIZE, 0, s * SECOND, "48", U(0), U(9 << 20));
        }
        assert_int_equal(h->allocated_bytes, 45000000);
        model_collect_changes(f.m);
        assert_true(h->allocation_rate_bps > 1499999 && h->allocation_rate_bps < 1500001);
        assert_int_equal(f.n_samples[SERIES_ALLOCATED], 30);          /* not one per capability */
        ev(&f, HW_HEAP_SIZE, 1, 5 * SECOND, "48", U(0), U(99 << 20)); /* late: only the maximum knows */
        assert_int_equal(h->heap_size_bytes, 10 << 20);
        assert_int_equal(h->max_heap_size_bytes, 99 << 20);
        ev(&f, HW_HEAP_LIVE, 0, 7 * SECOND, "48", U(0), U(300));
        ev(&f, HW_HEAP_LIVE, 0, 9 * SECOND, "48", U(0), U(200));
        ev(&f, HW_HEAP_LIVE, 0, 8 * SECOND, "48", U(0), U(100));
        assert_int_equal(h->live_bytes, 200);
        assert_int_equal(h->live_time_ns, 9 * SECOND);
        assert_int_equal(h->max_live_bytes, 300);
        assert_int_equal(h->live_samples, 3);
        ev(&f, HW_MEM_RETURN, 0, 9 * SECOND, "4444", U(0), U(50), U(20), U(7));
        assert_int_equal(h->megablocks_held, 43);
        assert_int_equal(h->megablocks_needed, 20);
        assert_int_equal(h->megablocks_returned, 7);
        ev(&f, HW_MEM_RETURN, 0, 8 * SECOND, "4444", U(0), U(1), U(1), U(1)); /* late */
        assert_int_equal(h->megablocks_held, 43);
        assert_int_equal(model_series(f.m, SERIES_LIVE, &view)->total.cell.n, 3);
        ev(&f, HW_CREATE_THREAD, 0, 60 * SECOND, "4", U(1));
        model_collect_changes(f.m);
        assert_true(h->allocation_rate_bps >= 0 && h->allocation_rate_bps < 1e-9);
        ev(&f, HW_HEAP_ALLOCATED, NONE, 61 * SECOND, "48", U(0), U(7)); /* of no capability */
        assert_int_equal(h->allocated_bytes, 45000000);
        model_end_run(f.m, true);
        assert_int_equal(f.n_samples[SERIES_ALLOCATED], 31); /* the late size was one */
        model_resume_run(f.m, false);
        ev(&f, HW_HEAP_ALLOCATED, 1, 62 * SECOND, "48", U(0), U(15000600)); /* behind the last collection */
        model_end_run(f.m, true);
        assert_int_equal(f.n_samples[SERIES_ALLOCATED], 32);
        assert_int_equal(model_series(f.m, SERIES_ALLOCATED, &view)->total.cell.last, 45000600);
}

/* Of a program that is watched from outside: sums by the runtime's own counters, and no single collection. */
FEED_TEST(test_counted_from_outside)
{
        const struct gc *gc = model_gc(f.m);
        const struct heap *h = model_heap(f.m);

        ev(&f, HW_OUTSIDE_GENERATION, NONE, 40 * SECOND, "42288", U(0), U(0), U(3), U(500), U(20));
        ev(&f, HW_OUTSIDE_GENERATION, NONE, 40 * SECOND, "42288", U(0), U(2), U(3), U(7), UNKNOWN_U64);
        ev(&f, HW_OUTSIDE_COLLECTIONS, NONE, 40 * SECOND, "488", U(0), U(4096), UNKNOWN_U64);
        model_collect_changes(f.m);
        assert_true(gc->counted && gc->collections == 507 && gc->n_generations == 3);
        assert_true(gc->generations[0].count == 500 && gc->generations[0].parallel_count == 20);
        assert_true(gc->generations[2].count == 7 && gc->generations[2].parallel_count == UNKNOWN_U64);
        assert_int_equal(model_run(f.m)->generations, 3);
        assert_int_equal(gc->copied_bytes, 4096);
        assert_true(gc->pause_total_ns == UNKNOWN_U64 && gc->sync_total_ns == UNKNOWN_U64);
        assert_true(gc->share < 0 && gc->share_run < 0);
        assert_int_equal(f.n_collections, 0);
        assert_int_equal(f.n_samples[SERIES_GC_PAUSE], 0);
        /* the runtime keeps times: their sum is known, and that alone */
        ev(&f, HW_OUTSIDE_GENERATION, NONE, 80 * SECOND, "42288", U(0), U(0), U(3), U(900), U(20));
        ev(&f, HW_OUTSIDE_COLLECTIONS, NONE, 80 * SECOND, "488", U(0), U(8192), U(8 * SECOND));
        model_collect_changes(f.m);
        assert_true(gc->collections == 907 && gc->pause_total_ns == 8 * SECOND && gc->share < 0);
        assert_true(gc->share_run > 0.0999 && gc->share_run < 0.1001);
        assert_int_equal(gc->generations[0].pauses.count, 0);
        /* allocation as a whole has a rate, too */
        ev(&f, HW_HEAP_ALLOCATED, NONE, 80 * SECOND, "48", U(0), U(1000000000));
        ev(&f, HW_HEAP_ALLOCATED, NONE, 90 * SECOND, "48", U(0), U(1020000000));
        model_collect_changes(f.m);
        assert_int_equal(h->allocated_bytes, 1020000000);
        assert_true(h->allocation_rate_bps > 1999999 && h->allocation_rate_bps < 2000001);
        /* what a runtime's own log would say is of another log */
        ev(&f, HW_GC_START, 0, 91 * SECOND, "");
        stats(0, 91 * SECOND, 0, 1000, 10, 1);
        ev(&f, HW_GC_END, 0, 92 * SECOND, "");
        assert_true(gc->collections == 907 && f.n_collections == 0);
}

FEED_TEST(test_no_counts_in_a_log_of_the_runtime)
{
        ev(&f, HW_GC_START, 0, 1000, "");
        ev(&f, HW_OUTSIDE_GENERATION, NONE, 1100, "42288", U(0), U(0), U(2), U(500), U(20));
        ev(&f, HW_OUTSIDE_COLLECTIONS, NONE, 1100, "488", U(0), U(4096), U(77));
        assert_true(!model_gc(f.m)->counted && model_gc(f.m)->pause_total_ns == 0);
        assert_int_equal(model_gc(f.m)->n_generations, 0);
}

FEED_TEST(test_process)
{
        struct process_sample s;
        const struct resident *r = &model_heap(f.m)->resident;

        memset(&s, 0xff, sizeof(s)); /* all unknown */
        s.rss_bytes = 100;
        s.swap_bytes = 0;
        s.cpu_ns = 5;
        s.files_bytes = 10;
        s.pages = (struct resident_pages){ .rss_bytes = 100,
                                           .files_bytes = 10,
                                           .dirty_bytes = 3,
                                           .lazy_free_bytes = 40,
                                           .heap_bytes = UNKNOWN_U64,
                                           .wall_ns = 7 };
        model_collect_changes(f.m);
        model_process(f.m, 5 * SECOND, &s);
        assert_int_equal(model_heap(f.m)->process.rss_bytes, 100);
        assert_int_equal(f.n_samples[SERIES_RSS], 1);
        assert_int_equal(f.n_samples[SERIES_PSS], 0);
        assert_int_equal(f.n_samples[SERIES_SWAP], 1);
        assert_int_equal(f.n_samples[SERIES_CPU], 1);
        assert_int_equal(f.n_samples[SERIES_CGROUP], 0);
        assert_int_equal(f.n_samples[SERIES_GIVEN_BACK], 1);
        assert_int_equal(f.n_samples[SERIES_FILES], 1);
        assert_int_equal(f.n_samples[SERIES_FOREIGN], 0); /* nothing is known of the heap */
        assert_true(model_heap(f.m)->facts[CARRIED_RESIDENT_HELD] == 50);
        assert_true(model_heap(f.m)->facts[CARRIED_FILES_DIRTY] == 3);
        assert_true(isnan(model_heap(f.m)->facts[CARRIED_CGROUP_HELD]));
        assert_int_equal(r->unknown_bytes, 50);
        assert_int_equal(r->time_ns, 5 * SECOND);
        assert_true(r->heap_time_ns == UNKNOWN_U64);
        ev(&f, HW_HEAP_SIZE, 0, 6 * SECOND, "48", U(0), U(30));
        ev(&f, HW_HEAP_LIVE, 0, 6 * SECOND, "48", U(0), U(12));
        model_process(f.m, 7 * SECOND, &s); /* the same reading */
        assert_int_equal(f.n_samples[SERIES_RSS], 2);
        assert_int_equal(f.n_samples[SERIES_GIVEN_BACK], 1);
        assert_int_equal(r->time_ns, 5 * SECOND);
        s.pages.wall_ns = 8;
        model_process(f.m, 8 * SECOND, &s);
        assert_int_equal(r->heap_time_ns, 6 * SECOND);
        assert_int_equal(r->live_time_ns, 6 * SECOND);
        assert_int_equal(r->parts[RESIDENT_LIVE], 12);
        assert_int_equal(r->parts[RESIDENT_FOREIGN], 20);
        assert_int_equal(model_series(f.m, SERIES_LIVE_RESIDENT, &view)->total.cell.last, 12);
        assert_int_equal(model_collect_changes(f.m), MODEL_HEAP);
}

/* Of a process alone there is who it is, and time; all else is unknown, and there is one advice. */
FEED_TEST(test_process_without_a_log)
{
        struct process_identity id = {
                .pid = 42,
                .parent_pid = 7,
                .start_wall_ns = 5 * SECOND,
                .program = "api",
                .arguments = "/bin/api\0-x",
                .arguments_size = 12,
        };
        enum hw_advice codes[HW_ADVICE_COUNT];
        const struct run *run = model_run(f.m);

        assert_int_equal(model_advice(f.m, 0, codes, HW_ADVICE_COUNT), 0);
        model_set_process(f.m, &id);
        assert_true(run->process_only);
        assert_int_equal(run->pid, 42);
        assert_int_equal(run->parent_pid, 7);
        assert_string_equal(run->program, "api");
        assert_int_equal(run->n_args, 2);
        assert_string_equal(run->args[1], "-x");
        assert_true(model_watermark_ns(f.m) == UNKNOWN_U64 && model_first_time_ns(f.m) == UNKNOWN_U64);
        model_pass_time(f.m, 90 * SECOND);
        assert_int_equal(model_first_time_ns(f.m), 90 * SECOND);
        assert_int_equal(model_watermark_ns(f.m), 90 * SECOND);
        assert_int_equal(model_wall_time(f.m, 90 * SECOND), 95 * SECOND);
        assert_true(model_heap(f.m)->live_bytes == UNKNOWN_U64 && model_heap(f.m)->heap_size_bytes == UNKNOWN_U64);
        assert_int_equal(model_advice(f.m, 0, codes, HW_ADVICE_COUNT), 1);
        assert_int_equal(codes[0], HW_ADVICE_PROCESS_ONLY);
        assert_int_equal(model_advice(f.m, 0, codes, 0), 0);
        model_begin_run(f.m, 2);
        assert_false(run->process_only);
        id.arguments_size = 0; /* not readable: the kernel's name of it */
        model_set_process(f.m, &id);
        assert_string_equal(run->program, "api");
}

static void run_stop(uint16_t cap, uint64_t from, uint64_t to, unsigned thread, unsigned status)
{
        ev(&f, HW_RUN_THREAD, cap, from, "4", U(thread));
        ev(&f, HW_STOP_THREAD, cap, to, "424", U(thread), U(status), U(0));
}

FEED_TEST(test_scheduler)
{
        const struct sched *s = model_sched(f.m);

        ev(&f, HW_CREATE_THREAD, 0, 10, "4", U(1));
        run_stop(0, 100, 150, 1, 3);
        run_stop(2, 50, 90, 7, 7);
        run_stop(0, 200, 260, 1, 5);
        run_stop(0, 300, 310, 1, 5); /* of a thread that has finished: noise */
        ev(&f, HW_MIGRATE_THREAD, 0, 10, "42", U(1), U(1));
        ev(&f, HW_THREAD_WAKEUP, 0, 10, "42", U(1), U(1));
        assert_int_equal(s->n_caps, 3);
        assert_int_equal(s->caps[0].run_ns, 110);
        assert_int_equal(s->caps[0].runs, 2);
        assert_int_equal(s->caps[2].run_ns, 40);
        assert_int_equal(s->finished, 1);
        assert_int_equal(s->stops[5], 1);
        assert_int_equal(s->stops[7], 1);
        assert_true(s->created == 1 && s->migrations == 1 && s->wakeups == 1);
        ev(&f, HW_STOP_THREAD, 1, 400, "424", U(9), U(60000), U(0)); /* no run seen, no known status */
        assert_int_equal(s->stops[SCHED_STATUSES - 1], 1);
        assert_int_equal(s->caps[1].run_ns, 0);
        ev(&f, HW_STOP_THREAD, 0, 10, "42", U(9), U(8)); /* the short form of 7.0 */
        ev(&f, HW_SPARK_COUNTERS, 1, 10, "8888888", U(1), U(2), U(3), U(4), U(5), U(6), U(7));
        assert_true(s->caps[1].sparks_known && !s->caps[0].sparks_known);
        assert_int_equal(s->caps[1].sparks[4], 5); /* collected */
        assert_int_equal(s->caps[1].sparks[5], 6); /* fizzled */
        ev(&f, HW_CAP_DISABLE, NONE, 10, "2", U(1));
        assert_true(s->caps[1].disabled);
        ev(&f, HW_CAP_ENABLE, NONE, 10, "2", U(1));
        assert_false(s->caps[1].disabled);
        ev(&f, HW_CAP_CREATE, NONE, 10, "2", U(7));
        assert_int_equal(s->n_caps, 8);
        ev(&f, HW_CAP_CREATE, NONE, 10, "2", U(LIMIT_CAPS)); /* too many: none is made */
        run_stop(LIMIT_CAPS, 10, 20, 3, 1);
        assert_int_equal(s->n_caps, 8);
        assert_int_equal(s->stops[1], 1);
        assert_int_equal(model_run(f.m)->capabilities, 8);
        assert_string_equal(sched_stop_reason(18), "blocked in throwTo");
        assert_null(sched_stop_reason(0));
        assert_null(sched_stop_reason(22));
}

FEED_TEST(test_stop_codes_of_7_8_2)
{
        const struct sched *s = model_sched(f.m);

        run_stop(0, 1, 2, 1, 8); /* readMVar there */
        run_stop(0, 1, 2, 1, 9); /* black hole there */
        run_stop(0, 1, 2, 1, 7);
        identifier("GHC-7.8.2 rts_thr_l"); /* after the events it explains */
        run_stop(0, 1, 2, 1, 19);          /* throwTo there */
        assert_true(model_run(f.m)->stop_codes_782);
        assert_int_equal(s->stops[20], 1);
        assert_int_equal(s->stops[8], 1);
        assert_int_equal(s->stops[9], 0);
        assert_int_equal(s->stops[7], 1);
        assert_int_equal(s->stops[18], 1);
        identifier("GHC-7.8.2 rts_thr_l"); /* again, as at a restart: nothing moves twice */
        assert_int_equal(s->stops[20], 1);
        assert_int_equal(s->stops[8], 1);
}

FEED_TEST(test_nonmoving)
{
        const struct nonmoving *n = &model_gc(f.m)->nonmoving;

        assert_false(n->seen);
        ev(&f, HW_CONC_MARK_BEGIN, NONE, 100, "");
        ev(&f, HW_CONC_MARK_END, NONE, 150, "4", U(12));
        ev(&f, HW_CONC_MARK_BEGIN, NONE, 200, ""); /* marks may repeat */
        ev(&f, HW_CONC_MARK_END, NONE, 230, "4", U(34));
        ev(&f, HW_CONC_SYNC_BEGIN, NONE, 300, "");
        ev(&f, HW_CONC_SYNC_BEGIN, NONE, 310, ""); /* doubled */
        ev(&f, HW_CONC_SYNC_END, NONE, 350, "");
        ev(&f, HW_CONC_SYNC_END, NONE, 360, "");
        ev(&f, HW_CONC_SWEEP_BEGIN, NONE, 400, "");
        ev(&f, HW_NONMOVING_HEAP_CENSUS, NONE, 410, "1444", U(4), U(1), U(2), U(3));
        ev(&f, HW_NONMOVING_HEAP_CENSUS, NONE, 410, "2444", U(48), U(4), U(5), U(6));
        ev(&f, HW_CONC_SWEEP_END, NONE, 500, "");
        assert_true(n->seen);
        assert_int_equal(n->cycles, 1);
        assert_int_equal(n->mark_total_ns, 80);
        assert_int_equal(n->marked_objects, 34);
        assert_int_equal(n->sync_total_ns, 40);
        assert_int_equal(n->sync_max_ns, 40);
        assert_int_equal(n->sweep_total_ns, 100);
        assert_int_equal(n->n_census, 2);
        assert_int_equal(n->census[0].block_bytes, 16);
        assert_int_equal(n->census[0].live_blocks, 3);
        assert_int_equal(n->census[1].block_bytes, 48);
        assert_int_equal(n->census[1].active, 4);
        ev(&f, HW_CONC_MARK_BEGIN, NONE, 600, "");
        ev(&f, HW_NONMOVING_HEAP_CENSUS, NONE, 610, "1444", U(200), U(1), U(2), U(3)); /* no such size */
        assert_int_equal(n->n_census, 1);                                              /* a new cycle, a new census */
        for (unsigned i = 0; i < 40; i++)
                ev(&f, HW_NONMOVING_HEAP_CENSUS, NONE, 620, "2444", U(i), U(1), U(2), U(3));
        assert_int_equal(n->n_census, NONMOVING_SIZES);
        ev(&f, HW_NONMOVING_PRUNED_SEGMENTS, NONE, 700, "44", U(3), U(9));
        ev(&f, HW_NONMOVING_PRUNED_SEGMENTS, NONE, 700, "44", U(2), U(8));
        assert_int_equal(n->pruned_segments, 5);
        assert_int_equal(n->free_segments, 8);
}

FEED_TEST(test_notes)
{
        const struct notes *n = model_notes(f.m);
        static char big[3000];

        ev(&f, HW_USER_MSG, 1, 5, "tz", "hello", ""); /* a NUL left at the end */
        assert_string_equal(f.note.text, "hello");
        assert_int_equal(f.note.size_bytes, 5);
        assert_true(f.note.what == NOTE_MESSAGE && f.note.cap == 1 && f.note.number == 1 && f.note.time_ns == 5);
        ev(&f, HW_USER_MARKER, 0, 6, "t", "\x1b[31mphase");
        assert_int_equal(f.note.what, NOTE_MARKER);
        assert_string_equal(f.note.text, "\x1b[31mphase"); /* kept raw, cleaned on output */
        ev(&f, HW_THREAD_LABEL, 0, 7, "4t", U(99), "worker");
        assert_int_equal(f.note.thread, 99);
        assert_string_equal(f.note.text, "worker");
        ev(&f, HW_THREAD_LABEL, NONE, 7, "4t", U(99), "worker"); /* repeated to a new reader */
        ev(&f, HW_USER_BINARY_MSG, 0, 8, "8", U(5));
        assert_true(f.note.what == NOTE_BINARY && f.note.size_bytes == 8 && f.note.text_size == 0);
        ev(&f, HW_LOG_MSG, NONE, 9, "t", "");
        assert_true(f.note.what == NOTE_LOG && f.note.size_bytes == 0);
        memset(big, 'b', sizeof(big) - 1);
        ev(&f, HW_USER_MSG, 0, 10, "t", big);
        assert_int_equal(f.note.size_bytes, sizeof(big) - 1);
        assert_int_equal(f.note.text_size, LIMIT_NOTE_TEXT_BYTES);
        assert_int_equal(strlen(f.note.text), LIMIT_NOTE_TEXT_BYTES);
        ev(&f, HW_LOG_MSG, NONE, 11, "t", "heapwatch-agent: answer 1 ok"); /* of the agent to its client */
        ev(&f, HW_LOG_MSG, NONE, 12, "t", "heapwatch-agent: no census: it would pause"); /* the state of its profile */
        assert_string_equal(model_run(f.m)->no_census, "it would pause");
        ev(&f, HW_HEAP_PROF_SAMPLE_BEGIN, 0, 13, "8", U(0));
        assert_string_equal(model_run(f.m)->no_census, "");
        assert_true(notes_total(n) == 6 && notes_oldest(n) == 1);
        assert_string_equal(notes_get(n, 2)->text, "\x1b[31mphase");
        for (unsigned i = 7; i <= LIMIT_NOTES + 10; i++)
                ev(&f, HW_USER_MSG, 0, i, "t", i % 2 ? "odd" : "even, and longer");
        assert_int_equal(notes_total(n), LIMIT_NOTES + 10);
        assert_int_equal(notes_oldest(n), 11);
        assert_null(notes_get(n, 10));
        assert_null(notes_get(n, LIMIT_NOTES + 11));
        assert_null(notes_get(n, 0));
        for (unsigned i = 11; i <= LIMIT_NOTES + 10; i++) {
                assert_int_equal(notes_get(n, i)->number, i);
                assert_string_equal(notes_get(n, i)->text, i % 2 ? "odd" : "even, and longer");
        }
        size_t held = model_held_bytes(f.m);
        for (unsigned i = 0; i < 4 * LIMIT_NOTES; i++)
                ev(&f, HW_USER_MSG, 0, i, "t", "again");
        assert_int_equal(model_held_bytes(f.m), held); /* goes round in the same memory */
        model_begin_run(f.m, 2);
        assert_true(notes_total(n) == 0 && !notes_get(n, 1));
}

FEED_TEST(test_time_profile)
{
        const struct profile *p = model_profile(f.m);

        model_collect_changes(f.m);
        for (unsigned i = 0; i < 10; i++) /* gaps of the tick counter are no samples */
                ev(&f, HW_PROF_SAMPLE_COST_CENTRE, NONE, i, "48144", U(0), U(i * 100), U(2), U(5), U(6));
        ev(&f, HW_PROF_SAMPLE_COST_CENTRE, NONE, 11, "48144", U(1), U(3), U(2), U(6), U(5));
        ev(&f, HW_PROF_SAMPLE_COST_CENTRE, NONE, 12, "481", U(0), U(4), U(0));
        ev(&f, HW_PROF_SAMPLE_COST_CENTRE, NONE, 13, "48144", U(0), U(4), U(200), U(1), U(2)); /* lies */
        assert_int_equal(profile_ticks(p), 12);
        assert_int_equal(profile_stacks(p), 3);
        assert_int_equal(profile_get(p, 1)->ticks, 10);
        assert_int_equal(profile_get(p, 1)->centres[0], 5);
        assert_int_equal(profile_get(p, 1)->changed, 10);
        assert_int_equal(profile_get(p, 2)->centres[0], 6);
        assert_int_equal(profile_get(p, 3)->depth, 0);
        assert_int_equal(profile_get(p, 3)->changed, 12);
        assert_null(profile_get(p, 0));
        assert_null(profile_get(p, 4));
        assert_int_equal(model_collect_changes(f.m), MODEL_PROFILE);
        for (uint32_t i = 0; i < LIMIT_STACKS; i++)
                ev(&f, HW_PROF_SAMPLE_COST_CENTRE, NONE, 20, "4814", U(0), U(i), U(1), U(i));
        assert_int_equal(profile_stacks(p), LIMIT_STACKS);
        assert_int_equal(profile_left_out(p), 3);
        assert_int_equal(profile_ticks(p), 12 + LIMIT_STACKS);
}

FEED_TEST(test_ticky)
{
        const struct ticky *t = model_ticky(f.m);

        ev(&f, HW_TICKY_COUNTER_BEGIN_SAMPLE, NONE, 1, "");
        ev(&f, HW_TICKY_COUNTER_SAMPLE, NONE, 1, "8888", U(77), U(1), U(2), U(3));
        ev(&f, HW_TICKY_COUNTER_SAMPLE, NONE, 1, "8888", U(78), U(10), U(20), U(30));
        ev(&f, HW_TICKY_COUNTER_SAMPLE, NONE, 2, "8888", U(77), U(4), U(5), U(6)); /* since the batch before */
        assert_int_equal(ticky_count(t), 2);
        assert_int_equal(ticky_get(t, 0)->entries, 5);
        assert_int_equal(ticky_get(t, 0)->allocs, 7);
        assert_int_equal(ticky_get(t, 0)->allocd, 9);
        assert_null(ticky_get(t, 0)->name);
        ev(&f, HW_TICKY_COUNTER_DEF, NONE, 3, "82zz", U(77), U(2), "MM", "Main.go"); /* the short form of 9.2 */
        assert_string_equal(ticky_get(t, 0)->name, "Main.go");
        assert_string_equal(ticky_get(t, 0)->argument_kinds, "MM");
        assert_int_equal(ticky_get(t, 0)->arity, 2);
        assert_int_equal(ticky_get(t, 0)->changed, 4);
        assert_int_equal(ticky_get(t, 1)->changed, 2);
        assert_int_equal(ticky_events(t), 4);
        assert_null(ticky_get(t, 2));
}

static bool advised_after(enum hw_advice code, uint64_t silent_ns)
{
        enum hw_advice codes[HW_ADVICE_COUNT];
        size_t n = model_advice(f.m, silent_ns, codes, HW_ADVICE_COUNT);

        for (size_t i = 0; i < n; i++)
                if (codes[i] == code)
                        return true;
        return false;
}

static bool advised(enum hw_advice code)
{
        return advised_after(code, 0);
}

/* Nothing but a header comes from a program that does not flush: event time cannot say that it is late. */
FEED_TEST(test_advice_in_silence)
{
        ARGS("api", "+RTS", "-l");
        assert_false(advised_after(HW_ADVICE_NOT_FLUSHED, 7 * SECOND));
        assert_true(advised_after(HW_ADVICE_NOT_FLUSHED, 8 * SECOND));
        for (uint64_t s = 0; s < 60; s++) { /* one that has come in time and is idle now */
                block(0, s * SECOND, (s + 1) * SECOND, 24 + 16);
                ev(&f, HW_CREATE_THREAD, 0, s * SECOND + 1, "4", U(1));
        }
        assert_false(advised_after(HW_ADVICE_NOT_FLUSHED, 60 * SECOND));
        model_begin_run(f.m, 2);
        ARGS("api", "+RTS", "-l", "--eventlog-flush-interval=1");
        assert_false(advised_after(HW_ADVICE_NOT_FLUSHED, 60 * SECOND));
}

/* A program watched from outside has no buffer to flush: what is read of it comes in one without a capability. */
FEED_TEST(test_no_advice_to_flush_from_outside)
{
        ARGS("api");
        for (uint64_t s = 0; s < 60; s++) {
                block(NONE, s * SECOND, (s + 1) * SECOND, 24 + 32);
                ev(&f, HW_HEAP_SIZE, NONE, s * SECOND + 1, "48", U(0), U(10 << 20));
        }
        assert_false(advised_after(HW_ADVICE_NOT_FLUSHED, SECOND));
        assert_false(advised_after(HW_ADVICE_NOT_FLUSHED, 600 * SECOND)); /* nor when its reader has ended */
}

FEED_TEST(test_advice)
{
        enum hw_advice one[1];

        assert_int_equal(model_advice(f.m, 0, one, 1), 0); /* nothing is known, so no advice */
        identifier("GHC-9.6.6 rts_v");
        ARGS("api", "+RTS", "-l-au", "--eventlog-flush-interval=1");
        assert_true(advised(HW_ADVICE_FLUSH_NOT_THREADED));
        assert_false(advised(HW_ADVICE_NO_GC_EVENTS) || advised(HW_ADVICE_NO_HEAP_PROFILE));
        model_begin_run(f.m, 2);
        ev(&f, HW_CREATE_THREAD, 0, 0, "4", U(1));
        ev(&f, HW_CREATE_THREAD, 0, 3 * SECOND, "4", U(1));
        assert_false(advised(HW_ADVICE_NO_HEAP_PROFILE)); /* what it was started with is not known */
        model_begin_run(f.m, 3);
        identifier("GHC-9.6.6 rts_v");
        ARGS("api", "+RTS", "-l-au", "--eventlog-flush-interval=1");
        block(0, 0, 3 * SECOND, 24 + 16);
        ev(&f, HW_CREATE_THREAD, 0, 3 * SECOND, "4", U(1));
        assert_true(advised(HW_ADVICE_NO_GC_EVENTS) && advised(HW_ADVICE_NO_HEAP_PROFILE));
        assert_false(advised(HW_ADVICE_OLD_GHC) || advised(HW_ADVICE_NO_USER_EVENTS));
        assert_int_equal(model_advice(f.m, 0, one, 1), 1);
        ARGS("api", "+RTS", "-l-au", "--nonmoving-gc"); /* with -h the runtime would end it */
        assert_true(advised(HW_ADVICE_PROFILE_REFUSED) && !advised(HW_ADVICE_NO_HEAP_PROFILE));
        ARGS("api", "+RTS", "-l-au", "-xn", "-c");
        assert_true(advised(HW_ADVICE_PROFILE_REFUSED));
        ARGS("api", "+RTS", "-l-au", "-w");
        assert_true(advised(HW_ADVICE_PROFILE_REFUSED));
        ARGS("api", "+RTS", "-l-au", "-xn");
        identifier("GHC-9.8.2 rts_v");
        assert_true(advised(HW_ADVICE_PROFILE_REFUSED));
        identifier("GHC-9.8.3 rts_v");
        assert_false(advised(HW_ADVICE_PROFILE_REFUSED));
        identifier("GHC-9.6.6 rts_v");
        ARGS("api", "+RTS", "-l-au", "-xn", "--copying-gc");
        assert_true(advised(HW_ADVICE_NO_HEAP_PROFILE) && !advised(HW_ADVICE_PROFILE_REFUSED));
        ev(&f, HW_CONC_MARK_BEGIN, 0, 3 * SECOND, ""); /* by options that are linked into it */
        assert_true(advised(HW_ADVICE_PROFILE_REFUSED));
        ARGS("api", "+RTS", "-l-u", "-hi");
        assert_true(advised(HW_ADVICE_NO_USER_EVENTS));
        assert_false(advised(HW_ADVICE_NO_HEAP_PROFILE) || advised(HW_ADVICE_FLUSH_NOT_THREADED));
        ev(&f, HW_GC_START, 0, 4 * SECOND, "");
        assert_false(advised(HW_ADVICE_NO_GC_EVENTS));
        ev(&f, HW_HEAP_PROF_SAMPLE_BEGIN, NONE, 5, "8", U(0));
        ev(&f, HW_HEAP_PROF_SAMPLE_STRING, NONE, 5, "18z", U(0), U(9), "0x1");
        ev(&f, HW_HEAP_PROF_SAMPLE_END, NONE, 5, "8", U(0));
        assert_true(advised(HW_ADVICE_NO_IPE));
        ev(&f, HW_IPE, NONE, 6, "8zzzzzz", U(1), "a", "1", "t", "l", "m", "s");
        assert_false(advised(HW_ADVICE_NO_IPE));
        ev(&f, HW_PROF_SAMPLE_COST_CENTRE, NONE, 7, "4814", U(0), U(4), U(1), U(17));
        assert_true(advised(HW_ADVICE_PROFILE_NOT_THREADED) && advised(HW_ADVICE_UNDEFINED_COST_CENTRES));
        ev(&f, HW_HEAP_PROF_COST_CENTRE, NONE, 8, "4zzz1", U(17), "f", "Main", "a.hs", U(0));
        assert_false(advised(HW_ADVICE_UNDEFINED_COST_CENTRES));
        ev(&f, HW_TICKY_COUNTER_SAMPLE, NONE, 9, "8888", U(77), U(1), U(2), U(3));
        assert_true(advised(HW_ADVICE_TICKY_AT_EXIT));
        ev(&f, HW_TICKY_COUNTER_DEF, NONE, 9, "82zz", U(77), U(2), "MM", "Main.go");
        assert_false(advised(HW_ADVICE_TICKY_AT_EXIT));
        identifier("GHC-9.0.2 rts_thr_l");
        assert_true(advised(HW_ADVICE_OLD_GHC));
        ARGS("api", "+RTS", "--eventlog-flush-interval=1", "-hr");
        assert_true(advised(HW_ADVICE_FLUSH_EXIT_DEADLOCK));
        assert_true(advised(HW_ADVICE_RETAINER_MANY) && !advised(HW_ADVICE_BIOGRAPHY_AT_EXIT));
        identifier("GHC-10.0.1 rts_thr");
        ARGS("api", "+RTS", "--eventlog-flush-interval=1", "-hb");
        assert_false(advised(HW_ADVICE_FLUSH_EXIT_DEADLOCK));
        assert_true(advised(HW_ADVICE_BIOGRAPHY_AT_EXIT) && !advised(HW_ADVICE_RETAINER_MANY));
}

FEED_TEST(test_advice_that_needs_time)
{
        ARGS("api", "+RTS", "-l");
        for (uint64_t s = 0; s < 60; s++) {
                block(0, s * SECOND, (s + 1) * SECOND, 24 + 16);
                ev(&f, HW_CREATE_THREAD, 0, s * SECOND + 1, "4", U(1));
        }
        assert_false(advised(HW_ADVICE_NOT_FLUSHED));
        identifier("GHC-9.0.2 rts_l");
        assert_false(advised(HW_ADVICE_OLD_GHC)); /* it flushes all the same */
        block(0, 60 * SECOND, 900 * SECOND, 24);
        assert_true(advised(HW_ADVICE_NOT_FLUSHED) && advised(HW_ADVICE_OLD_GHC));
        assert_false(advised(HW_ADVICE_FEW_MAJOR));
        stats(0, 901 * SECOND, 0, 1, 1, 1);
        ev(&f, HW_GC_END, 0, 901 * SECOND, "");
        assert_true(advised(HW_ADVICE_FEW_MAJOR));
        ev(&f, HW_HEAP_PROF_SAMPLE_BEGIN, NONE, 901 * SECOND, "8", U(0));
        ev(&f, HW_HEAP_PROF_SAMPLE_STRING, NONE, 901 * SECOND, "18z", U(0), U(9), "x");
        ev(&f, HW_HEAP_PROF_SAMPLE_END, NONE, 901 * SECOND, "8", U(0));
        assert_false(advised(HW_ADVICE_FEW_MAJOR)); /* what it advises is done */
        ev(&f, HW_HEAP_LIVE, 0, 902 * SECOND, "48", U(0), U(1));
        assert_false(advised(HW_ADVICE_FEW_MAJOR));
        ARGS("api", "+RTS", "-l", "--eventlog-flush-interval=900");
        assert_false(advised(HW_ADVICE_NOT_FLUSHED));
}

/* A forked child's clock is the raw monotonic one: large from the start. */
FEED_TEST(test_clock_that_starts_high)
{
        uint64_t t0 = UINT64_C(3000000) * SECOND;
        struct point p[4];

        block(NONE, t0, t0 + SECOND, 24 + 12 + 16);
        ev(&f, HW_WALL_CLOCK_TIME, NONE, t0, "484", U(1), U(1700000000), U(0));
        block(0, t0, t0 + 4 * SECOND, 1000);
        for (uint64_t i = 1; i <= 3; i++)
                ev(&f, HW_HEAP_LIVE, 0, t0 + i * SECOND, "48", U(0), U(i));
        assert_true(model_wall_time(f.m, t0 + SECOND) == UINT64_C(1700000001) * SECOND);
        assert_int_equal(
                series_history(model_series(f.m, SERIES_LIVE, &view), (struct time_range){ 0, UINT64_MAX }, 0, p, 4),
                3);
        ev(&f, HW_GC_START, 0, t0 + 3 * SECOND, "");
        stats(0, t0 + 3 * SECOND, 0, 5, 5, 1);
        ev(&f, HW_GC_END, 0, t0 + 4 * SECOND, "");
        model_collect_changes(f.m);
        assert_true(model_gc(f.m)->share_run > 0.2499 && model_gc(f.m)->share_run < 0.2501);
        assert_int_equal(model_late_samples(f.m), 0);
}

/* Whoever joins late is told definitions again, of the time when they were first said: what was then is not known. */
FEED_TEST(test_known_from_the_first_block_on)
{
        assert_true(model_first_time_ns(f.m) == UNKNOWN_U64);
        block(NONE, 5, SECOND, 24 + 16 + 26);
        ev(&f, HW_WALL_CLOCK_TIME, NONE, 5, "484", U(1), U(1700000000), U(0));
        assert_int_equal(model_first_time_ns(f.m), 5);
        ev(&f, HW_THREAD_LABEL, NONE, SECOND, "4t", U(1), "worker");
        assert_int_equal(model_first_time_ns(f.m), 5);
        block(0, 600 * SECOND, 602 * SECOND, 1000);
        assert_int_equal(model_first_time_ns(f.m), 5);
        ev(&f, HW_GC_START, 0, 601 * SECOND, "");
        assert_int_equal(model_first_time_ns(f.m), 600 * SECOND);
        stats(0, 602 * SECOND, 0, 5, 5, 1);
        ev(&f, HW_GC_END, 0, 602 * SECOND, "");
        model_collect_changes(f.m);
        assert_true(model_gc(f.m)->share_run > 0.4999 && model_gc(f.m)->share_run < 0.5001);
        block(1, 599 * SECOND, 602 * SECOND, 1000); /* the buffers are flushed one after the other */
        ev(&f, HW_CREATE_THREAD, 1, 601 * SECOND, "4", U(1));
        assert_int_equal(model_first_time_ns(f.m), 599 * SECOND);
        ev(&f, HW_THREAD_LABEL, 1, 2 * SECOND, "4t", U(1), "one");
        assert_int_equal(model_first_time_ns(f.m), 599 * SECOND);
}

FEED_TEST(test_late_samples_are_counted)
{
        ev(&f, HW_HEAP_LIVE, 0, 1000 * SECOND, "48", U(0), U(1));
        ev(&f, HW_HEAP_LIVE, 0, 800 * SECOND, "48", U(0), U(1));
        assert_int_equal(model_late_samples(f.m), 0);
        ev(&f, HW_HEAP_LIVE, 0, 600 * SECOND, "48", U(0), U(1));
        assert_int_equal(model_late_samples(f.m), 1);
        assert_int_equal(model_series(f.m, SERIES_LIVE, &view)->total.cell.n, 3);
}

FEED_TEST(test_no_callbacks)
{
        struct model_sink none = { 0 };
        struct model *told = f.m;

        f.m = model_new(&none);
        model_begin_run(f.m, 1);
        ev(&f, HW_GC_START, 0, 1, "");
        stats(0, 2, 0, 5, 5, 1);
        ev(&f, HW_GC_END, 0, 3, "");
        ev(&f, HW_USER_MSG, 1, 5, "t", "hello");
        ev(&f, HW_HEAP_PROF_SAMPLE_BEGIN, NONE, 5, "8", U(0));
        ev(&f, HW_HEAP_PROF_SAMPLE_STRING, NONE, 5, "18z", U(0), U(9), "x");
        ev(&f, HW_HEAP_PROF_SAMPLE_END, NONE, 5, "8", U(0));
        assert_int_equal(model_census(f.m)->total_bytes, 9);
        model_destroy(&f.m);
        model_destroy(&f.m);
        f.m = told;
}
