/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: PCRE2 bounds the work of one match; what would reach that bound is
 * found when the expression is compiled, by matching it against a few texts of
 * one repeated character that end in something else: the shape for which a
 * backtracking matcher is exponential. So a user learns of it on typing it, and
 * not from an alert that never comes.
 *
 * PCRE2 counts steps from 0 at each place where a match may begin. To have one
 * limit for the whole text, a search is a match from its beginning, with .*?
 * before the expression.
 *
 * Matches allocate their memory each time: kept per expression, 20 KiB each,
 * a large file of rules would hold tens of megabytes.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "proto/cli/pattern/pattern.h"

#include <ctype.h>
#include <pcre2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/text_out.h"
#include "proto/base/utf8.h"

#define PROBE_BYTES 24 /* enough for 2^n to reach the limit, not for n^3 */
#define PROBE_STEPS 3000
#define PROBES_MAX  8

struct pattern {
        pcre2_code *code;
        pcre2_match_context *limits;
};

/* ------------------------------------------------------------------ dialect */

/* The length of a count, "{3}" or "{3,}" or "{3,9}", or 0. */
static size_t count_length(const char *p)
{
        size_t n = 1, digits = strspn(p + 1, "0123456789");

        n += digits;
        if (!digits)
                return 0;
        if (p[n] == ',')
                n += 1 + strspn(p + n + 1, "0123456789");
        return p[n] == '}' ? n + 1 : 0;
}

/* A bracket expression from its '['; up to the end when it is not closed, which the compiler reports. */
static size_t bracket_length(const char *p)
{
        size_t n = 1 + (p[1] == '^');

        n += p[n] == ']';
        while (p[n] && p[n] != ']') {
                const char *end = p[n] == '[' && p[n + 1] == ':' ? strstr(p + n + 2, ":]") : NULL;
                n = end ? (size_t)(end - p) + 2 : n + 1 + (p[n] == '\\' && p[n + 1]);
        }
        return n + (p[n] == ']');
}

/* What would silently mean something else in POSIX extended syntax. NULL: nothing. */
static const char *find_ambiguous(const char *p, size_t *ret_length)
{
        size_t count = *p == '{' ? count_length(p) : 0;
        bool repeats = count || *p == '*' || *p == '+' || *p == '?';
        char after = p[count ? count : 1];

        *ret_length = count ? count : 1;
        if (*p == '[')
                *ret_length = bracket_length(p);
        else if (*p == '\\' && p[1])
                *ret_length = 2;
        if (*p == '\\' && (p[1] == '<' || p[1] == '>'))
                return "write < or > for the character, \\b for an edge of a word";
        if (*p == '\\' && (p[1] == '`' || p[1] == '\''))
                return "write ` or ' for the character, ^ or $ for an end of the text";
        if (*p == '{' && p[1] == ',' && p[2] >= '0' && p[2] <= '9')
                return "expected a count with a lower bound, e.g. {0,3}";
        if (repeats && after == '+')
                return "a repetition of a repetition; expected one of them";
        if ((count || *p == '+') && after == '?')
                return "write (x+)? for an optional repetition, x+ for any other";
        return NULL;
}

/* -------------------------------------------------------------------- errors */

static bool refuse_pattern(struct error *error, size_t at, const char *what)
{
        return error_set(error, "not a valid regular expression: at character %zu: %s", at + 1, what);
}

/* ------------------------------------------------------------------- compile */

static pcre2_code *compile_expression(const char *expression, unsigned flags, struct error *error)
{
        uint32_t options = PCRE2_UTF | PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY | PCRE2_NO_AUTO_CAPTURE |
                           PCRE2_NEVER_BACKSLASH_C | PCRE2_ANCHORED;
        pcre2_compile_context *context = pcre2_compile_context_create(NULL);
        pcre2_code *code = NULL;
        int number = 0;
        size_t at = 0;
        char what[120];

        if (!context) {
                error_set(error, "out of memory");
                return NULL;
        }
        options |= flags & PATTERN_WHOLE ? PCRE2_ENDANCHORED : 0;
        options |= flags & PATTERN_CASELESS ? PCRE2_CASELESS : 0;
        (void)pcre2_set_parens_nest_limit(context, PATTERN_NESTING_MAX);
        code = pcre2_compile((PCRE2_SPTR)expression, PCRE2_ZERO_TERMINATED, options, &number, &at, context);
        pcre2_compile_context_free(context);
        if (!code) {
                (void)pcre2_get_error_message(number, (PCRE2_UCHAR *)what, sizeof(what));
                (void)refuse_pattern(error, at, what);
        }
        return code;
}

