/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams that are joined in the middle of a run: from the next block on, the same as for a reader of the whole log. */
#include "tests/unit/eventlog/logs.h"

#include <glob.h>

#include "proto/eventlog/internal.h"
#include "proto/eventlog/limits.h"
#include "tests/unit/test.h"

#define CUT_EVERY  997u
#define MAX_EVENTS (1u << 19)

struct seen {
        uint64_t offset, time_ns;
        uint32_t size;
        uint16_t id, cap;
};

struct events {
        struct seen *of;
        size_t n;
        uint64_t bad, runs;
};

/* Reads a stream in pieces of `piece` bytes, to its end; offsets are from `base` on. */
static struct events read_all(struct hw_eventlog *log, const uint8_t *p, size_t size, size_t piece, uint64_t base)
{
        static struct hw_event events[256];
        struct events all = { .of = malloc(MAX_EVENTS * sizeof(struct seen)) };
        enum hw_eventlog_status s;
        size_t n;

        assert_non_null(all.of);
        for (size_t at = 0; at <= size; at += piece) {
                if (at < size)
                        hw_eventlog_input(log, p + at, piece < size - at ? piece : size - at);
                else
                        hw_eventlog_input_end(log);
                do {
                        s = hw_eventlog_read(log, events, 256, &n);
                        for (size_t i = 0; i < n; i++) {
                                assert_true(all.n < MAX_EVENTS);
                                all.of[all.n++] = (struct seen){ events[i].offset + base, events[i].time_ns,
                                                                 events[i].size, events[i].id, events[i].cap };
                        }
                        all.bad += s == HW_EVENTLOG_BAD || s == HW_EVENTLOG_LIMIT;
                        all.runs += s == HW_EVENTLOG_RUN;
                } while (s != HW_EVENTLOG_NEED_MORE);
                if (at < size && piece >= size - at)
                        at = size - piece;
        }
        return all;
}

static struct hw_eventlog *joining(void)
{
        struct hw_eventlog *log = fresh();
        hw_eventlog_allow_join(log);
        return log;
}

/* The first marker at or after `at`; NULL: none. */
static const struct seen *next_marker(const struct events *whole, uint64_t at)
{
        for (size_t i = 0; i < whole->n; i++)
                if (whole->of[i].offset >= at && whole->of[i].id == HW_BLOCK_MARKER)
                        return &whole->of[i];
        return NULL;
}

static size_t markers_behind(const struct events *whole, uint64_t at)
{
        size_t n = 0;
        for (size_t i = 0; i < whole->n; i++)
                n += whole->of[i].offset >= at && whole->of[i].id == HW_BLOCK_MARKER;
        return n;
}

/* Returns whether a run was found. */
static bool check_cut(const struct bytes *b, const struct events *whole, size_t at)
{
        struct hw_eventlog *log = joining();
        struct events got = read_all(log, b->p + at, b->size - at, b->size, at);
        const struct hw_eventlog_stats *s = hw_eventlog_stats(log);
        const struct seen *from = next_marker(whole, at);
        const bool found = got.runs > 0;

        if (found) {
                assert_non_null(from);
                assert_true(hw_eventlog_joined(log));
                assert_int_equal(got.runs, 1);
                assert_int_equal(got.bad, 0);
                assert_int_equal(got.of[0].offset, from->offset);
                assert_int_equal(s->passed_bytes, from->offset - at);
                assert_int_equal(s->lost_bytes, 0);
                assert_int_equal(got.n, whole->n - (size_t)(from - whole->of));
                assert_memory_equal(got.of, from, got.n * sizeof(*from));
        } else {
                assert_int_equal(got.n, 0);
                assert_true(markers_behind(whole, at) < 4); /* enough evidence would have been there */
                uint64_t left;
                assert_false(hw_eventlog_finish(log, &left));
                assert_int_equal(s->lost_bytes, b->size - at);
                assert_int_equal(s->resyncs, 1);
                assert_non_null(strstr(hw_eventlog_damage(log)->reason, "not an eventlog"));
        }
        hw_eventlog_destroy(&log);
        free(got.of);
        return found;
}

