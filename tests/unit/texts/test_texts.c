/* SPDX-License-Identifier: BSD-3-Clause */
/* Heap profiles and the lines of -S as eventlogs: which events result, which lines are skipped and counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#include "heapwatch/eventlog.h"
#include "proto/eventlog/texts/texts.h"

#define BYTES (1u << 20)

static uint8_t made[BYTES];
static size_t n_made;
static char events[65536]; /* "NAME@time_ns;" each */
static struct text_damage damage;
static bool ended;

static void fetch(struct text_log *t)
{
        size_t n;

        while ((n = text_log_fetch(t, made + n_made, BYTES - n_made)) > 0)
                n_made += n;
}

/* The log of a text, as names and times; its damage. */
static const char *events_of(enum text_kind kind, const char *text, size_t n)
{
        struct text_log *t = text_log_new(kind);
        struct hw_eventlog *log = hw_eventlog_new();
        struct hw_event e[16];
        enum hw_eventlog_status s;
        size_t got, used = 0;

        assert_non_null(t);
        assert_non_null(log);
        n_made = 0;
        ended = false;
        for (size_t at = 0; at < n;) {
                at += text_log_parse(t, text + at, n - at);
                fetch(t);
        }
        text_log_end(t);
        fetch(t);
        damage = *text_log_damage(t);
        text_log_destroy(&t);
        assert_null(t);
        events[0] = '\0';
        hw_eventlog_input(log, made, n_made);
        do {
                s = hw_eventlog_read(log, e, 16, &got);
                assert_true(s != HW_EVENTLOG_BAD && s != HW_EVENTLOG_LIMIT);
                ended |= s == HW_EVENTLOG_END;
                for (size_t i = 0; i < got; i++)
                        if (e[i].id != HW_BLOCK_MARKER && used < sizeof(events) - 64)
                                used += (size_t)snprintf(events + used, sizeof(events) - used, "%s@%llu;",
                                                         hw_event_info(e[i].id)->name,
                                                         (unsigned long long)e[i].time_ns);
        } while (s != HW_EVENTLOG_NEED_MORE || got > 0);
        hw_eventlog_destroy(&log);
        return events;
}

static const char *hp(const char *text)
{
        return events_of(TEXT_HP, text, strlen(text));
}

TEST(test_kinds)
{
        assert_int_equal(text_kind_of("JOB \"x\"", 7), TEXT_HP);
        assert_int_equal(text_kind_of("hdrbhetb", 8), TEXT_NONE);
        assert_int_equal(text_kind_of("JOB", 3), TEXT_NONE);
        assert_int_equal(text_kind_of("{\n\"program\" : \"x\"", 17), TEXT_PROF);
        assert_int_equal(text_kind_of("{\"programs\":\"x\"", 15), TEXT_NONE);
        assert_int_equal(text_kind_of("{\"program\"", 10), TEXT_NONE);
        assert_int_equal(text_kind_of("", 0), TEXT_NONE);
}

TEST(test_hp)
{
        assert_string_equal(hp("JOB \"p a \"\"b\"\" +RTS -hT -i0.5\"\nDATE \"x\"\nSAMPLE_UNIT \"seconds\"\n"
                               "BEGIN_SAMPLE 0.000000\nEND_SAMPLE 0.000000\n"
                               "BEGIN_SAMPLE 0.5\nA B\t10\nC\t20\nEND_SAMPLE 0.5\nMARK 0.75\n"
                               "BEGIN_SAMPLE 1.000001\nA B\t11\r\nEND_SAMPLE 1.000001\n"
                               "BEGIN_SAMPLE 1.2\nEND_SAMPLE 1.2\n"),
                            "PROGRAM_ARGS@0;HEAP_PROF_BEGIN@0;"
                            "HEAP_PROF_SAMPLE_BEGIN@500000000;HEAP_PROF_SAMPLE_STRING@500000000;"
                            "HEAP_PROF_SAMPLE_STRING@500000000;HEAP_PROF_SAMPLE_END@500000000;USER_MARKER@750000000;"
                            "HEAP_PROF_SAMPLE_BEGIN@1000001000;HEAP_PROF_SAMPLE_STRING@1000001000;"
                            "HEAP_PROF_SAMPLE_END@1000001000;");
        assert_true(ended);
        assert_int_equal(damage.lines, 0);
        assert_non_null(memmem(made, n_made, "p\0a\0\"b\"\0+RTS\0-hT\0-i0.5\0", 22));
        assert_non_null(memmem(made, n_made, "\x1d\xcd\x65\0\0\0\0\x07", 8)); /* 500 ms, by closure type */
}

