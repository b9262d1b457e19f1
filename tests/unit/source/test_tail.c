/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/source/harness.h"

#include "daemon/source/limits.h"
#include "proto/base/error.h"
#include "tests/unit/test.h"

static struct heard a, b;

TEST_WITH(waits_and_follows, set_up, tear_down)
{
        hear(&a, "file:%s/x.eventlog", dir);
        run_until(a.states);
        assert_int_equal(a.state, SOURCE_WAITING);
        assert_non_null(strstr(a.why, "does not exist yet; waiting for it"));
        assert_int_equal(a.size, 0);
        put(in_dir("x.eventlog"), 0, "one ");
        run_until(a.state == SOURCE_OPEN && a.size == 4);
        put(in_dir("x.eventlog"), O_APPEND, "two");
        run_until(a.size == 7);
        assert_string_equal(a.text, "one two");
        assert_int_equal(a.cuts, 0);
        assert_int_equal(source_stats(a.source)->bytes, 7);
        assert_int_equal(source_stats(a.source)->attaches, 1);
        assert_true(source_is_local(a.source));
        source_close(&a.source);
        assert_null(a.source);
}

TEST_WITH(directory_comes_later, set_up, tear_down)
{
        hear(&a, "%s/sub/x", dir);
        run_until(a.state == SOURCE_WAITING && a.states);
        assert_int_equal(mkdir(in_dir("sub"), 0700), 0);
        put(in_dir("sub/x"), 0, "late");
        run_until(a.size == 4);
        source_close(&a.source);
}

/*
 * Appends to "x" until h has `more` bytes more, waiting for each. Returns the seconds of the quickest after the first:
 * each would take one by the timer alone, as it begins right after a tick; and on a busy machine some may.
 */
static double quickest_growth(const struct heard *h, size_t more)
{
        double quickest = DEADLINE_S;

        for (size_t n = h->size + 1, first = n; n < first + more; n++) {
                double begin = now_s();
                put(in_dir("x"), O_APPEND, "1");
                run_until(h->size == n);
                if (n > first && now_s() - begin < quickest)
                        quickest = now_s() - begin;
        }
        return quickest;
}

/* Growth is seen by inotify, long before the slow timer. */
TEST_WITH(growth_is_seen_at_once, set_up, tear_down)
{
        put(in_dir("x"), 0, "0");
        hear(&a, "%s/x", dir);
        run_until(a.size == 1);
        assert_true(quickest_growth(&a, 20) < 0.5);
        source_close(&a.source);
}

TEST_WITH(truncated, set_up, tear_down)
{
        put(in_dir("x"), 0, "a first log");
        hear(&a, "%s/x", dir);
        run_until(a.size == 11);
        put(in_dir("x"), O_TRUNC, "new");
        run_until(a.cuts == 1 && a.size == 3);
        assert_string_equal(a.text, "new");
        assert_non_null(strstr(a.cut_why, "was truncated"));
        source_close(&a.source);
}

/* As logrotate does by copytruncate: the writer goes on where it was. */
TEST_WITH(emptied_under_its_writer, set_up, tear_down)
{
        put(in_dir("x"), 0, "");
        hear(&a, "%s/x", dir);
        const int writer = open(in_dir("x"), O_WRONLY);
        assert_int_equal(write(writer, "first", 5), 5);
        run_until(a.size == 5);
        for (int i = 0; i < 2; i++) {
                assert_int_equal(truncate(in_dir("x"), 0), 0);
                event_base_loop(base, EVLOOP_ONCE);
                assert_int_equal(write(writer, " rest", 5), 5);
                run_until(a.size == 10 + 5 * (size_t)i);
        }
        close(writer);
        assert_string_equal(a.text, "first rest rest");
        assert_int_equal(a.cuts, 0);
        source_close(&a.source);
}