/* Where the events begin. */
static size_t header_size(const struct bytes *b)
{
        const uint8_t *end = memmem(b->p, b->size, "datb", 4);
        assert_non_null(end);
        return (size_t)(end - b->p) + 4;
}

TEST(test_every_log_cut_at_every_997th_byte)
{
        glob_t g;
        assert_int_equal(glob("tests/data/logs/*/run.eventlog", 0, NULL, &g), 0);
        assert_true(g.gl_pathc >= 46);
        for (size_t i = 0; i < g.gl_pathc; i++) {
                const char *path = g.gl_pathv[i];
                struct bytes b = load(path);
                struct hw_eventlog *log = fresh();
                struct events whole = read_all(log, b.p, b.size, b.size, 0);
                const uint64_t undecodable = hw_eventlog_stats(log)->lost_bytes + hw_eventlog_stats(log)->resyncs;
                size_t cuts = 0, missed = 0;

                hw_eventlog_destroy(&log);
                for (size_t at = header_size(&b); !undecodable && at < b.size; at += CUT_EVERY, cuts++)
                        missed += !check_cut(&b, &whole, at);
                print_message("%s: %zu cuts, %zu behind the last block\n", path, cuts, missed);
                free(whole.of);
                free(b.p);
        }
        globfree(&g);
}

/* How the bytes are split makes no difference. */
TEST(test_pieces_of_any_size)
{
        struct bytes b = load_run("leaky-hi-ghc966");
        const size_t at = 60000;
        struct hw_eventlog *log = joining();
        struct events whole = read_all(log, b.p + at, b.size - at, b.size, at);

        assert_int_equal(whole.runs, 1);
        for (size_t piece = 1; piece < 5000; piece = piece * 2 + 1) {
                hw_eventlog_destroy(&log);
                log = joining();
                struct events got = read_all(log, b.p + at, b.size - at, piece, at);
                assert_int_equal(got.n, whole.n);
                assert_int_equal(got.bad + got.runs, 1);
                assert_memory_equal(got.of, whole.of, got.n * sizeof(*got.of));
                free(got.of);
        }
        hw_eventlog_destroy(&log);
        free(whole.of);
        free(b.p);
}

/* Bytes that are not a log are skipped, then reported; the run after them is still found. */
TEST(test_a_run_behind_megabytes_of_nothing)
{
        struct bytes b = load_run("live-9103-fifo-flush");
        const size_t nothing = (6u << 20) + 4711, from = 50000;
        uint8_t *stream = malloc(nothing + b.size - from);
        uint64_t random = 1;

        assert_non_null(stream);
        for (size_t i = 0; i < nothing; i++)
                stream[i] = (uint8_t)(random = mix(random));
        memcpy(stream + nothing, b.p + from, b.size - from);
        for (size_t piece = 1000; piece < 1u << 20; piece *= 10) {
                struct hw_eventlog *log = joining();
                struct events got = read_all(log, stream, nothing + b.size - from, piece, 0);
                assert_int_equal(got.runs, 1);
                assert_int_equal(got.bad, 1);
                assert_true(got.of[0].offset >= nothing && got.n > 1000);
                assert_int_equal(hw_eventlog_stats(log)->lost_bytes, got.of[0].offset);
                assert_int_equal(hw_eventlog_stats(log)->passed_bytes, 0);
                free(got.of);
                hw_eventlog_destroy(&log);
        }
        free(stream);
        free(b.p);
}

static void put(struct bytes *b, uint64_t value, unsigned width)
{
        while (width-- > 0)
                b->p[b->size++] = (uint8_t)(value >> 8 * width);
}

