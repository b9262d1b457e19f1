/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples of stacks that a program takes by ghc-stack-profiler. */
#include <string.h>

#include "tests/unit/model/one_feed.h"

#include "daemon/model/limits.h"

static void define_string(uint64_t id, const char *text)
{
        ev(&f, HW_USER_BINARY_MSG, 0, 1, "282t", U(0xffcc), id, U(strlen(text)), text);
}

static void define_code(uint64_t id, const char *label, const char *place)
{
        ev(&f, HW_IPE, NONE, 1, "8zzzzzz", id, "f_info", "14", "T", label, "Main", place);
}

/* A sample of two frames of code, in the layout of 0.4. */
static void sample_code(uint64_t thread, uint64_t outer, uint64_t inner)
{
        ev(&f, HW_USER_BINARY_MSG, 0, 2, "24421818", U(0xffca), U(0), thread, U(2), U(1), outer, U(1), inner);
}

static struct cost_centre frame(uint32_t stack, uint32_t i)
{
        return bands_cost_centre(model_bands(f.m), profile_get(model_profile(f.m), stack)->centres[i]);
}

static double undefined_frames(void)
{
        return model_heap(f.m)->facts[CARRIED_FRAMES_UNDEFINED];
}

FEED_TEST(test_samples)
{
        const struct profile *p = model_profile(f.m);

        model_collect_changes(f.m);
        define_code(100, "outer", "a.hs:1");
        define_code(101, "inner", ":");
        sample_code(5, 100, 101);
        ev(&f, HW_USER_BINARY_MSG, 0, 3, "24821818", U(0xffca), U(1), U(5), U(2), U(1), U(100), U(1), U(101)); /* 0.5 */
        ev(&f, HW_USER_BINARY_MSG, 0, 3, "2482", U(0xffca), U(1), U(6), U(0));
        ev(&f, HW_USER_BINARY_MSG, 0, 3, "21", U(0xffc0), U(0));
        assert_true(profile_is_sampled(p));
        assert_int_equal(profile_ticks(p), 3);
        assert_int_equal(profile_stacks(p), 2);
        assert_int_equal(profile_get(p, 1)->ticks, 2);
        assert_int_equal(profile_get(p, 1)->depth, 2);
        assert_string_equal(frame(1, 0).label, "inner"); /* innermost first */
        assert_string_equal(frame(1, 0).source, "");
        assert_string_equal(frame(1, 1).label, "outer");
        assert_string_equal(frame(1, 1).module, "Main");
        assert_string_equal(frame(1, 1).source, "a.hs:1");
        assert_int_equal(profile_get(p, 1)->thread, 5);
        assert_int_equal(profile_get(p, 2)->depth, 0);
        assert_int_equal(profile_get(p, 2)->thread, 6);
        assert_true(model_collect_changes(f.m) & MODEL_PROFILE);
        assert_int_equal(f.n_notes, 0);
        assert_true(undefined_frames() == 0);
}

FEED_TEST(test_annotations)
{
        define_string(1, "query \"users\"");
        define_string(2, "Db.hs");
        ev(&f, HW_USER_BINARY_MSG, 0, 1, "28448", U(0xffcd), U(1), U(12), U(3), U(2)); /* another space of ids */
        ev(&f, HW_USER_BINARY_MSG, 0, 2, "244218188", U(0xffca), U(0), U(1), U(2), U(2), U(2), U(3), U(1), U(1));
        assert_string_equal(frame(1, 0).label, "query \"users\"");
        assert_string_equal(frame(1, 0).source, "Db.hs:12:3");
        assert_string_equal(frame(1, 1).label, "Db.hs");
        assert_string_equal(frame(1, 1).source, "");
}

FEED_TEST(test_definitions_that_come_late)
{
        const struct profile *p = model_profile(f.m);

        ev(&f, HW_USER_BINARY_MSG, 0, 2, "244218188", U(0xffca), U(0), U(1), U(2), U(1), U(100), U(3), U(7), U(8));
        sample_code(1, 100, 102);
        model_collect_changes(f.m);
        assert_string_equal(frame(1, 1).label, "0x64");
        assert_string_equal(frame(1, 0).label, "(string 7)");
        assert_true(undefined_frames() == 3);
        uint64_t seen = profile_changes(p);
        ev(&f, HW_USER_BINARY_MSG, 0, 2, "28448", U(0xffcd), U(8), U(12), U(3), U(9));
        define_string(7, "late");
        define_string(9, "Db.hs");
        assert_true(model_collect_changes(f.m) & MODEL_PROFILE);
        assert_string_equal(frame(1, 0).label, "late");
        assert_string_equal(frame(1, 0).source, "Db.hs:12:3");
        assert_true(undefined_frames() == 2);
        assert_true(profile_get(p, 1)->changed > seen);  /* it is sent again, */
        assert_true(profile_get(p, 2)->changed <= seen); /* the other is not */
        define_code(100, "outer", "a.hs:1");
        model_collect_changes(f.m);
        assert_string_equal(frame(2, 1).label, "outer");
        assert_true(undefined_frames() == 1);
        assert_int_equal(profile_ticks(p), 2);
}

FEED_TEST(test_recursion_makes_no_stack_deeper)
{
        const struct profile *p = model_profile(f.m);

        define_code(100, "go", "a.hs:1");
        define_code(101, "go", "a.hs:2");
        sample_code(1, 100, 101);
        sample_code(1, 101, 100);
        assert_int_equal(profile_get(p, 1)->depth, 1);
        assert_string_equal(frame(1, 0).source, "a.hs:2"); /* where it is */
        assert_string_equal(frame(2, 0).source, "a.hs:1");
}

