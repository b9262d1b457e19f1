/* SPDX-License-Identifier: BSD-3-Clause */
/* A log that is split into events and assembled again is the same, wherever it is cut meanwhile. */
#include "daemon/record/assembler.h"

#include <glob.h>

#include "tests/unit/base/short_memory.h"
#include "tests/unit/record/recorded.h"
#include "tests/unit/test.h"

struct playing {
        struct assembler assembler;
        struct bytes header, always, stream;
        uint64_t random; /* 0: batches are never cut */
        unsigned runs, taken;
};

static void gather(struct bytes *to, struct assembler *a, struct whole_blocks *which)
{
        struct whole_blocks b = assembler_detach(a, which);

        if (b.n == 0)
                return;
        to->p = realloc(to->p, to->size + b.n);
        assert_non_null(to->p);
        memcpy(to->p + to->size, b.bytes, b.n);
        to->size += b.n;
        free(b.bytes);
}

static void take_all(struct playing *t)
{
        gather(&t->always, &t->assembler, &t->assembler.always);
        gather(&t->stream, &t->assembler, &t->assembler.stream);
        t->taken++;
}

static void give(struct assembler *a, const struct hw_eventlog *log, const struct hw_event *events, size_t n)
{
        for (size_t i = 0, part; i < n; i += part) {
                part = one_behind_the_other(log, events + i, n - i);
                const uint8_t *begin = event_begin(log, &events[i]);
                const struct hw_event *last = &events[i + part - 1];
                assembler_events(a, &(struct event_span){ begin, (size_t)(last->payload + last->size - begin),
                                                          events[i].offset, events[i].cap });
        }
}

static void on_events(void *ctx, const struct hw_eventlog *log, const struct hw_event *events, size_t n)
{
        struct playing *t = ctx;

        if (!events) {
                t->runs++;
                assert_true(assembler_init(&t->assembler, log, false));
                t->header.p = assembler_header(log, &t->header.size);
                return;
        }
        for (size_t from = 0; from < n;) {
                size_t part = n - from;
                if (t->random) {
                        t->random = mix(t->random);
                        part = 1 + t->random % 19;
                        part = part < n - from ? part : n - from;
                }
                give(&t->assembler, log, events + from, part);
                from += part;
                if (t->random && t->random >> 32 & 1)
                        take_all(t);
        }
}

static bool of_one_run(const struct bytes *b)
{
        struct hw_eventlog *log = fresh();
        struct digest d = decode(log, b->p, b->size);

        hw_eventlog_destroy(&log);
        return d.runs == 1;
}

static void check_log(const char *path, uint64_t random)
{
        struct playing t = { .random = random };
        struct bytes b = load(path), again = { 0 };

        if (!of_one_run(&b)) {
                free(b.p);
                return;
        }
        struct content want = content_of(b.p, b.size, random ? 4097 : b.size, on_events, &t);
        assembler_end(&t.assembler, want.ends > 0, false);
        take_all(&t);
        again.size = t.header.size + t.always.size + t.stream.size;
        again.p = malloc(again.size);
        assert_non_null(again.p);
        memcpy(again.p, t.header.p, t.header.size);
        if (t.always.size)
                memcpy(again.p + t.header.size, t.always.p, t.always.size);
        if (t.stream.size)
                memcpy(again.p + t.header.size + t.always.size, t.stream.p, t.stream.size);
        struct content got = content_of(again.p, again.size, again.size, NULL, NULL);
        if (got.damages || got.stream != want.stream || got.apart != want.apart)
                print_message("%s: %llu of %llu events, %llu damages\n", path, (unsigned long long)got.events,
                              (unsigned long long)want.events, (unsigned long long)got.damages);
        assert_int_equal(got.damages, 0);
        assert_int_equal(got.ends, want.ends > 0);
        assert_int_equal(got.events, want.events);
        assert_int_equal(got.stream, want.stream);
        assert_int_equal(got.apart, want.apart);
        assert_int_equal(got.environments, 0);
        assert_int_equal(got.arguments, want.arguments);
        for (unsigned cap = 0; cap < 63; cap++)
                assert_int_equal(got.end_ns[cap], want.end_ns[cap]);
        assembler_done(&t.assembler);
        free(t.header.p);
        free(t.always.p);
        free(t.stream.p);
        free(again.p);
        free(b.p);
}

static void check_all(uint64_t random)
{
        glob_t logs;

        assert_int_equal(glob("tests/data/logs/*/run.eventlog", 0, NULL, &logs), 0);
        assert_true(logs.gl_pathc > 40);
        for (size_t i = 0; i < logs.gl_pathc; i++)
                check_log(logs.gl_pathv[i], random);
        globfree(&logs);
}

TEST(test_uncut)
{
        check_all(0);
}

TEST(test_cut_anywhere)
{
        check_all(1);
        check_all(2);
}

static void begin_or_take(void *ctx, const struct hw_eventlog *log, const struct hw_event *events, size_t n)
{
        struct assembler *a = ctx;

        counting = true;
        if (!events)
                (void)assembler_init(a, log, false);
        else if (a->sizes)
                give(a, log, events, n);
        counting = false;
}

/* What is dropped when out of memory is counted: with it, the bytes add up. */
TEST(test_out_of_memory)
{
        struct bytes b = load("tests/data/logs/leaky-hi-ghc9103/run.eventlog");
        size_t whole = 0;
        bool failed = true;

        for (fail_at = 0; failed; fail_at++) {
                struct playing t = { .random = 0 };
                calls = 0;
                (void)content_of(b.p, b.size, 65537, begin_or_take, &t.assembler);
                if (!t.assembler.sizes)
                        continue;
                failed = fail_at == 0 || calls >= fail_at;
                uint64_t lost = t.assembler.lost_bytes;
                take_all(&t);
                size_t got = t.stream.size + t.always.size;
                if (fail_at == 0)
                        whole = got;
                assert_int_equal(lost > 0, failed && fail_at > 0);
                assert_true(got <= whole && got + lost >= whole);
                assembler_done(&t.assembler);
                free(t.always.p);
                free(t.stream.p);
        }
        assert_true(fail_at > 8);
        free(b.p);
}
