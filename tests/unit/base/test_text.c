/* SPDX-License-Identifier: BSD-3-Clause */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/test.h"

#include "proto/eventlog/advice.h"
#include "heapwatch/text.h"
#include "proto/base/rate.h"
#include "proto/base/utf8.h"

#define COUNT(a)  (sizeof(a) / sizeof(a)[0])
#define UNCHANGED UINT64_C(0xDEAD)

struct number_case {
        double value;
        const char *text;
};

static void check_numbers(char *(*write)(char *, size_t, double), const struct number_case *cases, size_t n)
{
        char out[HW_NUMBER_MAX];

        for (size_t i = 0; i < n; i++)
                assert_string_equal(write(out, sizeof(out), cases[i].value), cases[i].text);
}

TEST(test_numbers)
{
        static const struct number_case bytes[] = {
                { 0, "0 B" },
                { 512, "512 B" },
                { 1023, "1023 B" },
                { 1024, "1.00 KiB" },
                { 1289748, "1.23 MiB" },
                { 12.34 * 1048576, "12.3 MiB" },
                { 123.4 * 1048576, "123 MiB" },
                { 1023.9 * 1024, "1.00 MiB" },
                { -2048, "-2.00 KiB" },
                { NAN, "?" },
                { INFINITY, "?" },
                { 9.999 * 1024, "10.0 KiB" },
        };
        static const struct number_case durations[] = {
                { 0, "0 s" },           { 850, "850 ns" },     { 1.25e6, "1.25 ms" },  { 3.2e9, "3.20 s" },
                { 999.7e6, "1.00 s" },  { 59.97e9, "1m 00s" }, { 125e9, "2m 05s" },    { 3720e9, "1h 02m" },
                { 3599.7e9, "1h 00m" }, { 86399e9, "1d 00h" }, { 273600e9, "3d 04h" }, { -1500, "-1.50 us" },
                { NAN, "?" },
        };
        static const struct number_case rates[] = {
                { 1289748, "1.23 MiB/s" }, { -1024, "-1.00 KiB/s" }, { 1023.6, "1.00 KiB/s" }, { 100, "5.86 KiB/min" },
                { 1, "3.52 KiB/h" },       { 0.01, "36.0 B/h" },     { 0, "0 B/s" },           { NAN, "?" },
        };
        static const struct number_case shares[] = { { 0.003, "0.3 %" }, { 1, "100.0 %" }, { 0, "0.0 %" } };
        char out[HW_NUMBER_MAX];

        check_numbers(hw_bytes_text, bytes, COUNT(bytes));
        check_numbers(hw_duration_text, durations, COUNT(durations));
        check_numbers(hw_rate_text, rates, COUNT(rates));
        check_numbers(hw_share_text, shares, COUNT(shares));
        assert_string_equal(hw_count_text(out, sizeof(out), 0), "0");
        assert_string_equal(hw_count_text(out, sizeof(out), 999), "999");
        assert_string_equal(hw_count_text(out, sizeof(out), 12345678), "12,345,678");
        assert_string_equal(hw_count_text(out, sizeof(out), UINT64_MAX), "18,446,744,073,709,551,615");
        assert_string_equal(hw_time_text(out, sizeof(out), UINT64_C(1795205343123456789)), "2026-11-20T20:09:03.123Z");
        assert_string_equal(hw_bytes_text(out, 4, 512), "512"); /* cut, terminated */
}

static char *count_text(char *out, size_t size, double count)
{
        return hw_count_text(out, size, (uint64_t)count);
}

/* The browser page writes numbers itself: both read the same cases. */
TEST(test_numbers_as_on_the_page)
{
        static const struct {
                const char *name;
                char *(*write)(char *, size_t, double);
        } kinds[] = { { "bytes", hw_bytes_text },
                      { "duration", hw_duration_text },
                      { "share", hw_share_text },
                      { "count", count_text } };
        FILE *f = fopen("client/page/test/number_words.json", "r");
        char kind[16], text[32];
        double value;
        size_t n = 0;

        assert_non_null(f);
        assert_int_equal(fscanf(f, " ["), 0);
        while (fscanf(f, " [\"%15[a-z]\", %lf, \"%31[^\"]\"] ,", kind, &value, text) == 3) {
                size_t k = 0;

                while (k < COUNT(kinds) && strcmp(kinds[k].name, kind) != 0)
                        k++;
                assert_true(k < COUNT(kinds));
                check_numbers(kinds[k].write, &(struct number_case){ value, text }, 1);
                n++;
        }
        assert_true(n > 40);
        assert_int_equal(fgetc(f), ']');
        (void)fclose(f);
}

