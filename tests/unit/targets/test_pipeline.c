/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The whole chain of a finished log, bytes in and messages out, without files
 * or sockets: what is published depends on the log alone, not on how its bytes
 * came, and a log cut anywhere keeps all that was before the cut.
 */
#include "tests/unit/targets/play.h"
#include "tests/unit/thin.h"
#include "tests/unit/test.h"

TEST(splits_at_every_offset)
{
        static const char *const small[] = { LOGS "parallel-ghc9103/run.eventlog",
                                             LOGS "parallel-full-ghc902/run.eventlog",
                                             LOGS "leaky-useronly-ghc902/run.eventlog" };

        size_t step = thin(1, "splits");
        for (size_t i = 0; i < sizeof(small) / sizeof(*small); i++) {
                struct log l = log_read(small[i]);
                struct said whole = play(l.bytes, l.size, one_piece, NULL);
                assert_true(whole.messages > 3);
                for (size_t at = 1; at < l.size; at += step) {
                        size_t first = at;
                        struct said split = play(l.bytes, l.size, two_pieces, &first);
                        assert_same(&whole, &split);
                }
                free(l.bytes);
        }
}

TEST(byte_by_byte_and_at_random)
{
        static const char *const logs[] = {
                LOGS "leaky-hi-ghc966/run.eventlog",      LOGS "cc-hc-ghc902/run.eventlog",
                LOGS "cc-p-ghc9103/run.eventlog",         LOGS "ticky-ghc966/run.eventlog",
                LOGS "torn-966-10/run.eventlog",          LOGS "nonmoving-census-ghc9103/run.eventlog",
                LOGS "socket-9103-prof-hc/conn2.eventlog"
        };

        for (size_t i = 0; i < sizeof(logs) / sizeof(*logs); i++) {
                struct log l = log_read(logs[i]);
                struct said whole = play(l.bytes, l.size, one_piece, NULL);
                struct said bytes = play(l.bytes, l.size, single_bytes, NULL);
                assert_same(&whole, &bytes);
                for (uint64_t seed = 1; seed <= 10; seed++) {
                        uint64_t x = seed;
                        struct said split = play(l.bytes, l.size, random_pieces, &x);
                        assert_same(&whole, &split);
                }
                free(l.bytes);
        }
}

TEST(a_cut_log_keeps_what_was_before)
{
        struct log l = log_read(LOGS "leaky-hT-ghc9103/run.eventlog");
        struct said whole = play(l.bytes, l.size, one_piece, NULL), before = { .messages = 0 };

        assert_int_equal(whole.state, HW__TARGET__STATE__STATE_ENDED);
        for (size_t size = 4000; size < l.size; size += 4001) {
                struct said cut = play(l.bytes, size, one_piece, NULL);
                assert_int_equal(cut.state, HW__TARGET__STATE__STATE_LOST);
                assert_non_null(strstr(cut.detail, "without an end marker"));
                /* A census that the cut goes through is passed on as unfinished: one more than were complete. */
                assert_true(cut.collections >= before.collections && cut.collections <= whole.collections);
                assert_true(cut.censuses + 1 >= before.censuses && cut.censuses <= whole.censuses + 1);
                assert_true(cut.notes >= before.notes && cut.notes <= whole.notes);
                before = cut;
        }
        assert_true(before.collections > whole.collections * 9 / 10);
        free(l.bytes);
}

TEST(two_logs_in_one_stream_are_two_runs)
{
        struct log l = log_read(LOGS "leaky-useronly-ghc9103/run.eventlog");
        uint8_t *twice = malloc(2 * l.size);

        assert_non_null(twice);
        memcpy(twice, l.bytes, l.size);
        memcpy(twice + l.size, l.bytes, l.size);
        struct said one = play(l.bytes, l.size, one_piece, NULL), two = play(twice, 2 * l.size, one_piece, NULL);
        assert_int_equal(two.notes, 2 * one.notes);
        assert_int_equal(two.state, HW__TARGET__STATE__STATE_ENDED);
        free(twice);
        free(l.bytes);
}

/* A program is killed inside an event and started again on the same FIFO. */
TEST(a_run_after_a_cut_one_is_found)
{
        struct log l = log_read(LOGS "leaky-hT-ghc9103/run.eventlog");
        struct log m = log_read(LOGS "parallel-ghc9103/run.eventlog");
        struct said second = play(m.bytes, m.size, one_piece, NULL);
        uint8_t *both = malloc(l.size + m.size);

        assert_non_null(both);
        memcpy(both, l.bytes, l.size);
        size_t step = thin(1, "cuts before a second run");
        for (size_t cut = 90000; cut < 90400; cut += step) {
                memcpy(both + cut, m.bytes, m.size);
                struct said first = play(both, cut, one_piece, NULL);
                struct said s = play(both, cut + m.size, one_piece, NULL);
                assert_int_equal(s.runs, 2);
                assert_int_equal(s.state, HW__TARGET__STATE__STATE_ENDED);
                assert_int_equal(s.collections, first.collections + second.collections);
                uint64_t x = cut;
                struct said pieces = play(both, cut + m.size, random_pieces, &x);
                assert_same(&s, &pieces);
        }
        free(both);
        free(m.bytes);
        free(l.bytes);
}

TEST(what_is_no_log_says_so)
{
        static const char text[] = "version https://git-lfs.github.com/spec/v1\noid sha256:1234\nsize 12\n";
        struct said s = play((const uint8_t *)text, sizeof(text) - 1, one_piece, NULL);

        assert_int_equal(s.state, HW__TARGET__STATE__STATE_UNREADABLE);
        assert_true(strlen(s.detail) > 0);
}
