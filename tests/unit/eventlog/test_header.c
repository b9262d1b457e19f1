/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers, runs and ends; streams that are not eventlogs; kinds that the header declares oddly. */
#include "tests/unit/eventlog/logs.h"
#include "tests/unit/draft.h"
#include "tests/unit/test.h"

#include <malloc.h>

/* Decodes it whole and byte by byte; both must be the same. */
static struct digest check(const struct draft *d, struct hw_eventlog_stats *ret_stats)
{
        struct hw_eventlog *log = fresh(), *slow = fresh();
        struct digest whole = decode(log, d->p, d->size), bytewise = { 0 };
        for (size_t i = 0; i < d->size; i++)
                feed(slow, &bytewise, d->p + i, 1, 3);
        assert_int_equal(whole.order, bytewise.order);
        uint64_t left;
        (void)hw_eventlog_finish(log, &left);
        *ret_stats = *hw_eventlog_stats(log);
        hw_eventlog_destroy(&log);
        hw_eventlog_destroy(&slow);
        return whole;
}

static struct draft draft;

static void check_foreign(const void *bytes, size_t size, const char *word)
{
        struct bytes whole = load_run("leaky-useronly-ghc902");
        struct hw_eventlog *log = fresh();
        struct digest d = { 0 };
        feed(log, &d, bytes, size, 256);
        assert_int_equal(d.bad + d.limits, 1);
        assert_non_null(strstr(hw_eventlog_damage(log)->reason, word));
        feed(log, &d, whole.p, whole.size, 256);
        assert_int_equal(d.bad + d.limits, 1);
        assert_int_equal(d.events, 27);
        assert_int_equal(d.runs, 1);
        assert_int_equal(hw_eventlog_stats(log)->lost_bytes, size);
        assert_int_equal(hw_eventlog_stats(log)->resyncs, 1);
        hw_eventlog_destroy(&log);
        free(whole.p);
}

/* Reported once, with what it is; a log that comes later is still read. */
TEST(test_no_eventlog)
{
        static const char lfs[] = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
        static const uint8_t gzip[40] = { 0x1f, 0x8b, 8 };
        static uint8_t noise[100000];
        for (size_t i = 0; i < sizeof(noise); i++)
                noise[i] = (uint8_t)mix(i);
        check_foreign(lfs, sizeof(lfs) - 1, "git-lfs");
        check_foreign(gzip, sizeof(gzip), "gzip");
        check_foreign(noise, sizeof(noise), "hdrb");
        check_foreign("hdrbhetbXXXXXXXXXXXXXXXX", 24, "header");
}

TEST(test_text_mode_damage)
{
        struct bytes b = load_run("leaky-useronly-ghc902");
        uint8_t *crlf = malloc(2 * b.size);
        assert_non_null(crlf);
        size_t size = 0;
        for (size_t i = 0; i < b.size; i++) {
                if (b.p[i] == '\n')
                        crlf[size++] = '\r';
                crlf[size++] = b.p[i];
        }
        struct hw_eventlog *log = fresh();
        struct digest d = decode(log, crlf, size);
        assert_int_equal(d.bad, 1);
        assert_non_null(strstr(hw_eventlog_damage(log)->reason, "text-mode"));
        hw_eventlog_destroy(&log);
        free(crlf);
        free(b.p);
}

TEST(test_hostile_lengths)
{
        static const uint32_t lengths[] = { 65537, 0x7fffffff, 0xffffffff };
        for (size_t i = 0; i < 3; i++) {
                struct hw_eventlog_stats s;
                draft.size = 0;
                put(&draft, 0x6864726268657462, 8);
                put(&draft, 0x65746200, 4);
                put(&draft, 0x00010004, 4);
                put(&draft, lengths[i], 4);
                put(&draft, 'x', 1);
                struct digest d = check(&draft, &s);
                assert_int_equal(d.limits, 1);
                assert_int_equal(s.runs, 0);
        }
}

