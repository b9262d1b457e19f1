/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one walk for both forms. Parentheses are printed only where the parser needs them. Numbers are printed as
 * written.
 */
#include "daemon/judge/rules/expr.h"

#include "proto/base/text_out.h"
#include "daemon/judge/rules/matcher.h"

struct printer {
        struct text_out out;
        bool words;
};

static void print_node(struct printer *p, const struct node *n, enum level least);

static void put_text(struct printer *p, const char *text)
{
        text_put(&p->out, text);
}

static void put_string(struct printer *p, const char *text)
{
        put_text(p, "\"");
        for (; *text; text++) {
                if (*text == '"' || *text == '\\')
                        put_text(p, "\\");
                text_put_n(&p->out, text, 1);
        }
        put_text(p, "\"");
}

static void put_series(struct printer *p, const struct node *n)
{
        put_text(p, p->words ? n->series->words : n->series->name);
        if (n->matcher) {
                static const char *const ops[] = { "=", "!=", "=~", "!~" };
                static const char *const words[] = { " is ", " is not ", " matches ", " does not match " };
                put_text(p, p->words ? " whose " : "{");
                for (size_t i = 0; i < n->matcher->n; i++) {
                        if (i)
                                put_text(p, p->words ? " and " : ", ");
                        put_text(p, band_text_name(n->matcher->conditions[i].which));
                        put_text(p, (p->words ? words : ops)[n->matcher->conditions[i].op]);
                        put_string(p, n->matcher->conditions[i].text);
                }
                if (!p->words)
                        put_text(p, "}");
        }
}

static void call_words(struct printer *p, const struct node *n)
{
        put_text(p, n->function->words);
        put_text(p, " ");
        if (n->function->takes_quantile) {
                put_text(p, n->quantile_text);
                put_text(p, " of ");
        }
        put_series(p, n);
        if (n->window) {
                put_text(p, n->function->id == FN_ABSENT ? " for " : " over ");
                put_text(p, n->window->text);
        }
}

static void call_text(struct printer *p, const struct node *n)
{
        put_text(p, n->function->name);
        put_text(p, "(");
        if (n->function->takes_quantile) {
                put_text(p, n->quantile_text);
                put_text(p, ", ");
        }
        put_series(p, n);
        if (n->window) {
                put_text(p, ", ");
                put_text(p, n->window->text);
        }
        put_text(p, ")");
}

static void print_node(struct printer *p, const struct node *n, enum level least)
{
        bool inside = node_level(n) < least;

        if (inside)
                put_text(p, "(");
        switch (n->kind) {
        case NODE_NUMBER:
                put_text(p, n->text);
                break;
        case NODE_SERIES:
                put_series(p, n);
                break;
        case NODE_CALL:
                if (p->words)
                        call_words(p, n);
                else
                        call_text(p, n);
                break;
        case NODE_NOT:
                put_text(p, p->words ? "it is not true that " : "not ");
                print_node(p, n->left, LEVEL_NOT);
                break;
        case NODE_NEGATE:
                put_text(p, "-");
                print_node(p, n->left, LEVEL_SIGN);
                break;
        case NODE_BINARY: {
                enum level level = operators[n->op].level;
                /* Comparisons do not chain: both sides are sums. */
                print_node(p, n->left, level == LEVEL_COMPARE ? LEVEL_ADD : level);
                put_text(p, " ");
                put_text(p, p->words ? operators[n->op].words : operators[n->op].name);
                put_text(p, " ");
                print_node(p, n->right, level + 1);
        } break;
        }
        if (inside)
                put_text(p, ")");
}

static bool print_all(const struct expr *e, bool words, char *out, size_t size)
{
        struct printer p = { .words = words };

        text_out_init(&p.out, out, size);
        print_node(&p, e->root, LEVEL_OR);
        return !p.out.cut;
}

bool expr_print(const struct expr *e, char *out, size_t size)
{
        return print_all(e, false, out, size);
}

bool expr_explain(const struct expr *e, char *out, size_t size)
{
        return print_all(e, true, out, size);
}