/* One unit for numbers beside each other, whatever their sizes. */
TEST(test_rates)
{
        static const struct number_case cases[] = {
                { 54.4 * 1024 / 60, "54.4 KiB/min" },
                { 1.14 * 1024, "68.4 KiB/min" },
                { -0.5 * 1024 / 60, "-0.50 KiB/min" },
                { 0.0123 * 1024 / 60, "0.012 KiB/min" },
                { 1e-4, "~0 KiB/min" },
                { 0, "0 KiB/min" },
                { NAN, "?" },
                { 1e300, ">1e15 KiB/min" },
        };
        struct rate_unit unit = rate_unit(54.4 * 1024 / 60);
        char out[HW_NUMBER_MAX];

        for (size_t i = 0; i < COUNT(cases); i++)
                assert_string_equal(rate_text(out, sizeof(out), unit, cases[i].value), cases[i].text);
        assert_string_equal(rate_unit(NAN).name, "B/s");
        assert_string_equal(rate_unit(1e300).name, "EiB/s");
        assert_string_equal(rate_unit_within(40, -4527 * 1024, 4607 * 1024).name, "MiB/s"); /* not that of the middle */
        assert_string_equal(rate_unit_within(912 * 1024, 456 * 1024, 1824 * 1024).name,
                            "KiB/s"); /* as it stands alone */
        assert_string_equal(rate_unit_within(1024, NAN, NAN).name, "KiB/s");
        assert_string_equal(count_rate_text((char[COUNT_RATE_MAX]){ "" }, 3.14), "+3.1/s");
        assert_string_equal(count_rate_text((char[COUNT_RATE_MAX]){ "" }, 412), "+412/s");
        assert_string_equal(count_rate_text((char[COUNT_RATE_MAX]){ "" }, 0.2), "+12/min");
        assert_string_equal(count_rate_text((char[COUNT_RATE_MAX]){ "" }, 0.002), "+7.2/h");
        assert_true(rate_greater(2, -3) == 3 && rate_greater(2, NAN) == 2 && rate_greater(2, INFINITY) == 2);
}

TEST(test_parse)
{
        static const struct {
                const char *text;
                uint64_t value;
        } bytes[] = {
                { "0", 0 }, { "512", 512 }, { "64k", 65536 }, { "1.5GiB", 1610612736 }, { "1 MiB", 1048576 },
                { "2b", 2 }, { "0.1K", 102 }, { "15E", UINT64_C(15) << 60 }, { "18446744073709551615", UINT64_MAX },
        }, durations[] = {
                { "500ms", 500000000 }, { "30s", 30000000000 }, { "5m", 300000000000 }, { "2h", 7200000000000 },
                { "1d", 86400000000000 }, { "1.5us", 1500 }, { "7ns", 7 },
        };
        static const char *const bad[] = { "",     " 1k",  "1k ", "1x",  "-1",  "+1", "1.",  ".5",
                                           "1e3",  "0x10", "nan", "inf", "1kk", "1 ", "16E", "18446744073709551616",
                                           "1,5k", "1iB" };
        static const char *const bad_durations[] = { "", "5", "5 ", "-5s", "5x", "5ss", "1e3s", "300000d" };
        uint64_t value;

        for (size_t i = 0; i < COUNT(bytes); i++) {
                assert_true(hw_parse_bytes(bytes[i].text, &value));
                assert_int_equal(value, bytes[i].value);
        }
        for (size_t i = 0; i < COUNT(durations); i++) {
                assert_true(hw_parse_duration(durations[i].text, &value));
                assert_int_equal(value, durations[i].value);
        }
        value = UNCHANGED;
        for (size_t i = 0; i < COUNT(bad); i++)
                assert_false(hw_parse_bytes(bad[i], &value));
        for (size_t i = 0; i < COUNT(bad_durations); i++)
                assert_false(hw_parse_duration(bad_durations[i], &value));
        assert_int_equal(value, UNCHANGED);
}