TEST(test_empty_and_short_streams)
{
        struct hw_eventlog *log = fresh();
        uint64_t left;
        assert_true(hw_eventlog_finish(log, &left));
        assert_int_equal(left, 0);
        struct digest d = { 0 };
        feed(log, &d, (const uint8_t *)"hdr", 3, 1);
        assert_false(hw_eventlog_finish(log, &left));
        assert_int_equal(left, 3);
        assert_int_equal(d.bad, 0);
        hw_eventlog_destroy(&log);
        hw_eventlog_destroy(&log);
}

/* Restarted logs: after the end, each with a stray block marker in front; and one that begins where an event should. */
TEST(test_many_runs_in_one_stream)
{
        struct bytes b = load_run("leaky-useronly-ghc9103");
        struct hw_eventlog_stats s;
        draft.size = 0;
        for (size_t i = 0; i < 4; i++) {
                if (i > 0 && i < 3) {
                        put_event(&draft, HW_BLOCK_MARKER, 77);
                        put(&draft, 24, 4);
                        put(&draft, 78, 8);
                        put(&draft, 0, 2);
                }
                memcpy(draft.p + draft.size, b.p, b.size);
                draft.size += b.size - (i == 2 ? 2 : 0); /* the third has no end marker */
        }
        struct digest d = check(&draft, &s);
        assert_int_equal(d.runs, 4);
        assert_int_equal(d.ends, 3);
        assert_int_equal(d.events, 4 * 29);
        assert_int_equal(s.resyncs, 0);
        assert_int_equal(s.lost_bytes, 0);
        free(b.p);
}

TEST(test_odd_declarations)
{
        static const uint16_t types[][2] = {
                { HW_RUN_THREAD, 9 },           /* longer than known: the known part is used */
                { HW_HEAP_LIVE, 8 },            /* shorter than any release: dropped */
                { HW_WALL_CLOCK_TIME, 0xffff }, /* variable: fine if long enough */
                { 3000, 5 },                    /* unknown: delivered */
                { 65000, 0xffff },
        };
        struct hw_eventlog_stats s;
        draft.size = 0;
        put_header(&draft, types, 5);
        put_event(&draft, HW_RUN_THREAD, 10);
        put(&draft, 1, 9);
        put_event(&draft, HW_HEAP_LIVE, 20);
        put(&draft, 1, 8);
        put_event(&draft, HW_WALL_CLOCK_TIME, 30);
        put(&draft, 16, 2);
        put(&draft, 0, 16);
        put_event(&draft, HW_WALL_CLOCK_TIME, 40);
        put(&draft, 3, 2); /* too short: dropped */
        put(&draft, 0, 3);
        put_event(&draft, 3000, 50);
        put(&draft, 1, 5);
        put_event(&draft, 65000, 60);
        put(&draft, 1, 2);
        put(&draft, 1, 1);
        put(&draft, 0xffff, 2);
        struct digest d = check(&draft, &s);
        assert_int_equal(d.events, 4);
        assert_int_equal(s.unknown, 2);
        assert_int_equal(s.short_payload, 2);
        assert_int_equal(d.ends, 1);
        assert_int_equal(d.bad, 0);
}

/* Of runtimes that are not GHC's own. */
TEST(test_eden_and_mercury)
{
        static const uint16_t types[][2] = {
                { HW_BLOCK_MARKER, 14 },
                { HW_CREATE_MACHINE, 10 },
                { HW_SPARK_STEAL, 0xffff },
                { HW_RUN_THREAD, 4 },
        };
        struct hw_eventlog_stats s;

        draft.size = 0;
        put_header(&draft, types, 4);
        put_event(&draft, HW_BLOCK_MARKER, 1000);
        put(&draft, 24 + 20 + 17 + 14, 4);
        put(&draft, 9000, 8);
        put(&draft, 0, 2);
        put_event(&draft, HW_CREATE_MACHINE, 5); /* Eden's: of a time before its block */
        put(&draft, 1, 2);
        put(&draft, 123456, 8);
        put_event(&draft, HW_SPARK_STEAL, 1100); /* Mercury's: a text and its number, no stolen spark */
        put(&draft, 5, 2);
        put(&draft, 0x61, 1);
        put(&draft, 7, 4);
        put_event(&draft, HW_RUN_THREAD, 1200);
        put(&draft, 1, 4);
        put(&draft, 0xffff, 2);
        struct digest d = check(&draft, &s);
        assert_int_equal(d.bad, 0);
        assert_int_equal(s.lost_bytes, 0);
        assert_int_equal(s.short_payload, 1);
        assert_int_equal(d.events, 3); /* the marker, the machine, the thread */
        assert_int_equal(d.ends, 1);
}