/* What a sink has no time for stays where it is, others continue, and nothing is read or cut before it is taken. */
TEST_WITH(taken_in_several_turns, set_up, tear_down)
{
        put(in_dir("x"), 0, "a first log");
        put(in_dir("y"), 0, "another");
        hear(&a, "%s/x", dir);
        a.turns = 1000000;
        run_until(a.size == 11);
        put(in_dir("x"), O_TRUNC, "new");
        hear(&b, "%s/y", dir);
        b.turns = 3;
        run_until(b.size == 7);
        put(in_dir("y"), O_APPEND, " and more");
        run_until(b.size == 16);
        assert_string_equal(b.text, "another and more");
        assert_int_equal(a.cuts, 0);
        assert_string_equal(a.text, "a first log");
        a.turns = 0;
        a.turns_left = 1;
        run_until(a.cuts == 1 && a.size == 3);
        a.turns = a.turns_left = 1000000; /* closed in the middle of a piece, while another has one too */
        put(in_dir("x"), O_APPEND, "!");
        run_until(a.size == 4);
        b.turns = 2;
        put(in_dir("y"), O_APPEND, "!");
        run_until(b.size == 17);
        source_close(&a.source);
        put(in_dir("y"), O_APPEND, "?");
        run_until(b.size == 18);
        source_close(&b.source);
}

/* Truncated and written past our position between two looks: the size alone would not tell. */
TEST_WITH(written_anew_and_longer, set_up, tear_down)
{
        put(in_dir("x"), 0, "same head, but first");
        hear(&a, "%s/x", dir);
        run_until(a.size == 20);
        put(in_dir("x"), O_TRUNC, "same head, then another that is longer");
        run_until(a.cuts == 1 && a.size == 38);
        assert_string_equal(a.text, "same head, then another that is longer");
        assert_non_null(strstr(a.cut_why, "was overwritten"));
        source_close(&a.source);
}

TEST_WITH(replaced_loses_nothing_of_the_old, set_up, tear_down)
{
        put(in_dir("x"), 0, "old");
        hear(&a, "%s/x", dir);
        run_until(a.size == 3);
        int old = open(in_dir("x"), O_WRONLY | O_APPEND);
        put(in_dir("y"), 0, "the new one");
        assert_int_equal(write(old, " rest", 5), 5);
        assert_int_equal(rename(in_dir("y"), in_dir("x")), 0);
        close(old);
        run_until(a.cuts == 1 && a.size == 11);
        assert_string_equal(a.text, "the new one");
        assert_int_equal(a.total, 8 + 11);
        assert_non_null(strstr(a.cut_why, "was replaced"));
        assert_int_equal(source_stats(a.source)->attaches, 2);
        source_close(&a.source);
}

TEST_WITH(removed_and_back, set_up, tear_down)
{
        put(in_dir("x"), 0, "old");
        hear(&a, "%s/x", dir);
        run_until(a.size == 3);
        int old = open(in_dir("x"), O_WRONLY | O_APPEND);
        assert_int_equal(unlink(in_dir("x")), 0);
        run_until(a.state == SOURCE_WAITING);
        assert_non_null(strstr(a.why, "was removed; waiting for a new one"));
        put(in_dir("x"), 0, ""); /* as logrotate makes it */
        run_until(strstr(a.why, "was replaced by an empty file; waiting for a new one"));
        assert_int_equal(a.cuts, 0);
        assert_int_equal(write(old, " but alive", 10), 10); /* its writer still has it open */
        run_until(a.size == 13);
        close(old);
        put(in_dir("x"), 0, "second life");
        run_until(a.cuts == 1 && a.size == 11);
        assert_string_equal(a.text, "second life");
        assert_int_equal(a.state, SOURCE_OPEN);
        source_close(&a.source);
}

TEST_WITH(moved_away_and_back_is_the_same, set_up, tear_down)
{
        put(in_dir("x"), 0, "one");
        hear(&a, "%s/x", dir);
        run_until(a.size == 3);
        assert_int_equal(rename(in_dir("x"), in_dir("y")), 0);
        run_until(a.state == SOURCE_WAITING);
        assert_int_equal(rename(in_dir("y"), in_dir("x")), 0);
        run_until(a.state == SOURCE_OPEN);
        put(in_dir("x"), O_APPEND, "two");
        run_until(a.size == 6);
        assert_int_equal(a.cuts, 0);
        source_close(&a.source);
}

