/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/judge/rules/matcher.h"

#include <string.h>

static const char *const names[BAND_TEXTS] = { "label", "module", "source", "type", "name" };

const char *band_text_name(enum band_text which)
{
        return which < BAND_TEXTS ? names[which] : NULL;
}

bool matcher_add(struct matcher *m, enum band_text which, enum match_op op, const char *text, struct error *error)
{
        struct condition c = { .which = which, .op = op, .text = text };

        if (m->n == MATCHER_MAX)
                return error_set(error, "a band has at most 8 conditions");
        if (op == MATCH_REGEX || op == MATCH_NOT_REGEX) {
                c.pattern = pattern_new(text, PATTERN_WHOLE, error);
                if (!c.pattern)
                        return false;
        }
        m->conditions[m->n++] = c;
        return true;
}

void matcher_done(struct matcher *m)
{
        for (size_t i = 0; i < m->n; i++)
                pattern_destroy(&m->conditions[i].pattern);
        m->n = 0;
}

/* A text on which the pattern would take too long satisfies neither =~ nor !~. */
static bool holds(const struct condition *c, const char *text)
{
        switch (c->op) {
        case MATCH_EQUAL:
                return !strcmp(text, c->text);
        case MATCH_NOT_EQUAL:
                return strcmp(text, c->text) != 0;
        case MATCH_REGEX:
                return pattern_match(c->pattern, text) == PATTERN_YES;
        case MATCH_NOT_REGEX:
                return pattern_match(c->pattern, text) == PATTERN_NO;
        }
        return false;
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