/* The threaded runtime writes times that go back a little, and below 0 (findings/ghc-threaded-hp-times-go-back.sh). */
TEST(test_hp_times_that_go_back)
{
        assert_string_equal(hp("JOB \"p\"\nBEGIN_SAMPLE 0.000000\nEND_SAMPLE 0.000000\n"
                               "BEGIN_SAMPLE -0.000035\nA\t10\nEND_SAMPLE -0.000035\n"
                               "BEGIN_SAMPLE 0.5\nA\t11\nEND_SAMPLE 0.5\nBEGIN_SAMPLE 0.496\nA\t12\nEND_SAMPLE 0.496\n"
                               "BEGIN_SAMPLE 0.6\nEND_SAMPLE 0.6\n"),
                            "PROGRAM_ARGS@0;"
                            "HEAP_PROF_SAMPLE_BEGIN@0;HEAP_PROF_SAMPLE_STRING@0;HEAP_PROF_SAMPLE_END@0;"
                            "HEAP_PROF_SAMPLE_BEGIN@500000000;HEAP_PROF_SAMPLE_STRING@500000000;"
                            "HEAP_PROF_SAMPLE_END@500000000;"
                            "HEAP_PROF_SAMPLE_BEGIN@500000000;HEAP_PROF_SAMPLE_STRING@500000000;"
                            "HEAP_PROF_SAMPLE_END@500000000;");
        assert_int_equal(damage.lines, 0);
        (void)hp("JOB \"p\"\nBEGIN_SAMPLE --1\n");
        assert_int_equal(damage.lines, 1);
}

TEST(test_prof)
{
        char profile[] =
                "{\"program\":\"p\",\"arguments\":[\"p\",\"a \\\"b\"],\"rts_arguments\":[\"-pj\"],"
                "\"initial_capabilities\":0,\"total_time\":0.5,\"total_ticks\":500,\"tick_interval\":1000,"
                "\"total_alloc\":9,\"other\":[{}],"
                "\"cost_centres\":[{\"id\":7,\"label\":\"f\",\"module\":\"M\"}],"
                "\"profile\":{\"id\":1,\"ticks\":1,\"children\":["
                "{\"id\":7,\"entries\":2,\"alloc\":9,\"ticks\":2,\"children\":[]}]}}\n";

        assert_string_equal(events_of(TEXT_PROF, profile, strlen(profile)),
                            "HEAP_PROF_COST_CENTRE@0;PROGRAM_ARGS@0;PROF_BEGIN@0;PROF_SAMPLE_COST_CENTRE@1000000;"
                            "PROF_SAMPLE_COST_CENTRE@2000000;PROF_SAMPLE_COST_CENTRE@3000000;HEAP_ALLOCATED@500000000;"
                            "TICKY_COUNTER_DEF@500000000;TICKY_COUNTER_SAMPLE@500000000;");
        assert_true(ended);
        assert_int_equal(damage.lines, 0);
        assert_non_null(memmem(made, n_made, "p\0a \"b\0+RTS\0-pj\0", 17));
        assert_non_null(memmem(made, n_made, "\2\0\0\0\7\0\0\0\1", 9)); /* a stack, innermost first */
        /* of four capabilities, four ticks are an interval */
        *strchr(strstr(profile, "capabilities"), '0') = '4';
        assert_string_equal(events_of(TEXT_PROF, profile, strlen(profile)),
                            "HEAP_PROF_COST_CENTRE@0;PROGRAM_ARGS@0;CAP_CREATE@0;CAP_CREATE@0;CAP_CREATE@0;"
                            "CAP_CREATE@0;PROF_BEGIN@0;PROF_SAMPLE_COST_CENTRE@250000;"
                            "PROF_SAMPLE_COST_CENTRE@500000;PROF_SAMPLE_COST_CENTRE@750000;HEAP_ALLOCATED@125000000;"
                            "TICKY_COUNTER_DEF@125000000;TICKY_COUNTER_SAMPLE@125000000;");
        (void)events_of(TEXT_PROF, profile, strlen(profile) - 3);
        assert_false(ended);
        assert_int_equal(damage.lines, 1);
}

