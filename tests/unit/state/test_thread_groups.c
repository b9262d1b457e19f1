/* SPDX-License-Identifier: BSD-3-Clause */
/* test_thread_groups.c - what an inspection prints of threads is groups; what does not fit is left out or refused. */
#include "tests/unit/test.h"

#include "client/world/state/thread_groups.h"

TEST(test_groups)
{
        static const char json[] =
                "{\"sentences\": [\"x (process 7): 41 threads in 2 groups\", 7, \"incomplete: a\"], \"groups\": ["
                "{\"threads\": 40, \"state_text\": \"blocked on an MVar\", \"same_cause\": true, "
                "\"least_stack_bytes\": 64, \"most_stack_bytes\": 128, \"allocated_bytes\": 9, \"frames\": ["
                "{\"name\": \"stg_block_takemvar\", \"by\": \"symbol\"}, "
                "{\"name\": \"main-1.0:Main.Work\", \"by\": \"module\"}]},"
                "{\"threads\": -1, \"same_cause\": false, \"frames\": [{\"name\": \"stg_x\"}]}, 7, "
                "{\"frames\": [{\"name\": \"Main.go\", \"by\": \"source\", \"source\": \"Main.hs:7:1-9\"}], "
                "\"c_frames\": [{\"name\": \"poll\"}, {\"name\": \"wait_all\"}], \"c_stack_frames\": 2, "
                "\"c_stack_whole\": true}, "
                "{\"frames\": [{\"name\": \"Main.go\"}], \"c_frames\": [{\"name\": \"poll\"}], "
                "\"c_stack_frames\": 2, \"c_stack_whole\": true}, "
                "{\"frames\": [{\"name\": \"Main.go\"}], \"c_frames\": [{\"name\": \"poll\"}], "
                "\"c_stack_frames\": 1, \"c_stack_whole\": false}]}";
        struct thread_groups g;
        struct error error;

        assert_true(thread_groups_read(&g, json, &error));
        assert_int_equal(g.n_sentences, 2);
        assert_string_equal(g.sentences[1], "incomplete: a");
        assert_int_equal(g.n, 6);
        assert_int_equal(g.items[0].threads, 40);
        assert_string_equal(g.items[0].state, "blocked on an MVar, all on the same one");
        assert_string_equal(g.items[0].place, "Main.Work (a local function)");
        assert_int_equal(g.items[0].most_stack_bytes, 128);
        assert_true(g.items[0].has_allocated);
        assert_int_equal(g.items[1].threads, 0);
        assert_string_equal(g.items[1].place, "stg_x");
        assert_false(g.items[1].has_allocated);
        assert_string_equal(g.items[2].state, "");
        assert_string_equal(g.items[3].place, "Main.go (Main.hs:7:1-9), in C: wait_all");
        assert_string_equal(g.items[4].place, "Main.go"); /* what it has called is not among those */
        assert_string_equal(g.items[5].place, "Main.go");
        thread_groups_done(&g);
}

TEST(test_damaged)
{
        static const char *const texts[] = { "", "x", "[]", "{}", "{\"groups\": 7}", "{\"groups\": [", "7" };
        struct thread_groups g;
        struct error error;

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
                assert_false(thread_groups_read(&g, texts[i], &error));
                assert_string_equal(error.text, "what the inspection printed is damaged: it has no groups of threads");
                thread_groups_done(&g);
        }
}