/* A block of events of one kind, each with `size` bytes of payload that look like a small number. */
static void put_block(struct bytes *b, uint16_t id, unsigned size, unsigned n, uint64_t time_ns)
{
        put(b, HW_BLOCK_MARKER, 2);
        put(b, time_ns, 8);
        put(b, 24 + (uint64_t)n * (10 + size), 4);
        put(b, time_ns + n, 8);
        put(b, 0, 2);
        for (unsigned i = 0; i < n; i++) {
                put(b, id, 2);
                put(b, time_ns + i, 8);
                for (unsigned j = 0; j < size; j++)
                        put(b, j == size - 1, 1);
        }
}

/* Kinds that have grown: the stream shows how long they are. */
TEST(test_sizes_of_older_releases)
{
        static const struct {
                uint16_t id;
                unsigned size;
        } kinds[] = { { HW_GC_STATS_GHC, 50 }, { HW_GC_STATS_GHC, 58 },          { HW_STOP_THREAD, 6 },
                      { HW_STOP_THREAD, 10 },  { HW_NONMOVING_HEAP_CENSUS, 13 }, { HW_NONMOVING_HEAP_CENSUS, 14 } };
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
                struct bytes b = { malloc(65536), 0 };
                put(&b, 0x1122334455667788, 8);
                put(&b, 0x1122334455667788, 8);
                for (unsigned i = 0; i < 5; i++)
                        put_block(&b, kinds[k].id, kinds[k].size, 1 + i * 3, 1000000 + i * 1000);
                struct hw_eventlog *log = joining();
                struct events got = read_all(log, b.p, b.size, b.size, 0);
                assert_int_equal(got.runs, 1);
                assert_int_equal(got.bad, 0);
                assert_int_equal(got.n, 5 + 1 + 4 + 7 + 10 + 13);
                assert_int_equal(got.of[got.n - 1].size, kinds[k].size);
                assert_int_equal(hw_eventlog_declared_size(log, kinds[k].id), kinds[k].size);
                hw_eventlog_destroy(&log);
                free(got.of);
                free(b.p);
        }
}

/* A whole log after the middle of another one: its header counts, and is not taken for the joined run. */
TEST(test_a_header_is_believed)
{
        struct bytes b = load_run("parallel-ghc9103");
        uint8_t *stream = malloc(100 + b.size);
        assert_non_null(stream);
        memset(stream, 0, 100);
        memcpy(stream + 100, b.p, b.size);
        struct hw_eventlog *log = joining();
        struct digest d = decode(log, stream, 100 + b.size);
        assert_int_equal(d.runs, 1);
        assert_int_equal(d.bad, 0);
        assert_int_equal(d.ends, 1);
        assert_false(hw_eventlog_joined(log));
        assert_int_equal(hw_eventlog_stats(log)->passed_bytes, 100);
        hw_eventlog_destroy(&log);
        free(stream);
        free(b.p);
}

/*
 * Endless candidates: the work stays proportional to the input. Each message ends with what looks like the marker of a
 * block of 2 MiB, behind which there are messages only: each candidate could be followed through all that is left.
 */
TEST(test_a_stream_of_candidates_is_soon_read)
{
        struct bytes b = { malloc(1u << 20), 0 };
        while (b.size < (1u << 20) - 64) {
                put(&b, HW_USER_MSG, 2);
                put(&b, 1001, 8);
                put(&b, 24, 2);
                put(&b, HW_BLOCK_MARKER, 2);
                put(&b, 1000, 8);
                put(&b, 2u << 20, 4);
                put(&b, UINT64_C(1) << 59, 8);
                put(&b, 0, 2);
        }
        struct hw_eventlog *log = joining();
        struct events got = read_all(log, b.p, b.size, 16384, 0);
        assert_int_equal(got.runs, 0);
        assert_true(log->join.steps > b.size); /* they were followed */
        assert_true(log->join.steps <= JOIN_FREE_STEPS + (JOIN_STEPS_A_BYTE + 1) * b.size);
        hw_eventlog_destroy(&log);
        free(got.of);
        free(b.p);
}
