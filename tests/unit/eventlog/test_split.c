/* SPDX-License-Identifier: BSD-3-Clause */
/* Any split of the same bytes gives the same events and statuses. */
#include "tests/unit/eventlog/logs.h"
#include "tests/unit/test.h"

#include <glob.h>

static struct digest whole(const struct bytes *b)
{
        struct hw_eventlog *log = fresh();
        struct digest d = decode(log, b->p, b->size);
        hw_eventlog_destroy(&log);
        return d;
}

static void check_two_pieces(const struct bytes *b, size_t step)
{
        struct digest want = whole(b);
        struct hw_eventlog *log = fresh();
        for (size_t at = 0; at <= b->size; at += step) {
                struct digest d = { 0 };
                hw_eventlog_reset(log);
                feed(log, &d, b->p, at, 256);
                feed(log, &d, b->p + at, b->size - at, 7);
                assert_int_equal(d.order, want.order);
                assert_int_equal(d.events, want.events);
        }
        hw_eventlog_destroy(&log);
}

TEST(test_two_pieces_at_every_offset)
{
        static const char *const runs[] = { "parallel-ghc9103", "leaky-useronly-ghc902" };
        for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
                struct bytes b = load_run(runs[i]);
                check_two_pieces(&b, 1);
                free(b.p);
        }
        struct bytes b = load_run("binmsg-ghc9103");
        check_two_pieces(&b, 97);
        free(b.p);
}

static void check_byte_by_byte(const char *run)
{
        struct bytes b = load_run(run);
        struct digest want = whole(&b), d = { 0 };
        struct hw_eventlog *log = fresh();
        for (size_t at = 0; at < b.size; at++)
                feed(log, &d, b.p + at, 1, 256);
        assert_int_equal(d.order, want.order);
        assert_true(d.events > 200);
        hw_eventlog_destroy(&log);
        free(b.p);
}

TEST(test_byte_by_byte)
{
        check_byte_by_byte("leaky-hi-ghc966");
        check_byte_by_byte("binmsg-ghc9103");
        check_byte_by_byte("torn-966-10");
        check_byte_by_byte("torn-9103-10");
}

TEST(test_random_splits_of_all_logs)
{
        glob_t g;
        assert_int_equal(glob("tests/data/logs/*/*.eventlog", 0, NULL, &g), 0);
        assert_true(g.gl_pathc >= 54);
        for (size_t i = 0; i < g.gl_pathc; i++) {
                /* Four random splits; pieces from tiny to large. */
                const char *path = g.gl_pathv[i];
                struct bytes b = load(path);
                struct digest want = whole(&b);
                for (unsigned seed = 1; seed <= 4; seed++) {
                        struct hw_eventlog *log = fresh();
                        struct digest d = { 0 };
                        uint64_t random = seed;
                        for (size_t at = 0, piece; at < b.size; at += piece) {
                                random = mix(random);
                                piece = 1 + (size_t)(random % (random >> 62 ? 60 : 9000));
                                piece = piece < b.size - at ? piece : b.size - at;
                                feed(log, &d, b.p + at, piece, 1 + (size_t)(random >> 32) % 256);
                        }
                        assert_int_equal(d.order, want.order);
                        assert_int_equal(d.times, want.times);
                        hw_eventlog_destroy(&log);
                }
                free(b.p);
        }
        globfree(&g);
}
