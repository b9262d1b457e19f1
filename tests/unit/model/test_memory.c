/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Out of memory: a small log is fed repeatedly, and each time another
 * allocation fails (and, in a second sweep, all after it too). Nothing may
 * crash or leak, and what needs no new memory must still be counted. Linked
 * with --wrap for the three allocating functions.
 */
#include "tests/unit/model/small_log.h"
#include "tests/unit/base/short_memory.h"
#include "tests/unit/test.h"

static struct feed f;

/* Makes a model and feeds it the log; returns the number of allocations. */
static unsigned long tell(unsigned long fail, bool after)
{
        struct model_sink sink = {
                .ctx = &f,
                .band = told_band,
                .census = told_census,
                .note = told_note,
                .collection = told_collection,
                .sample = told_sample,
        };

        memset(&f, 0, sizeof(f));
        calls = 0;
        fail_at = fail;
        ever_after = after;
        counting = true;
        f.m = model_new(&sink);
        if (f.m) {
                model_begin_run(f.m, 1);
                tell_small_log(&f);
        }
        counting = false;
        return calls;
}

static void check(void)
{
        uint64_t rows = 0;

        if (!f.m)
                return;
        const struct census *c = model_census(f.m);
        for (uint32_t i = 0; i < c->n_rows; i++)
                rows += c->rows[i].bytes;
        assert_int_equal(c->total_bytes, rows + c->bytes_left_out); /* nothing is lost silently */
        assert_int_equal(f.n_censuses, 5);
        assert_int_equal(f.n_notes, 40);
        assert_int_equal(notes_total(model_notes(f.m)), 40);
        assert_int_equal(profile_ticks(model_profile(f.m)), 40);
        assert_int_equal(f.n_samples[SERIES_HEAP_SIZE], 40);
        assert_int_equal(model_heap(f.m)->max_live_bytes == UNKNOWN_U64, f.n_samples[SERIES_LIVE] == 0);
        const struct profile *p = model_profile(f.m);
        uint64_t ticks = profile_left_out(p);
        for (uint32_t i = 1; i <= profile_stacks(p); i++)
                ticks += profile_get(p, i)->ticks;
        assert_int_equal(ticks, 40);
        assert_true(model_held_bytes(f.m) > 0);
        model_begin_run(f.m, 2); /* memory is back: so is everything */
        f.n_collections = 0;
        tell_small_log(&f);
        assert_int_equal(f.n_collections, 40);
        assert_int_equal(model_gc(f.m)->collections, 40);
        assert_int_equal(model_census(f.m)->rows_left_out, 0);
        assert_int_equal(model_late_samples(f.m), 0);
}

TEST(test_every_allocation_fails_once)
{
        unsigned long n = tell(0, false);

        assert_true(n > 60);
        check();
        model_destroy(&f.m);
        for (int after = 0; after < 2; after++) {
                for (unsigned long i = 1; i <= n; i++) {
                        tell(i, after);
                        assert_true(i > 2 || !f.m); /* without the first two there is no model */
                        check();
                        model_destroy(&f.m);
                }
        }
}

/* Samples of stacks: with names before and after them, and in parts. */
static unsigned long feed_samples(unsigned long fail, bool after)
{
        memset(&f, 0, sizeof(f));
        calls = 0;
        fail_at = fail;
        ever_after = after;
        counting = true;
        f.m = model_new(NULL);
        if (f.m)
                model_begin_run(f.m, 1);
        for (uint64_t i = 0; f.m && i < 40; i++) {
                ev(&f, HW_USER_BINARY_MSG, 0, i, "282t", U(0xffcc), i, U(4), "text");
                ev(&f, HW_USER_BINARY_MSG, 0, i, "248218", U(0xffcb), U(0), U(1), U(1), U(1), 1000 + i);
                ev(&f, HW_USER_BINARY_MSG, 0, i, "2482188", U(0xffca), U(0), U(1), U(1), U(3), i, i);
                ev(&f, HW_USER_BINARY_MSG, 0, i, "28448", U(0xffcd), i, U(1), U(2), i);
                ev(&f, HW_IPE, NONE, i, "8zzzzzz", 1000 + i, "f_info", "14", "T", "f", "Main", "a.hs");
                model_collect_changes(f.m);
        }
        counting = false;
        return calls;
}

/* A part that found no memory is not there when the last one comes, so that is a sample by itself: none is lost. */
TEST(test_samples_without_memory)
{
        unsigned long n = feed_samples(0, false);

        assert_true(n > 20);
        assert_int_equal(profile_ticks(model_profile(f.m)), 40);
        assert_int_equal(profile_left_out(model_profile(f.m)), 0);
        model_destroy(&f.m);
        for (int after = 0; after < 2; after++) {
                for (unsigned long i = 1; i <= n; i++) {
                        feed_samples(i, after);
                        if (!f.m)
                                continue;
                        const struct profile *p = model_profile(f.m);
                        uint64_t ticks = profile_left_out(p);
                        for (uint32_t id = 1; id <= profile_stacks(p); id++)
                                ticks += profile_get(p, id)->ticks;
                        assert_int_equal(ticks, 40);
                        assert_int_equal(profile_ticks(p), 40);
                        model_destroy(&f.m);
                }
        }
}
