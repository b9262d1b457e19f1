/* SPDX-License-Identifier: BSD-3-Clause */
/* Damage of every kind: nothing crashes, little is lost, events far away are decoded as before. */
#include "tests/unit/eventlog/logs.h"
#include "tests/unit/thin.h"
#include "tests/unit/test.h"

#include <inttypes.h>

#define MAX_EVENTS 20000

/* An event's mark: its time, id and payload, wherever it is. */
struct marks {
        uint64_t of[MAX_EVENTS];
        uint64_t offset[MAX_EVENTS];
        size_t n;
        uint64_t bad, lost, max_lost;
};

static void collect(struct hw_eventlog *log, const uint8_t *p, size_t size, struct marks *m)
{
        struct hw_event events[64];
        enum hw_eventlog_status s;
        size_t n;
        unsigned calls = 0;
        m->n = 0;
        m->bad = m->lost = m->max_lost = 0;
        hw_eventlog_input(log, p, size);
        do {
                s = hw_eventlog_read(log, events, 64, &n);
                for (size_t i = 0; i < n && m->n < MAX_EVENTS; i++) {
                        uint64_t h = mix(events[i].time_ns ^ events[i].id);
                        for (uint32_t k = 0; k < events[i].size; k++)
                                h = h * 31 + events[i].payload[k];
                        m->offset[m->n] = events[i].offset;
                        m->of[m->n++] = h;
                }
                if (s == HW_EVENTLOG_BAD || s == HW_EVENTLOG_LIMIT) {
                        uint64_t lost = hw_eventlog_damage(log)->lost_bytes;
                        m->bad++;
                        m->lost += lost;
                        m->max_lost = lost > m->max_lost ? lost : m->max_lost;
                }
                assert_true(calls++ < 1u << 20);
        } while (s != HW_EVENTLOG_NEED_MORE);
}

/* How many of `want` are missing in `got`, which has them in the same order. */
static size_t missing(const struct marks *want, const struct marks *got)
{
        size_t at = 0, n = 0;
        for (size_t i = 0; i < want->n; i++) {
                size_t k = at;
                while (k < got->n && got->of[k] != want->of[i])
                        k++;
                if (k < got->n)
                        at = k + 1;
                else
                        n++;
        }
        return n;
}

static struct marks want, got;

static size_t header_size(const struct bytes *b)
{
        static const uint8_t end[8] = { 'h', 'd', 'r', 'e', 'd', 'a', 't', 'b' };
        const uint8_t *p = memmem(b->p, b->size, end, 8);
        assert_non_null(p);
        return (size_t)(p - b->p) + 8;
}

/* Every byte after the header, changed in several ways: the rest of the log comes as before. */
TEST(test_every_byte_changed)
{
        struct bytes b = load_run("parallel-ghc9103");
        struct hw_eventlog *log = fresh();
        collect(log, b.p, b.size, &want);
        static const uint8_t changes[] = { 0x01, 0x80, 0xff, 0x10 };
        size_t worst = 0, worst_at = 0, total = 0, silent = 0, n = 0, step = thin(1, "bytes changed");
        for (size_t at = header_size(&b); at < b.size; at += step)
                for (size_t c = 0; c < sizeof(changes); c++) {
                        b.p[at] ^= changes[c];
                        hw_eventlog_reset(log);
                        collect(log, b.p, b.size, &got);
                        b.p[at] ^= changes[c];
                        size_t lost = missing(&want, &got);
                        if (lost > worst) {
                                worst = lost;
                                worst_at = at;
                        }
                        total += lost;
                        silent += got.bad == 0;
                        n++;
                        assert_true(got.n <= want.n + 4);
                }
        print_message("%zu changes: worst %zu of %zu events at %zu, mean %.2f, %zu without damage\n", n, worst, want.n,
                      worst_at, (double)total / (double)n, silent);
        assert_true((double)total / (double)n < 2.0);
        assert_true(worst <= 16); /* a short text's length may lead to a later event's first byte: not to be seen */
        hw_eventlog_destroy(&log);
        free(b.p);
}

#define FILLER_BYTES 66000u /* more than any length that a header may give */

/* Headers are not guessed: every change is survived, and a whole log after it is read. */
TEST(test_every_header_byte_changed)
{
        struct bytes b = load_run("leaky-useronly-ghc9103");
        struct hw_eventlog *log = fresh();
        collect(log, b.p, b.size, &want);
        size_t header = header_size(&b);
        size_t size = 2 * b.size + FILLER_BYTES, step = thin(1, "bytes of a header changed");
        uint8_t *twice = malloc(size);
        assert_non_null(twice);
        memset(twice, ' ', size);
        memcpy(twice + b.size + FILLER_BYTES, b.p, b.size);
        for (size_t at = 0; at < header; at += step)
                for (unsigned c = 1; c < 256; c = c * 2 + 1) {
                        memcpy(twice, b.p, b.size);
                        twice[at] ^= (uint8_t)c;
                        hw_eventlog_reset(log);
                        collect(log, twice, size, &got);
                        assert_true(got.n >= want.n);
                        for (size_t i = 1; i <= want.n; i++)
                                assert_int_equal(got.of[got.n - i], want.of[want.n - i]);
                }
        hw_eventlog_destroy(&log);
        free(twice);
        free(b.p);
}

