/* SPDX-License-Identifier: BSD-3-Clause */
/* Expressions: what is accepted, what is refused and at which column, and that printed text parses to the same tree. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/test.h"

#include "daemon/judge/rules/expr.h"
#include "daemon/judge/rules/rule.h"

TEST(good_ones_print_in_normal_form)
{
        static const struct {
                const char *text, *normal;
        } cases[] = {
                { "live>1GiB", "live > 1GiB" },
                { "slope( live , 10 m ) > 1 MiB / min", "slope(live, 10m) > 1MiB/min" },
                { "p99(gc_pause, 5m) > 50ms", "p99(gc_pause, 5m) > 50ms" },
                { "time_to_limit < 30m", "time_to_limit < 30m" },
                { "leak(band{label=~\"Main.*\"})", "leak(band{label=~\"Main.*\"})" },
                { "leak(band{})", "leak(band)" },
                { "band{label=\"a\\\"b\\\\c\", module!=\"M\",source!~\"x\",type=\"T\"} > 0",
                  "band{label=\"a\\\"b\\\\c\", module!=\"M\", source!~\"x\", type=\"T\"} > 0" },
                { "band{label=~\"a\\.b\"} > 0", "band{label=~\"a\\\\.b\"} > 0" },
                { "not (leak(live) or leak(rss))", "not (leak(live) or leak(rss))" },
                { "(leak(live)) and (leak(rss) or growing(heap))", "leak(live) and (leak(rss) or growing(heap))" },
                { "leak(live) or leak(rss) and growing(heap)", "leak(live) or leak(rss) and growing(heap)" },
                { "not leak(live) and leak(rss)", "not leak(live) and leak(rss)" },
                { "leak(live) unless (leak(rss) unless crashed)", "leak(live) unless (leak(rss) unless crashed)" },
                { "(heap - live) - blocks > 0", "heap - live - blocks > 0" },
                { "heap - (live - blocks) > 0", "heap - (live - blocks) > 0" },
                { "(heap - live) / heap >= 30%", "(heap - live) / heap >= 30%" },
                { "heap / live == 2 * (3 + 1)", "heap / live == 2 * (3 + 1)" },
                { "-slope(live) > - 1MiB/h", "-slope(live) > -1MiB/h" },
                { "absent(live, 30s)", "absent(live, 30s)" },
                { "quantile(0.9, gc_pause, 1h) != 0", "quantile(0.9, gc_pause, 1h) != 0" },
                { "increase(restarts, 10m) >= 3", "increase(restarts, 10m) >= 3" },
                { "rate(restarts, 1h) > 5/h", "rate(restarts, 1h) > 5/h" },
                { "live / min(live, 1h) > 2", "live / min(live, 1h) > 2" },
                { "live / 2 / min(live, 1h) > 1", "live / 2 / min(live, 1h) > 1" },
                { "integral(live, 1h) / 1h > 1GiB", "integral(live, 1h) / 1h > 1GiB" },
                { "live * 2 > 1e3 MiB", "live * 2 > 1e3MiB" },
                { "allocation_rate > 100MB/s and\n  gc_share < 5%", "allocation_rate > 100MB/s and gc_share < 5%" },
                { "fit(live, 1h) > 0.9", "fit(live, 1h) > 0.9" },
                { "gc_parallel_max_copied_bytes / gc_parallel_copied_bytes > 50%",
                  "gc_parallel_max_copied_bytes / gc_parallel_copied_bytes > 50%" },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct expr e, again;
                struct expr_error error;
                char text[EXPR_TEXT_MAX * 2], second[EXPR_TEXT_MAX * 2];

                if (!expr_parse(cases[i].text, &e, &error))
                        fail_msg("%s: column %u: %s", cases[i].text, error.column, error.text);
                assert_true(expr_print(&e, text, sizeof(text)));
                assert_string_equal(text, cases[i].normal);
                assert_true(expr_parse(text, &again, &error));
                assert_true(expr_print(&again, second, sizeof(second)));
                assert_string_equal(second, text);
                assert_true(expr_explain(&e, text, sizeof(text)));
                expr_destroy(&e);
                expr_destroy(&again);
        }
}

TEST(mistakes_have_a_column_and_a_hint)
{
        static const struct {
                const char *text;
                uint32_t column;
                const char *part;
        } cases[] = {
                { "", 1, "empty" },
                { "live", 1, "is bytes; expected a condition" },
                { "live > 5s", 6, "compares bytes with seconds" },
                { "live > 100", 6, "numbers take units" },
                { "1GiB < slope(live, 1h)", 6, "compares bytes with bytes per second" },
                { "lvie > 1GiB", 1, "did you mean 'live'" },
                { "slop(live, 1h) > 1MiB/h", 1, "slop is a series" },
                { "live_sum_byte > 1GiB", 1, "did you mean 'live_sum_bytes'" },
                { "slpe(live, 1h) > 1MiB/h", 1, "did you mean 'slope'" },
                { "frobnicate > 1", 1, "expected a series" },
                { "slope(lvie, 1h) > 1MiB/h", 7, "did you mean 'live'" },
                { "slope > 1", 1, "is a function; expected slope(SERIES, TIME)" },
                { "live > 1GB2", 9, "is not a unit; did you mean 'GB'" },
                { "live > 1 potato", 10, "is not a unit" },
                { "slope(live, 10) > 1MiB/h", 13, "a window is a time" },
                { "slope(live, 100d) > 1MiB/h", 13, "from 1s to 48h" },
                { "slope(live 10m) > 1MiB/h", 12, "expected a closing )" },
                { "slope(heap - live, 10m) > 0", 12, "expected a closing )" },
                { "slope(max(live, 1h), 10m) > 0", 7, "not another function" },
                { "leak(gc_pause)", 6, "have verdicts" },
                { "leak(live, 3h)", 12, "and nothing else" },
                { "mean(time_to_limit, 5m) > 1h", 6, "no history" },
                { "absent(live)", 12, "such as 30s" },
                { "threads > 5%", 9, "compares a count with a share" },
                { "live > 1GiB and 5", 17, "combines conditions, but this is a plain number" },
                { "not live", 1, "expected a condition" },
                { "-leak(live) > 0", 1, "expected a number" },
                { "live > 1GiB > 0", 13, "cannot be chained" },
                { "leak(live) == leak(rss)", 1, "has a condition on one side" },
                { "live > 1GiB)", 12, "expected an operator or the end" },
                { "(live > 1GiB", 13, "found the end; expected a closing )" },
                { "live > 1.", 8, "digits after the decimal point" },
                { "live > 1GiB # x", 13, "no meaning" },
                { "band{lable=\"x\"} > 0", 6, "did you mean 'label'" },
                { "band{label=x} > 0", 12, "double quotes" },
                { "band{label=~\"(\"} > 0", 13,
                  "not a valid regular expression: at character 2: missing closing paren" },
                { "band{label=~\"(a)\\\\1\"} > 0", 13, "non-existent subpattern" },
                { "band{label=~\"a++\"} > 0", 13, "a repetition of a repetition" },
                { "band{label=~\"(a+)+b\"} > 0", 13, "exponential" },
                { "band{label=~\"((a{255}){255}){255}\"} > 0", 13, "too large" },
                { "band{label=\"x} > 0", 12, "no closing quote" },
                { "quantile(2, live, 1h) > 0", 10, "from 0 to 1" },
                { "live * live * live * live * live > 0", 27, "powers" },
                { "\"Ünïcödé\" live > 5s", 1, "expected a series" },
                { "band{label=\"Ünï\"} > 5s", 19, "compares" },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct expr e;
                struct expr_error error = { 0 };

                if (expr_parse(cases[i].text, &e, &error))
                        fail_msg("'%s' was taken", cases[i].text);
                if (error.column != cases[i].column || !strstr(error.text, cases[i].part))
                        fail_msg("'%s': column %u: %s", cases[i].text, error.column, error.text);
                assert_null(e.memory);
        }
}

TEST(depth_is_bounded)
{
        char text[EXPR_TEXT_MAX + 2];
        struct expr e;
        struct expr_error error;

        memset(text, '(', sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';
        assert_false(expr_parse(text, &e, &error));
        text[EXPR_TEXT_MAX] = '\0';
        assert_false(expr_parse(text, &e, &error));
        assert_non_null(strstr(error.text, "levels"));
        memset(text, '-', EXPR_TEXT_MAX);
        assert_false(expr_parse(text, &e, &error));
        assert_non_null(strstr(error.text, "levels"));
        for (size_t i = 0; i + 4 <= EXPR_TEXT_MAX; i += 4)
                memcpy(text + i, "not ", 4);
        assert_false(expr_parse(text, &e, &error));
        assert_non_null(strstr(error.text, "levels"));
        for (size_t i = 0; i + 2 <= EXPR_TEXT_MAX; i += 2)
                memcpy(text + i, "1+", 2);
        assert_false(expr_parse(text, &e, &error));
        assert_non_null(strstr(error.text, "in a row"));
}

TEST(scope_is_found)
{
        struct expr e;
        struct expr_error error;

        assert_true(expr_parse("crashed or increase(restarts, 1h) > 3", &e, &error));
        assert_true(e.of_target && !e.of_bands);
        expr_destroy(&e);
        assert_true(expr_parse("crashed or live > 1GiB", &e, &error));
        assert_false(e.of_target);
        expr_destroy(&e);
        assert_true(expr_parse("leak(band)", &e, &error));
        assert_true(e.of_bands && !e.of_target);
        expr_destroy(&e);
}

TEST(words)
{
        struct expr e;
        struct expr_error error;
        char text[1024];

        assert_true(expr_parse("slope(live, 10m) > 1MiB/min unless crashed", &e, &error));
        assert_true(expr_explain(&e, text, sizeof(text)));
        assert_string_equal(text,
                            "the slope of live bytes over 10m is above 1MiB/min unless "
                            "the last run crashed");
        expr_destroy(&e);
}

static bool is_of_word(char c)
{
        return c == '_' || isalnum((unsigned char)c);
}

/* In the code of a row of a table, as a whole word. */
static bool is_in_a_row(const char *text, const char *name)
{
        const size_t size = strlen(name);
        bool row = false, code = false;

        for (const char *p = text; *p; p++) {
                if (*p == '\n') {
                        row = p[1] == '|';
                        code = false;
                } else if (*p == '`') {
                        code = !code;
                } else if (row && code && !is_of_word(p[-1]) && !strncmp(p, name, size) && !is_of_word(p[size])) {
                        return true;
                }
        }
        return false;
}

/* Every name of the language is in the reference, and so is every placeholder. */
TEST(the_reference_is_whole)
{
        static char text[1 << 16];
        FILE *file = fopen("docs/RULES.md", "r");
        char name[64];

        if (!file) { /* run from elsewhere */
                skip();
                return;
        }
        text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
        fclose(file);
        for (size_t i = 0; series_word_at(i); i++) {
                const char *word = series_word_at(i)->name;
                assert_ptr_equal(series_word_find(word, strlen(word)), series_word_at(i)); /* no other has its name */
                if (!is_in_a_row(text, word))
                        fail_msg("%s is not in docs/RULES.md", word);
        }
        for (size_t i = 0; function_word_at(i); i++)
                if (!is_in_a_row(text, function_word_at(i)->name))
                        fail_msg("%s is not in docs/RULES.md", function_word_at(i)->name);
        for (unsigned i = 0; i < PLACES; i++) {
                snprintf(name, sizeof(name), "{{%s}}", placeholder_name(i));
                if (!strstr(text, name))
                        fail_msg("%s is not in docs/RULES.md", name);
        }
}