TEST(test_utf8)
{
        static const char *const good[] = {
                "", "a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"
        };
        static const char *const bad[] = {
                "\x80", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80",
                "\xFF", "\xE2\x82"
        };
        char out[16];

        for (size_t i = 0; i < COUNT(good); i++)
                assert_true(hw_utf8_valid(good[i], strlen(good[i])));
        for (size_t i = 0; i < COUNT(bad); i++)
                assert_false(hw_utf8_valid(bad[i], strlen(bad[i])));
        assert_int_equal(hw_utf8_clean(out, sizeof(out),
                                       "a\xFF"
                                       "b\0\0",
                                       5),
                         5);
        assert_string_equal(out,
                            "a\xEF\xBF\xBD"
                            "b");
        hw_utf8_clean(out, sizeof(out), "a\0b", 3);
        assert_string_equal(out,
                            "a\xEF\xBF\xBD"
                            "b");
        assert_int_equal(hw_utf8_clean(out, 3, "a\xE2\x82\xAC", 4), 1); /* cut at a character */
        assert_string_equal(out, "a");
        assert_int_equal(hw_utf8_clean(out, 0, "a", 1), 0);
}

TEST(test_terminal)
{
        static const struct {
                const char *in, *out;
        } cases[] = {
                { "plain \xC3\xA9", "plain \xC3\xA9" },
                { "\x1B[31mred", "\\x1B[31mred" },
                { "a\nb\tc\rd", "a\\nb\\tc\\x0Dd" },
                { "\x7F", "\\x7F" },
                { "\xC2\x9B"
                  "31m",
                  "\\u{009B}31m" }, /* C1: one-character CSI */
                { "\xE2\x80\xAE"
                  "abc",
                  "\\u{202E}abc" }, /* right-to-left override */
                { "\xE2\x81\xA6", "\\u{2066}" },
                { "\x9B\xFF", "\\x9B\\xFF" },
        };
        char out[64];

        for (size_t i = 0; i < COUNT(cases); i++) {
                assert_int_equal(hw_terminal_text(out, sizeof(out), cases[i].in), strlen(cases[i].out));
                assert_string_equal(out, cases[i].out);
        }
        assert_int_equal(hw_terminal_text(out, 4, "ab\x1B"), 2); /* no half escapes */
        assert_string_equal(out, "ab");
}

/* Columns of a terminal, and the ends of a text that fit in them. */
TEST(test_columns)
{
        static const struct {
                const char *text;
                int columns;
                const char *beginning, *end; /* of three columns */
        } cases[] = {
                { "", 0, "", "" },
                { "abc", 3, "abc", "abc" },
                { "abcd", 4, "abc", "bcd" },
                { "a–…d", 4, "a–…", "–…d" },
                { "e\xCC\x81tat", 4, "e\xCC\x81ta", "tat" }, /* a combining mark joins */
                { "漢字漢", 6, "漢", "漢" },                 /* two columns each */
                { "ab\xFF"
                  "cd",
                  5, "ab\xFF",
                  "\xFF"
                  "cd" }, /* not UTF-8: one each */
        };

        assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
        for (size_t i = 0; i < COUNT(cases); i++) {
                char beginning[32];

                assert_int_equal(text_columns(cases[i].text), cases[i].columns);
                (void)snprintf(beginning, sizeof(beginning), "%.*s", (int)text_beginning(cases[i].text, 3),
                               cases[i].text);
                assert_string_equal(beginning, cases[i].beginning);
                assert_string_equal(text_end(cases[i].text, 3), cases[i].end);
                assert_int_equal(text_beginning(cases[i].text, 0), 0);
        }
        assert_int_equal(glyph_next("–", true).bytes[0], '-');
        assert_int_equal(glyph_next("漢", true).bytes[0], '?');
        assert_int_equal(glyph_next("\xFF", false).bytes[0], '?');
}

TEST(test_cut)
{
        static const char text[] = "a–b"; /* 1, 3, 1 bytes */
        static const size_t at[] = { 0, 1, 1, 1, 4 };

        for (size_t n = 0; n < COUNT(at); n++)
                assert_int_equal(utf8_cut(text, n), at[n]);
}

TEST(test_advice)
{
        assert_null(hw_advice_text((enum hw_advice)0));
        assert_null(hw_advice_text(HW_ADVICE_COUNT));
        for (int i = 1; i < HW_ADVICE_COUNT; i++) {
                const char *text = hw_advice_text((enum hw_advice)i);

                assert_non_null(text);
                assert_true(strlen(text) > 40 && text[strlen(text) - 1] == '.');
                for (int j = 1; j < i; j++)
                        assert_string_not_equal(text, hw_advice_text((enum hw_advice)j));
        }
        assert_non_null(strstr(hw_advice_text(HW_ADVICE_NO_RTSOPTS), "-rtsopts"));
        assert_non_null(strstr(hw_advice_text(HW_ADVICE_NOT_FLUSHED), "Debug.Trace.flushEventLog"));
}