static void check_insertion(const struct bytes *b, const uint8_t *junk, size_t size, size_t at)
{
        struct hw_eventlog *log = fresh();
        uint8_t *torn = malloc(b->size + size);
        assert_non_null(torn);
        memcpy(torn, b->p, at);
        memcpy(torn + at, junk, size);
        memcpy(torn + at + size, b->p + at, b->size - at);
        collect(log, torn, b->size + size, &got);
        assert_true(missing(&want, &got) <= 4);
        assert_true(got.n <= want.n + 1);
        assert_true(got.bad >= 1);
        assert_true(got.lost + 200 >= size);
        hw_eventlog_destroy(&log);
        free(torn);
}

TEST(test_garbage_inserted)
{
        struct bytes b = load_run("parallel-full-ghc9103");
        struct hw_eventlog *log = fresh();
        collect(log, b.p, b.size, &want);
        hw_eventlog_destroy(&log);
        static uint8_t junk[3][5000];
        memset(junk[1], 0xff, sizeof(junk[1]));
        for (size_t i = 0; i < sizeof(junk[2]); i++)
                junk[2][i] = (uint8_t)mix(i);
        size_t step = thin(61, "places of garbage");
        for (size_t at = header_size(&b) + 30; at < b.size - 400; at += step)
                for (size_t kind = 0; kind < 3; kind++) {
                        check_insertion(&b, junk[kind], 64, at);
                        check_insertion(&b, junk[kind], sizeof(junk[kind]), at);
                }
        free(b.p);
}

TEST(test_bytes_removed)
{
        struct bytes b = load_run("parallel-full-ghc9103");
        struct hw_eventlog *log = fresh();
        collect(log, b.p, b.size, &want);
        uint8_t *torn = malloc(b.size);
        assert_non_null(torn);
        size_t worst = 0, step = thin(7, "places of removed bytes");
        for (size_t at = header_size(&b) + 24; at + 100 < b.size; at += step) {
                memcpy(torn, b.p, at);
                memcpy(torn + at, b.p + at + 100, b.size - at - 100);
                hw_eventlog_reset(log);
                collect(log, torn, b.size - 100, &got);
                size_t lost = missing(&want, &got);
                worst = lost > worst ? lost : worst;
        }
        print_message("100 bytes removed: worst %zu events\n", worst);
        assert_true(worst <= 32);
        hw_eventlog_destroy(&log);
        free(torn);
        free(b.p);
}

/* Cut at every byte: the result is the whole log's beginning, without damage. */
TEST(test_truncation)
{
        struct bytes b = load_run("parallel-ghc9103");
        struct hw_eventlog *log = fresh();
        collect(log, b.p, b.size, &want);
        size_t step = thin(1, "cuts");
        for (size_t size = 0; size < b.size; size += step) {
                uint64_t left;
                hw_eventlog_reset(log);
                collect(log, b.p, size, &got);
                assert_int_equal(got.bad, 0);
                assert_true(got.n <= want.n);
                for (size_t i = 0; i < got.n; i++)
                        assert_int_equal(got.of[i], want.of[i]);
                assert_int_equal(hw_eventlog_finish(log, &left), size == 0);
                if (got.n < want.n && size > header_size(&b))
                        assert_int_equal(left, size - (got.n ? want.offset[got.n] : header_size(&b)));
        }
        hw_eventlog_destroy(&log);
        free(b.p);
}

/* A hole is nothing but damage, wherever it is, and whatever pieces it comes in; so are bytes behind the end. */
TEST(test_zeros_are_no_events)
{
        struct bytes b = load_run("parallel-ghc9103");
        const size_t header = header_size(&b), hole = 300001, places[] = { header, header + 24, b.size / 2, b.size };
        uint8_t *holed = calloc(1, b.size + hole);
        struct hw_eventlog *log = fresh();
        assert_non_null(holed);
        collect(log, b.p, b.size, &want);
        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
                uint64_t left, lost = hw_eventlog_stats(log)->lost_bytes;
                memcpy(holed, b.p, places[i]);
                memset(holed + places[i], 0, hole);
                memcpy(holed + places[i] + hole, b.p + places[i], b.size - places[i]);
                hw_eventlog_reset(log);
                collect(log, holed, b.size + hole, &got);
                (void)hw_eventlog_finish(log, &left);
                lost = hw_eventlog_stats(log)->lost_bytes - lost;
                assert_true(lost + 64 >= hole);
                assert_true(missing(&got, &want) <= 4); /* of all the zeros nothing is made but at their edge */
                assert_true(places[i] < b.size || got.n == want.n);
        }
        hw_eventlog_destroy(&log);
        free(holed);
        free(b.p);
}

TEST(test_a_few_bytes_behind_the_end_are_lost)
{
        struct bytes b = load_run("parallel-ghc9103");
        uint8_t *longer = calloc(1, b.size + 15);
        assert_non_null(longer);
        memcpy(longer, b.p, b.size);
        for (size_t more = 0; more <= 15; more++) {
                struct hw_eventlog *log = fresh();
                uint64_t left;
                collect(log, longer, b.size + more, &got);
                assert_true(hw_eventlog_finish(log, &left)); /* its run has ended with its marker all the same */
                assert_int_equal(left, more);
                assert_int_equal(hw_eventlog_stats(log)->lost_bytes, more);
                assert_int_equal(hw_eventlog_stats(log)->resyncs, more > 0);
                hw_eventlog_destroy(&log);
        }
        free(longer);
        free(b.p);
}
