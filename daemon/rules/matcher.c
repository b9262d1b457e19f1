/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: POSIX regular expressions of the C library, wrapped in ^( )$ so that
 * they match whole texts as in Prometheus. glibc's compiler takes time and
 * memory that grow with nested counts ("((a{255}){255}){255}"), so counts are
 * bounded in size and to one level, and the pattern in length. It copies what
 * stands before a +, so nested ones double it each ("a++++"): few are allowed,
 * wherever they stand. Back references make matching exponential: they are
 * refused.
 */
#include "daemon/rules/matcher.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/text_out.h"

#define MATCH_TEXT_MAX 1024 /* of a band's text only so much is matched */

static const char *const names[BAND_TEXTS] = { "label", "module", "source", "type", "name" };

const char *band_text_name(enum band_text which)
{
        return which < BAND_TEXTS ? names[which] : NULL;
}

static const char *danger(const char *pattern)
{
        int counts = 0, pluses = 0;

        for (const char *p = pattern; *p; p++) {
                if (*p == '\\') {
                        if (p[1] >= '1' && p[1] <= '9')
                                return "back references are not allowed";
                        if (p[1])
                                p++;
                } else if (*p == '+') {
                        pluses++;
                } else if (*p == '{') {
                        counts++;
                        if (strtoul(p + 1, NULL, 10) > MATCHER_REPEAT_MAX || counts > 1)
                                return "at most one count in braces, of at most 255";
                        const char *comma = strpbrk(p, ",}");
                        if (comma && *comma == ',' && strtoul(comma + 1, NULL, 10) > MATCHER_REPEAT_MAX)
                                return "at most one count in braces, of at most 255";
                }
        }
        if (pluses > (counts ? MATCHER_PLUS_COUNT_MAX : MATCHER_PLUS_MAX))
                return "at most 8 of +, and 2 beside a count in braces";
        return NULL;
}

static bool compile(struct condition *c, char *error, size_t error_size)
{
        char whole[MATCHER_PATTERN_MAX + 8], reason[128];
        const char *wrong = strlen(c->text) > MATCHER_PATTERN_MAX ? "it is longer than 256 bytes" : danger(c->text);
        int r;

        if (wrong) {
                text_join(error, error_size, "this regular expression is refused: ", wrong, NULL);
                return false;
        }
        text_join(whole, sizeof(whole), "^(", c->text, ")$", NULL);
        r = regcomp(&c->regex, whole, REG_EXTENDED | REG_NOSUB);
        if (r != 0) {
                regerror(r, &c->regex, reason, sizeof(reason));
                text_join(error, error_size, "this is no regular expression: ", reason, NULL);
                return false;
        }
        c->compiled = true;
        return true;
}

bool matcher_add(struct matcher *m, enum band_text which, enum match_op op, const char *text, char *error,
                 size_t error_size)
{
        struct condition c = { .which = which, .op = op, .text = text };

        if (m->n == MATCHER_MAX) {
                text_join(error, error_size, "a band has at most 8 conditions", NULL);
                return false;
        }
        if ((op == MATCH_REGEX || op == MATCH_NOT_REGEX) && !compile(&c, error, error_size))
                return false;
        m->conditions[m->n++] = c;
        return true;
}

void matcher_done(struct matcher *m)
{
        for (size_t i = 0; i < m->n; i++)
                if (m->conditions[i].compiled)
                        regfree(&m->conditions[i].regex);
        m->n = 0;
}

static bool holds(const struct condition *c, const char *text)
{
        char cut[MATCH_TEXT_MAX + 1];

        switch (c->op) {
        case MATCH_EQUAL:
                return !strcmp(text, c->text);
        case MATCH_NOT_EQUAL:
                return strcmp(text, c->text) != 0;
        case MATCH_REGEX:
        case MATCH_NOT_REGEX:
                break;
        }
        text_join(cut, sizeof(cut), text, NULL);
        return (regexec(&c->regex, cut, 0, NULL, 0) == 0) == (c->op == MATCH_REGEX);
}

bool matcher_matches(const struct matcher *m, const char *const texts[BAND_TEXTS])
{
        for (size_t i = 0; i < m->n; i++) {
                const char *text = texts[m->conditions[i].which];

                if (!holds(&m->conditions[i], text ? text : ""))
                        return false;
        }
        return true;
}