/* The expression must be valid by itself before it is enclosed: "a)(b" is not. */
static pcre2_code *compile_search(const char *expression, unsigned flags, struct error *error)
{
        char whole[PATTERN_BYTES_MAX + 16];
        pcre2_code *alone = compile_expression(expression, flags, error);

        if (!alone)
                return NULL;
        pcre2_code_free(alone);
        text_join(whole, sizeof(whole), ".*?(?:", expression, "\\E)", NULL);
        return compile_expression(whole, flags, error);
}

/* -------------------------------------------------------------------- limits */

/* The text ends in the expression's own characters: without one that it requires, no match would be tried. */
static bool is_quick_for(const struct pattern *p, char c, const char *expression)
{
        char text[PROBE_BYTES + PATTERN_BYTES_MAX + 2], repeated[PROBE_BYTES + 1];

        memset(repeated, c, PROBE_BYTES);
        repeated[PROBE_BYTES] = '\0';
        text_join(text, sizeof(text), repeated, "\x01", expression, NULL);
        return pattern_match(p, text) != PATTERN_UNDECIDED;
}

/* For the first characters in it, and for one that is not in it. */
static bool is_quick(const struct pattern *p, const char *expression)
{
        bool good, seen[128] = { false };
        unsigned probes = 1;

        (void)pcre2_set_match_limit(p->limits, PROBE_STEPS);
        good = is_quick_for(p, ' ', expression);
        for (const char *c = expression; good && *c && probes < PROBES_MAX; c++) {
                unsigned char at = (unsigned char)*c;
                if (at >= 128 || seen[at] || !isalnum(at))
                        continue;
                seen[at] = true;
                probes++;
                good = is_quick_for(p, *c, expression);
        }
        (void)pcre2_set_match_limit(p->limits, PATTERN_STEPS_MAX);
        return good;
}

struct pattern *pattern_new(const char *expression, unsigned flags, struct error *error)
{
        const char *wrong = "out of memory";
        size_t length, size = 0;
        struct pattern *p;

        if (strlen(expression) > PATTERN_BYTES_MAX) {
                error_set(error, "this regular expression is longer than 256 bytes");
                return NULL;
        }
        for (const char *at = expression; *at; at += length) {
                const char *ambiguous = find_ambiguous(at, &length);
                if (ambiguous) {
                        refuse_pattern(error, (size_t)(at - expression), ambiguous);
                        return NULL;
                }
        }
        p = calloc(1, sizeof(*p));
        if (p && !(p->code = (flags & PATTERN_WHOLE ? compile_expression : compile_search)(expression, flags, error))) {
                pattern_destroy(&p);
                return NULL;
        }
        if (p && (p->limits = pcre2_match_context_create(NULL))) {
                (void)pcre2_set_depth_limit(p->limits, PATTERN_DEPTH_MAX);
                (void)pcre2_set_heap_limit(p->limits, PATTERN_HEAP_KIB_MAX);
                if (pcre2_pattern_info(p->code, PCRE2_INFO_SIZE, &size) != 0 || size > PATTERN_CODE_MAX)
                        wrong = "this regular expression is too large: it compiles to more than 16 KiB; expected "
                                "smaller counts";
                else if (!is_quick(p, expression))
                        wrong = "this regular expression can take exponential time; expected no repetition inside of "
                                "another";
                else
                        return p;
        }
        (void)error_set(error, "%s", wrong);
        pattern_destroy(&p);
        return NULL;
}

void pattern_destroy(struct pattern **p)
{
        if (!*p)
                return;
        pcre2_match_context_free((*p)->limits);
        pcre2_code_free((*p)->code);
        free(*p);
        *p = NULL;
}

/* --------------------------------------------------------------------- match */

/* The text's beginning as valid UTF-8. */
static size_t clean_text(char *to, size_t size, const char *text)
{
        size_t used = 0, n = strnlen(text, PATTERN_TEXT_MAX);
        uint32_t code;

        for (size_t at = 0; at < n;) {
                size_t length = utf8_decode(text + at, n - at, &code);
                size_t put = length ? length : 3;

                if (put > size - used)
                        break;
                memcpy(to + used, length ? text + at : "\xEF\xBF\xBD", put);
                used += put;
                at += length ? length : 1;
        }
        return used;
}

enum pattern_result pattern_match(const struct pattern *p, const char *text)
{
        char valid[PATTERN_TEXT_MAX];
        size_t n = clean_text(valid, sizeof(valid), text);
        pcre2_match_data *data = pcre2_match_data_create(1, NULL);
        int r = PCRE2_ERROR_NOMEMORY;

        if (data)
                r = pcre2_match(p->code, (PCRE2_SPTR)valid, n, 0, PCRE2_NO_UTF_CHECK, data, p->limits);
        pcre2_match_data_free(data);
        return r >= 0 ? PATTERN_YES : r == PCRE2_ERROR_NOMATCH ? PATTERN_NO : PATTERN_UNDECIDED;
}