TEST(test_hp_cut_off)
{
        assert_string_equal(hp("JOB \"p\"\nBEGIN_SAMPLE 1.0\nA\t10\nEND_SAMPLE 1.0\nBEGIN_SAMPLE 2.0\nA\t1"),
                            "PROGRAM_ARGS@0;HEAP_PROF_SAMPLE_BEGIN@1000000000;HEAP_PROF_SAMPLE_STRING@1000000000;"
                            "HEAP_PROF_SAMPLE_END@1000000000;HEAP_PROF_SAMPLE_BEGIN@2000000000;"
                            "HEAP_PROF_SAMPLE_STRING@2000000000;");
        assert_false(ended);
        (void)hp("JOB \"p\"\nBEGIN_SAMPLE 1.0\nA\t10\nEND_SAMPLE 1.0\n");
        assert_false(ended); /* the runtime's last sample is empty */
}

TEST(test_damaged_lines_are_counted)
{
        static const struct {
                const char *text;
                uint64_t lines, first;
        } cases[] = {
                { "JOB \"p\nBEGIN_SAMPLE 1\n", 1, 1 },
                { "JOB \"p\"\nBEGIN_SAMPLE one\nA\t1\n", 2, 2 },
                { "JOB \"p\"\nBEGIN_SAMPLE 1\nA\nA\t99999999999999999999\nA\t7\nEND_SAMPLE 1\n", 2, 3 },
                { "JOB \"p\"\nnonsense\nEND_SAMPLE 1\n", 2, 2 },
                { "JOB \"p\"\nBEGIN_SAMPLE 1\nA\t1x\nEND_SAMPLE 1x\n", 2, 3 },
                { "JOB \"p\"\nBEGIN_SAMPLE 9999999999\n", 1, 2 },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                (void)hp(cases[i].text);
                assert_int_equal(damage.lines, cases[i].lines);
                assert_int_equal(damage.first, cases[i].first);
                assert_non_null(damage.expected);
        }
}

TEST(test_a_line_without_end_and_a_zero_byte)
{
        size_t n = 300000;
        char *text = malloc(n);

        assert_non_null(text);
        memset(text, 'x', n);
        memcpy(text, "JOB \"p\"\n", 8);
        (void)events_of(TEXT_HP, text, n);
        assert_int_equal(damage.lines, 1);
        assert_int_equal(damage.first, 2);
        free(text);
        (void)events_of(TEXT_HP, "JOB \"p\"\nBEGIN_SAMPLE 1\nA\0\t5\nEND_SAMPLE 1\n", 41);
        assert_int_equal(damage.lines, 1);
}

/* Many bands: more than one block holds. */
TEST(test_a_large_census)
{
        size_t n = 0, room = 600000, rows = 0;
        char *text = malloc(room);

        assert_non_null(text);
        n += (size_t)snprintf(text, room, "JOB \"p\"\nBEGIN_SAMPLE 1\n");
        for (int i = 0; i < 20000; i++)
                n += (size_t)snprintf(text + n, room - n, "band%d\t%d\n", i, i + 1);
        n += (size_t)snprintf(text + n, room - n, "END_SAMPLE 1\n");
        (void)events_of(TEXT_HP, text, n);
        for (const uint8_t *p = made; (p = memmem(p, n_made - (size_t)(p - made), "band", 4)); p++)
                rows++;
        assert_int_equal(rows, 20000);
        assert_int_equal(damage.lines, 0);
        free(text);
}