/* A part of n frames, the codes from `first` on. */
static void part(uint16_t tag, uint64_t thread, uint64_t first, uint32_t n)
{
        struct hw_event e = { .time_ns = 2, .payload = f.payload, .id = HW_USER_BINARY_MSG, .size = 16 };
        const uint64_t head[] = { tag, 0, thread, n };
        static const unsigned widths[] = { 2, 4, 8, 2 };
        uint8_t *at = f.payload;

        for (unsigned i = 0; i < 4; i++)
                for (unsigned width = widths[i]; width-- > 0;)
                        *at++ = (uint8_t)(head[i] >> 8 * width);
        for (uint32_t i = 0; i < n; i++) {
                *at++ = 1;
                for (unsigned width = 8; width-- > 0;)
                        *at++ = (uint8_t)((first + i) >> 8 * width);
        }
        e.size = (uint32_t)(at - f.payload);
        model_events(f.m, &e, 1);
}

FEED_TEST(test_parts)
{
        const struct profile *p = model_profile(f.m);

        part(0xffcb, 1, 1, 3);
        part(0xffcb, 2, 21, 2); /* of another thread, in between */
        part(0xffca, 1, 4, 2);
        assert_int_equal(profile_ticks(p), 1);
        part(0xffca, 2, 23, 1);
        assert_int_equal(profile_get(p, 1)->depth, 5);
        assert_string_equal(frame(1, 0).label, "0x5");
        assert_string_equal(frame(1, 4).label, "0x1");
        assert_int_equal(profile_get(p, 2)->depth, 3);
        assert_string_equal(frame(2, 0).label, "0x17");
        part(0xffcb, 3, 1, 7000); /* both ends of a deep one are kept */
        part(0xffca, 3, 7001, 5000);
        assert_int_equal(profile_get(p, 3)->depth, 257);
        assert_string_equal(frame(3, 0).label, "0x2ee0");
        assert_string_equal(frame(3, 127).label, "0x2e61");
        assert_string_equal(frame(3, 128).label, "(frames left out)");
        assert_string_equal(frame(3, 129).label, "0x80");
        assert_string_equal(frame(3, 256).label, "0x1");
        part(0xffca, 3, 1, 256); /* that has just room */
        assert_int_equal(profile_get(p, 4)->depth, 256);
        assert_string_equal(frame(4, 0).label, "0x100");
        for (uint64_t thread = 10; thread < 100; thread++) /* that are never completed */
                part(0xffcb, thread, 1, 1);
        assert_int_equal(profile_left_out(p), 90 - LIMIT_STACK_PARTS);
}

FEED_TEST(test_what_is_foreign_is_a_note)
{
        ev(&f, HW_USER_BINARY_MSG, 0, 1, "2t", U(0x4f54), "secret");
        ev(&f, HW_USER_BINARY_MSG, 0, 1, "24421", U(0xffca), U(0), U(1), U(1), U(9)); /* no such frame */
        assert_int_equal(f.n_notes, 2);
        assert_true(f.note.what == NOTE_BINARY && f.note.text_size == 0);
        assert_true(model_heap(f.m)->facts[CARRIED_BINARY_MESSAGES] == 2);
        assert_int_equal(profile_ticks(model_profile(f.m)), 0);
}

/* Ticks are of CPU time, samples of wall-clock time: the kind that comes first is the run's. */
FEED_TEST(test_kinds_are_not_added_up)
{
        const struct profile *p = model_profile(f.m);

        sample_code(1, 100, 101);
        ev(&f, HW_PROF_SAMPLE_COST_CENTRE, NONE, 3, "48144", U(0), U(0), U(2), U(5), U(6));
        assert_true(profile_is_sampled(p) && profile_stacks(p) == 1);
        assert_int_equal(profile_left_out(p), 1);
        model_begin_run(f.m, 2);
        ev(&f, HW_PROF_SAMPLE_COST_CENTRE, NONE, 3, "48144", U(0), U(0), U(2), U(5), U(6));
        sample_code(1, 100, 101);
        assert_true(!profile_is_sampled(p) && profile_stacks(p) == 1);
        assert_int_equal(profile_left_out(p), 1);
}

FEED_TEST(test_limits)
{
        const struct profile *p = model_profile(f.m);

        model_close_bands(f.m, true);
        sample_code(1, 100, 101);
        define_string(1, "new");
        assert_int_equal(profile_left_out(p), 1);
        assert_int_equal(bands_cost_centres_left_out(model_bands(f.m)), 1);
        model_close_bands(f.m, false);
        for (uint32_t i = 0; i < LIMIT_STACK_SYMBOLS / 2 + 10; i++)
                sample_code(1, 2 * i, 2 * i + 1);
        const size_t held = model_held_bytes(f.m);
        for (uint32_t i = 0; i < 1000; i++)
                sample_code(1, 2 * i + LIMIT_STACK_SYMBOLS * 2, 1);
        assert_int_equal(model_held_bytes(f.m), held);
        assert_int_equal(profile_ticks(p), LIMIT_STACK_SYMBOLS / 2 + 10 + 1000 + 1);
        assert_true(profile_left_out(p) >= 1000);
        ev(&f, HW_HEAP_PROF_COST_CENTRE, NONE, 1, "4zzz1", U(FRAME_CENTRES | 1), "x", "x", "x",
           U(0)); /* no log has it */
        assert_int_equal(bands_cost_centres_left_out(model_bands(f.m)), 2);
}
