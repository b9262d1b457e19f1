/* SPDX-License-Identifier: BSD-3-Clause */
/* test_pattern.c - regular expressions: what they match, what is refused and where, and that hostile ones are cheap. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/test.h"

#include "proto/cli/pattern/pattern.h"
#include "proto/base/error.h"

static enum pattern_result match(const char *expression, unsigned flags, const char *text)
{
        struct error error = { "" };
        struct pattern *p = pattern_new(expression, flags, &error);

        if (!p)
                fail_msg("%s: %s", expression, error.text);
        enum pattern_result r = pattern_match(p, text);
        pattern_destroy(&p);
        assert_null(p);
        return r;
}

TEST(what_matches)
{
        static const struct {
                const char *expression, *text;
                unsigned flags;
                enum pattern_result result;
        } cases[] = {
                { "Main.*", "Main.cache", PATTERN_WHOLE, PATTERN_YES },
                { "Main", "Main.cache", PATTERN_WHOLE, PATTERN_NO },
                { "main", "a Main.cache", PATTERN_CASELESS, PATTERN_YES },
                { "main", "a Main.cache", 0, PATTERN_NO },
                { "a|ab", "ab", PATTERN_WHOLE, PATTERN_YES }, /* POSIX would take the longest */
                { "(|a)b", "b", PATTERN_WHOLE, PATTERN_YES },
                { "a.b", "a\nb", PATTERN_WHOLE, PATTERN_YES },
                { "a$", "a\n", 0, PATTERN_NO },
                { "[[:alpha:]]+[]x]{0,3}", "abc]]x", PATTERN_WHOLE, PATTERN_YES },
                { "[\\]x]+", "]x]", PATTERN_WHOLE, PATTERN_YES },
                { "\\bcache\\b", "Main.cache 7", 0, PATTERN_YES },
                { "x*?y??", "xxy", PATTERN_WHOLE, PATTERN_YES },
                { "[+]?\\+?a{2}", "++aa", PATTERN_WHOLE, PATTERN_YES },
                { ".", "\xC3\xA9", PATTERN_WHOLE, PATTERN_YES }, /* one character, two bytes */
                { "\xC3\x89", "\xC3\xA9", PATTERN_CASELESS, PATTERN_YES },
                { "a.b",
                  "a\xFF"
                  "b",
                  PATTERN_WHOLE, PATTERN_YES },
                { "(.*){255}(.*){255}(.*){255}", "aaaaaaaaaa", PATTERN_WHOLE, PATTERN_YES },
                { "\\Qa+b", "xa+b", 0, PATTERN_YES },
                { "b|c", "abc", 0, PATTERN_YES },
                { "^b|^c", "abc", 0, PATTERN_NO },
                { "", "", PATTERN_WHOLE, PATTERN_YES },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                if (match(cases[i].expression, cases[i].flags, cases[i].text) != cases[i].result)
                        fail_msg("%s on %s", cases[i].expression, cases[i].text);
        }
}

TEST(what_is_refused)
{
        static const struct {
                const char *expression, *said;
        } cases[] = {
                { "(ab", "at character 4: missing closing parenthesis" },
                { "ab)", "at character 3: unmatched closing parenthesis" },
                { "a[b", "missing terminating ] for character class" },
                { "*a", "at character 1: quantifier does not follow a repeatable item" },
                { "(a)\\1", "reference to non-existent subpattern" },
                { "x\\<", "at character 2: write < or > for the character, \\b for an edge of a word" },
                { "foldl\\'", "at character 6: write ` or '" },
                { "a{,3}", "at character 2: expected a count with a lower bound, e.g. {0,3}" },
                { "ab++", "at character 3: a repetition of a repetition" },
                { "a*+", "a repetition of a repetition" },
                { "a{2,3}+", "a repetition of a repetition" },
                { "a+?", "write (x+)? for an optional repetition" },
                { "a{2}?", "write (x+)? for an optional repetition" },
                { "\\Ca", "\\C" },
                { "\xFFz", "UTF-8 error" },
                { "((a{255}){255}){255}", "too large" },
                { "a)(b", "at character 2: unmatched closing parenthesis" },
                { "((((((((((((((((((((((((((((((((((a))))))))))))))))))))))))))))))))))", "parentheses" },
                { "(a+)+b", "exponential" },
                { "(a|aa)+$", "exponential" },
                { "((x*)*)*y", "exponential" },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct error error = { "" };
                struct pattern *p = pattern_new(cases[i].expression, 0, &error);
                if (p || !strstr(error.text, cases[i].said))
                        fail_msg("%s: %s: %s", cases[i].expression, p ? "accepted" : "refused", error.text);
        }
}

TEST(length)
{
        char expression[PATTERN_BYTES_MAX + 2];
        struct error error;
        struct pattern *p;

        memset(expression, 'a', sizeof(expression));
        expression[PATTERN_BYTES_MAX] = '\0';
        p = pattern_new(expression, PATTERN_WHOLE, &error);
        assert_non_null(p);
        pattern_destroy(&p);
        expression[PATTERN_BYTES_MAX] = 'a';
        expression[PATTERN_BYTES_MAX + 1] = '\0';
        assert_null(pattern_new(expression, PATTERN_WHOLE, &error));
        assert_non_null(strstr(error.text, "longer than 256 bytes"));
}

/* Only the beginning of a text is looked at, without a cut character at its end. */
TEST(long_texts)
{
        char text[PATTERN_TEXT_MAX + 10];

        memset(text, 'a', sizeof(text));
        memcpy(text + PATTERN_TEXT_MAX - 1, "\xC3\xA9zzzzzz", 9);
        assert_int_equal(match("a+\xEF\xBF\xBD?", PATTERN_WHOLE, text), PATTERN_YES);
        memset(text, '\xFF', sizeof(text) - 1);
        assert_int_equal(match(".+", PATTERN_WHOLE, text), PATTERN_YES);
}

static uint64_t now_us(void)
{
        struct timespec t;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/*
 * No expression made of these pieces takes long to compile and to match against a text made for it. The bound is a
 * hundred times what was measured: it fails for seconds, not for a busy machine.
 */
TEST(nothing_is_slow)
{
        static const char *const pieces[] = { "(",  ")",     ")+", ")*", "){255}", "a",  "a+", "a*", "|",
                                              ".*", "{2,9}", "b",  "?",  "[ab]*",  "(a", "a)", "$",  "^" };
        uint64_t seed = 2026, worst = 0;
        char text[PATTERN_TEXT_MAX + 1], hardest[300] = "";
        unsigned accepted = 0;

        memset(text, 'a', PATTERN_TEXT_MAX);
        text[PATTERN_TEXT_MAX] = '\0';
        for (int i = 0; i < 20000; i++) {
                char expression[300] = "";
                struct error error;
                size_t used = 0;
                for (int n = 0; n < 3 + i % 12; n++) {
                        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
                        used += (size_t)snprintf(expression + used, sizeof(expression) - used, "%s",
                                                 pieces[(seed >> 33) % (sizeof(pieces) / sizeof(pieces[0]))]);
                }
                uint64_t since = now_us();
                struct pattern *p = pattern_new(expression, i & PATTERN_WHOLE, &error);
                if (p)
                        (void)pattern_match(p, text);
                accepted += p != NULL;
                pattern_destroy(&p);
                uint64_t took = now_us() - since;
                if (took > worst) {
                        worst = took;
                        snprintf(hardest, sizeof(hardest), "%s", expression);
                }
        }
        print_message("slowest: %s, %llu us\n", hardest, (unsigned long long)worst);
        assert_true(accepted > 1000);
        assert_true(worst < 1000000);
}