TEST(test_logs_with_lying_headers_are_refused)
{
        static const uint16_t old[][2] = { { HW_CREATE_THREAD, 8 } }, snapshot[][2] = { { HW_IPE, 8 } };
        struct hw_eventlog_stats s;
        draft.size = 0;
        put_header(&draft, old, 1);
        assert_int_equal(check(&draft, &s).bad, 1);
        draft.size = 0;
        put_header(&draft, snapshot, 1);
        assert_int_equal(check(&draft, &s).bad, 1);
        assert_int_equal(s.runs, 0);
}

/* Event 169: announced one too long, announced correctly, and with later additions. */
TEST(test_ipe_ends)
{
        static const uint16_t types[][2] = { { HW_IPE, 0xffff }, { HW_RUN_THREAD, 4 } };
        static const struct {
                uint16_t announced, added;
        } ipe[] = { { 21, 0 }, { 20, 0 }, { 30, 10 }, { 20, 0 } };
        struct hw_eventlog_stats s;
        draft.size = 0;
        put_header(&draft, types, 2);
        for (size_t i = 0; i < 4; i++) {
                put_event(&draft, HW_IPE, 100 + i);
                put(&draft, ipe[i].announced, 2);
                put(&draft, 42, 8);
                put(&draft, 0x6100620063006400, 8);
                put(&draft, 0x65006600, 4);
                put(&draft, 0x0203, ipe[i].added);
                put_event(&draft, HW_RUN_THREAD, 200 + i);
                put(&draft, 7, 4);
        }
        put(&draft, 0xffff, 2);
        struct digest d = check(&draft, &s);
        assert_int_equal(d.events, 8);
        assert_int_equal(d.ends, 1);
        assert_int_equal(s.resyncs, 0);
}

TEST(test_reset_begins_anew)
{
        struct bytes b = load_run("parallel-ghc9103");
        struct hw_eventlog *log = fresh();
        struct digest first = decode(log, b.p, b.size / 2), second;
        assert_true(first.events > 0 && hw_eventlog_declares(log, HW_IPE));
        assert_false(hw_eventlog_declares(log, 12345));
        hw_eventlog_reset(log);
        assert_false(hw_eventlog_declares(log, HW_IPE));
        second = decode(log, b.p, b.size);
        assert_int_equal(second.events, 230);
        assert_int_equal(hw_eventlog_stats(log)->events, first.events + 230);
        hw_eventlog_destroy(&log);
        free(b.p);
}

/* Decoding allocates nothing: the heap in use is the same before and after. */
TEST(test_no_allocation)
{
        static struct hw_event events[256];
        struct bytes b = load_run("torn-966-10");
        struct hw_eventlog *log = fresh();
        size_t n, total = 0, before = mallinfo2().uordblks;
        for (size_t at = 0; at < b.size; at += 1000) {
                hw_eventlog_input(log, b.p + at, b.size - at < 1000 ? b.size - at : 1000);
                while (hw_eventlog_read(log, events, 256, &n) != HW_EVENTLOG_NEED_MORE)
                        total += n;
        }
        assert_int_equal(mallinfo2().uordblks, before);
        assert_true(total > 13000);
        hw_eventlog_destroy(&log);
        free(b.p);
}