TEST_WITH(not_a_file, set_up, tear_down)
{
        assert_int_equal(mkdir(in_dir("x"), 0700), 0);
        assert_int_equal(mkfifo(in_dir("f"), 0600), 0);
        hear(&a, "%s/x", dir);
        hear(&b, "%s/f", dir);
        run_until(a.state == SOURCE_FAILED && b.state == SOURCE_FAILED);
        assert_non_null(strstr(a.why, "is a directory"));
        assert_non_null(strstr(b.why, "name it as fifo:"));
        assert_int_equal(rmdir(in_dir("x")), 0);
        run_until(a.state == SOURCE_WAITING);
        put(in_dir("x"), 0, "now");
        run_until(a.state == SOURCE_OPEN && a.size == 3);
        assert_int_equal(source_stats(a.source)->attempts, 0);
        source_close(&a.source);
        source_close(&b.source);
}

TEST_WITH(two_targets_on_one_file, set_up, tear_down)
{
        put(in_dir("x"), 0, "1");
        hear(&a, "%s/x", dir);
        hear(&b, "%s/x", dir);
        run_until(a.size == 1 && b.size == 1);
        source_close(&a.source); /* b's watch of the same inode must survive */
        assert_true(quickest_growth(&b, 10) < 0.5);
        assert_int_equal(a.size, 1);
        source_close(&b.source);
}

/* While one source has 40 MB to read, another gets its turns, and so do timers. */
#define BURST_BYTES (40u << 20)

static unsigned other_turns;
static bool big_done;

static bool other_bytes(void *ctx, const struct read_piece *piece)
{
        on_bytes(ctx, piece);
        if (!big_done && a.total > 0 && a.total < BURST_BYTES)
                other_turns++;
        return true;
}

TEST_WITH(budget_lets_others_go_on, set_up, tear_down)
{
        struct source_sink sink = { &b, other_bytes, on_more, on_cut, on_state, NULL };
        struct source_uri uri;
        struct error error;

        other_turns = 0;
        big_done = false;
        put(in_dir("big"), 0, "");
        assert_int_equal(truncate(in_dir("big"), BURST_BYTES), 0); /* a hole: read as zeros */
        put(in_dir("small"), 0, "s");
        memset(&b, 0, sizeof(b));
        assert_true(source_uri_parse(in_dir("small"), &uri, &error));
        hear(&a, "%s/big", dir);
        b.source = source_open(base, &uri, &sink, NULL, &error);
        assert_non_null(b.source);
        uint64_t before = 0;
        for (int i = 0; i < 1000 && a.total < BURST_BYTES; i++) {
                event_base_loop(base, EVLOOP_ONCE);
                /* One budget per round of the loop; two when the slow timer is due in it as well. */
                assert_true(a.total - before <= 2 * READ_TURN_BYTES);
                before = a.total;
                put(in_dir("small"), O_APPEND, "s");
        }
        big_done = true;
        assert_int_equal(a.total, BURST_BYTES);
        assert_true(other_turns >= 3);
        source_close(&a.source);
        source_close(&b.source);
}

/* Each piece takes all of a turn. */
static bool slow_bytes(void *ctx, const struct read_piece *piece)
{
        const struct timespec turn = { .tv_nsec = READ_TURN_NS };

        (void)nanosleep(&turn, NULL);
        return on_bytes(ctx, piece);
}

TEST_WITH(a_turn_ends_by_time_too, set_up, tear_down)
{
        struct source_sink sink = { &a, slow_bytes, on_more, on_cut, on_state, NULL };
        struct source_uri uri;
        struct error error;

        put(in_dir("slow"), 0, "");
        assert_int_equal(truncate(in_dir("slow"), READ_TURN_BYTES), 0);
        memset(&a, 0, sizeof(a));
        assert_true(source_uri_parse(in_dir("slow"), &uri, &error));
        a.source = source_open(base, &uri, &sink, NULL, &error);
        assert_non_null(a.source);
        for (uint64_t before = 0; a.total < READ_TURN_BYTES; before = a.total) {
                event_base_loop(base, EVLOOP_ONCE);
                assert_true(a.total - before <= 2 * READ_PIECE_BYTES); /* the slow timer may be due, too */
        }
        source_close(&a.source);
}
