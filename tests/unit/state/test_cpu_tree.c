/* SPDX-License-Identifier: BSD-3-Clause */
/* test_cpu_tree.c - what an inspection prints of a profile is a tree, or is refused with the number of the row. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/test.h"

#include "client/world/state/cpu_tree.h"

static bool read_text(struct cpu_tree *t, const char *text, struct error *error)
{
        struct cpu_trees both;

        const bool good = cpu_trees_read(&both, strdup(text), error);

        assert_int_equal(both.waiting.n_sentences, 0);
        *t = both.running;
        return good;
}

TEST(test_rows_are_a_tree)
{
        struct cpu_tree t;
        struct error error;

        assert_true(read_text(&t, "two samples\nof three\n\n0 1 9 Main.main\n1 8 8 Main (local, before f)\n0 2 2 x\n",
                              &error));
        assert_int_equal(t.n_sentences, 2);
        assert_string_equal(t.sentences[1], "of three");
        assert_int_equal(t.n, 3);
        assert_int_equal(t.nodes[1].parent, 1);
        assert_int_equal(t.nodes[0].self_weight, 1);
        assert_int_equal(t.nodes[1].total_weight, 8);
        assert_string_equal(t.nodes[1].name, "Main (local, before f)");
        assert_int_equal(t.total_weight, 11);
        cpu_tree_done(&t);
}

TEST(test_a_function_that_calls_itself_counts_once)
{
        struct cpu_tree t;
        struct error error;

        assert_true(read_text(
                &t, "head\n\n0 0 100 main\n1 23 30 parse\n2 5 7 compare\n3 2 2 parse\n1 60 70 sort\n5 10 10 compare\n",
                &error));
        assert_true(cpu_tree_sum(&t, &error));
        assert_int_equal(t.n_functions, 4); /* by name */
        assert_string_equal(t.functions[0].name, "compare");
        assert_int_equal(t.functions[0].self_weight, 15);
        assert_int_equal(t.functions[0].total_weight, 17);
        assert_string_equal(t.functions[2].name, "parse");
        assert_int_equal(t.functions[2].self_weight, 25);
        assert_int_equal(t.functions[2].total_weight, 30);
        assert_int_equal(t.functions[1].total_weight, 100);
        cpu_tree_done(&t);
}

TEST(test_equal_stacks_of_threads_are_merged)
{
        struct cpu_tree t, all;
        struct error error;

        assert_true(read_text(&t,
                              "head\n\n0 0 70 thread worker\n1 50 70 main\n2 20 20 f\n0 0 25 thread 7\n4 5 25 main\n"
                              "5 20 20 f\n0 5 5 (garbage collection)\n",
                              &error));
        assert_true(cpu_tree_merge(&all, &t, &error));
        assert_int_equal(all.n, 3);
        assert_int_equal(all.total_weight, 100);
        assert_string_equal(all.nodes[0].name, "main");
        assert_int_equal(all.nodes[0].self_weight, 55);
        assert_int_equal(all.nodes[0].total_weight, 95);
        assert_int_equal(all.nodes[1].parent, 1);
        assert_int_equal(all.nodes[1].self_weight, 40);
        assert_string_equal(all.nodes[2].name, "(garbage collection)");
        assert_int_equal(all.nodes[2].parent, 0);
        assert_string_equal(all.sentences[0], "head");
        cpu_tree_done(&all);
        cpu_tree_done(&t);
}

TEST(test_a_program_that_waits_has_no_rows)
{
        struct cpu_tree t;
        struct error error;

        assert_true(read_text(&t, "no samples\n", &error));
        assert_int_equal(t.n, 0);
        assert_int_equal(t.total_weight, 0);
        cpu_tree_done(&t);
}

TEST(test_what_waits_is_a_tree_of_its_own)
{
        struct cpu_trees t;
        struct error error;

        assert_true(cpu_trees_read(&t, strdup("head\n\n0 1 1 f\n\nwaiting: 2 threads\n\n0 0 7 (in STM)\n1 7 7 f\n\n"),
                                   &error));
        assert_int_equal(t.running.n, 1);
        assert_int_equal(t.running.total_weight, 1);
        assert_int_equal(t.waiting.n, 2);
        assert_int_equal(t.waiting.total_weight, 7);
        assert_string_equal(t.waiting.sentences[0], "waiting: 2 threads");
        cpu_trees_done(&t);
        assert_false(cpu_trees_read(&t, strdup("head\n\n0 1 1 f\n\nwaiting\n\n1 1 1 its own caller\n"), &error));
        assert_null(t.running.text);
}

TEST(test_rows_of_allocation_are_bytes)
{
        struct cpu_tree t, all;
        struct error error;

        assert_true(read_text(&t, "head\n\n0 1 1 f\n\n", &error));
        assert_false(t.by_allocation);
        cpu_tree_done(&t);
        assert_true(read_text(&t, "head\n\nbytes\n0 0 4096 thread 7\n1 4096 4096 f\n\n", &error));
        assert_true(t.by_allocation);
        assert_int_equal(t.n, 2);
        assert_int_equal(t.total_weight, 4096);
        assert_true(cpu_tree_merge(&all, &t, &error));
        assert_true(all.by_allocation);
        cpu_tree_done(&all);
        cpu_tree_done(&t);
        assert_true(read_text(&t, "nothing was allocated\n\nbytes\n\n", &error));
        assert_true(t.by_allocation && t.n == 0);
        cpu_tree_done(&t);
}

TEST(test_what_is_no_tree_is_refused)
{
        static const char *const bad[] = {
                "1 1 1 its own caller\n",
                "0 1 1 a\n3 1 1 of a later row\n",
                "0 2 1 more in it than with what it calls\n",
                "0 1 1 a\n1 2 2 more than its caller\n",
                "0 1 99999999999999999999 too many\n",
                "0 1 18446744073709551615 still too many\n",
                "0 -1 1 negative\n",
                "0 1\n",
                "x 1 1 a\n",
                "seconds\n0 1 1 a\n",
                "0 1 1 a\nbytes\n",
                "0 1 1 a\n\nwaiting\n\nbytes\n0 1 1 a\n",
                " 0 1 1 a\n",
        };
        struct cpu_tree t;
        struct error error;
        char text[200];

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
                (void)snprintf(text, sizeof(text), "head\n\n%s", bad[i]);
                assert_false(read_text(&t, text, &error));
                assert_non_null(strstr(error.text, "damaged"));
                assert_null(t.text);
        }
        assert_false(read_text(&t, "", &error));
        assert_false(read_text(&t, "\n0 1 1 rows alone\n", &error));
}

TEST(test_there_are_no_more_rows_than_it_keeps)
{
        static const char row[] = "0 1 1 a\n";
        char *text = malloc(16 + (CPU_TREE_NODES + 1) * (sizeof(row) - 1)), *end = text;
        struct cpu_tree t;
        struct error error;

        assert_non_null(text);
        end = stpcpy(end, "head\n\n");
        for (size_t i = 0; i < CPU_TREE_NODES; i++)
                end = stpcpy(end, row);
        assert_true(read_text(&t, text, &error));
        assert_int_equal(t.n, CPU_TREE_NODES);
        assert_int_equal(t.total_weight, CPU_TREE_NODES);
        cpu_tree_done(&t);
        (void)stpcpy(end, row);
        assert_false(read_text(&t, text, &error));
        free(text);
}
