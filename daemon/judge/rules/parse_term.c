/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: operands. A number is digits, unit and period; each is a token of its own, so "10 m" is read as "10m". A call
 * takes one series by name: windows are kept for series, not for sums of them.
 */
#include "daemon/judge/rules/parser.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/nearest.h"
#include "daemon/judge/rules/matcher.h"

#define WINDOW_MAX_S 172800.0 /* how far back a series reaches: 48 h */

/* ----------------------------------------------------------------- numbers */

/* After a '/': a period that is not the name of a function, "min" but not "min(". */
static const struct rule_unit *period_ahead(const struct parser *p)
{
        struct lexer ahead = p->lexer;
        const struct rule_unit *u;

        if (!lexer_is(&ahead, "/"))
                return NULL;
        lexer_next(&ahead);
        u = ahead.token.kind == TOKEN_NAME ? unit_find_period(ahead.token.text, ahead.token.size) : NULL;
        lexer_next(&ahead);
        return u && !lexer_is(&ahead, "(") ? u : NULL;
}

/* Takes a unit; NULL when there is none, with p->failed when there is a word that is not a unit. */
static const struct rule_unit *parse_unit(struct parser *p)
{
        const struct token *t = &p->lexer.token;
        const struct rule_unit *u;
        const char *meant;
        char what[48];

        if (!lexer_is(&p->lexer, "%") && (t->kind != TOKEN_NAME || parser_at_keyword(p)))
                return NULL;
        u = unit_find(t->text, t->size);
        if (u) {
                lexer_next(&p->lexer);
                return u;
        }
        meant = unit_nearest(t->text, t->size);
        if (meant)
                (void)FAIL(p, t->column, parser_found(p, what), " is not a unit; did you mean '", meant, "'?");
        else
                (void)FAIL(p, t->column, parser_found(p, what),
                           " is not a unit; expected B KiB MiB GiB, ms s m h d, % or nothing");
        return NULL;
}

static bool put_number(struct parser *p, struct node *n, const struct token *digits, const struct rule_unit *unit,
                       const struct rule_unit *period)
{
        char text[96], plain[64];
        struct text_out o;

        if (digits->size >= sizeof(plain))
                return REFUSE(p, n->column, "this number has too many digits");
        memcpy(plain, digits->text, digits->size);
        plain[digits->size] = '\0';
        n->value = strtod(plain, NULL) * (unit ? unit->factor : 1) / (period ? period->factor : 1);
        n->type = unit ? unit->type : TYPE_PLAIN;
        if (!(n->value < 1e300))
                return REFUSE(p, n->column, "this number is too large");
        if (period && !type_divide(n->type, TYPE_SECONDS, &n->type))
                return false;
        text_out_init(&o, text, sizeof(text));
        text_put(&o, plain);
        text_put(&o, unit ? unit->name : "");
        text_put(&o, period ? "/" : "");
        text_put(&o, period ? period->name : "");
        n->text = arena_strndup(&p->memory->arena, text, o.used);
        return n->text != NULL;
}

const struct node *parse_number(struct parser *p)
{
        struct token digits = p->lexer.token;
        struct node *n = parser_node(p, NODE_NUMBER, digits.column);
        const struct rule_unit *unit, *period;

        lexer_next(&p->lexer);
        unit = parse_unit(p);
        period = period_ahead(p);
        if (p->failed || !n)
                return NULL;
        if (period) {
                lexer_next(&p->lexer);
                lexer_next(&p->lexer);
        }
        return put_number(p, n, &digits, unit, period) ? n : NULL;
}

/* ------------------------------------------------------------------ series */

/* What is between the quotes, escapes resolved. */
static const char *string_text(struct parser *p)
{
        const struct token *t = &p->lexer.token;
        char *text = arena_zalloc(&p->memory->arena, t->size);
        size_t n = 0;

        for (uint32_t i = 1; text && i + 1 < t->size; i++) {
                /* \" and \\ are escapes here; any other backslash belongs to the regular expression */
                if (t->text[i] == '\\' && (t->text[i + 1] == '"' || t->text[i + 1] == '\\') && i + 2 < t->size)
                        i++;
                text[n++] = t->text[i];
        }
        return text;
}

/* The name as a string, cut to fit. */
static const char *name_text(const struct token *name, char out[40])
{
        struct text_out o;

        text_out_init(&o, out, 40);
        text_put_n(&o, name->text, name->size);
        return out;
}

static bool parse_which(struct parser *p, enum band_text *ret)
{
        char typed[40];
        struct nearest near = { .typed = name_text(&p->lexer.token, typed) };

        for (unsigned i = 0; i < BAND_TEXTS; i++) {
                if (lexer_is(&p->lexer, band_text_name(i))) {
                        *ret = i;
                        lexer_next(&p->lexer);
                        return true;
                }
                nearest_try(&near, band_text_name(i));
        }
        if (near.found && p->lexer.token.kind == TOKEN_NAME)
                return REFUSE(p, p->lexer.token.column, "a band has no '", typed, "'; did you mean '", near.found,
                              "'?");
        return parser_refuse(p, "label, module, source or type");
}

static bool parse_match_op(struct parser *p, enum match_op *ret)
{
        static const char *const names[] = { "=", "!=", "=~", "!~" };

        for (unsigned i = 0; i < 4; i++) {
                if (parser_accept(p, names[i])) {
                        *ret = i;
                        return true;
                }
        }
        return parser_refuse(p, "= != =~ or !~");
}

static bool parse_condition(struct parser *p, struct matcher *m)
{
        enum band_text which;
        enum match_op op;
        struct error wrong;

        if (!parse_which(p, &which) || !parse_match_op(p, &op))
                return false;
        if (p->lexer.token.kind != TOKEN_STRING)
                return parser_refuse(p, "a string in double quotes");
        uint32_t column = p->lexer.token.column;
        const char *text = string_text(p);
        if (!text)
                return REFUSE(p, column, "the expression is too large");
        if (!matcher_add(m, which, op, text, &wrong))
                return REFUSE(p, column, wrong.text);
        lexer_next(&p->lexer);
        return true;
}

/* {label=~"...", module="..."}; NULL with or without p->failed: {} means any band. */
static struct matcher *parse_matcher(struct parser *p)
{
        struct expr_memory *memory = p->memory;
        struct matcher *m;

        if (!parser_accept(p, "{") || parser_accept(p, "}"))
                return NULL;
        m = memory->n_matchers < MATCHERS_MAX ? arena_zalloc(&memory->arena, sizeof(*m)) : NULL;
        if (!m)
                return (struct matcher *)FAIL(p, p->lexer.token.column, "too many band{...} in one expression");
        memory->matchers[memory->n_matchers++] = m;
        do
                if (!parse_condition(p, m))
                        return NULL;
        while (parser_accept(p, ","));
        return parser_expect(p, "}", ", or }") ? m : NULL;
}

static const struct node *unknown_series(struct parser *p, const struct token *name)
{
        char typed[40];
        const char *meant = series_word_nearest(name_text(name, typed));

        if (function_word_find(name->text, name->size))
                return FAIL(p, name->column, typed, " is a function; expected ", typed, "(SERIES, TIME)");
        if (meant)
                return FAIL(p, name->column, "unknown series '", typed, "'; did you mean '", meant, "'?");
        return FAIL(p, name->column, "unknown name '", typed,
                    "'; expected a series such as live, heap, rss, gc_pause, or a function such as slope, p99, leak");
}

/* A series by its name; the name's token has been taken. */
static struct node *parse_series(struct parser *p, const struct token *name)
{
        const struct series_word *word = series_word_find(name->text, name->size);
        struct node *n;

        if (!word)
                return (struct node *)unknown_series(p, name);
        n = parser_node(p, NODE_SERIES, name->column);
        if (!n)
                return NULL;
        n->series = word;
        n->type = word->type;
        p->of_bands |= word->id == RULE_BAND;
        p->of_run |= !(word->flags & SERIES_OF_TARGET);
        if (word->id == RULE_BAND)
                n->matcher = parse_matcher(p);
        return p->failed ? NULL : n;
}

/* --------------------------------------------------------------- functions */

static bool parse_quantile(struct parser *p, struct node *call)
{
        const struct node *q;

        if (p->lexer.token.kind != TOKEN_NUMBER)
                return parser_refuse(p, "which quantile, a number from 0 to 1 such as 0.9");
        q = parse_number(p);
        if (!q)
                return false;
        if (q->type.bytes || q->type.seconds || q->value > 1)
                return REFUSE(p, q->column, "a quantile is a number from 0 to 1, such as 0.9 or 90%");
        call->quantile = q->value;
        call->quantile_text = q->text;
        return parser_expect(p, ",", "a comma and the series");
}

/* The series inside a call; moved into the call's own node. */
static bool parse_subject(struct parser *p, struct node *call)
{
        struct token name = p->lexer.token;
        const struct function_word *f = call->function;
        struct node *series;

        if (name.kind != TOKEN_NAME || parser_at_keyword(p))
                return parser_refuse(p, "the name of a series");
        lexer_next(&p->lexer);
        if (lexer_is(&p->lexer, "(") && function_word_find(name.text, name.size))
                return REFUSE(p, name.column, f->name, "() takes the name of a series, not another function");
        series = parse_series(p, &name);
        if (!series)
                return false;
        call->series = series->series;
        call->matcher = series->matcher;
        if ((series->series->flags & f->needs) != f->needs)
                return REFUSE(p, name.column, f->name, "() does not apply to ", series->series->name,
                              f->needs & SERIES_HAS_VERDICT
                                      ? ": only live, heap, blocks, rss, foreign and band have verdicts"
                                      : ": it has no history");
        return true;
}

static bool parse_window(struct parser *p, struct node *call)
{
        const struct function_word *f = call->function;

        if (!parser_accept(p, ",")) {
                if (f->window != WINDOW_MUST)
                        return true;
                return parser_refuse(p, "a comma and a time, such as 30s");
        }
        uint32_t column = p->lexer.token.column;
        if (f->window == WINDOW_NONE)
                return REFUSE(p, column, f->name, "() takes a series and nothing else");
        call->window =
                p->lexer.token.kind == TOKEN_NUMBER ? parse_number(p) : parser_unexpected(p, "a time, such as 10m");
        if (!call->window)
                return false;
        if (call->window->type.seconds != 1 || call->window->type.bytes != 0)
                return REFUSE(p, column, "a window is a time; expected a unit such as in 30s, 10m, 6h");
        if (call->window->value < 1 || call->window->value > WINDOW_MAX_S)
                return REFUSE(p, column, "a window is from 1s to 48h long");
        return true;
}

static const struct node *parse_call(struct parser *p, const struct token *name)
{
        struct node *n = parser_node(p, NODE_CALL, name->column);

        if (!n)
                return NULL;
        n->function = function_word_find(name->text, name->size);
        if (!n->function) {
                char typed[40];
                const char *meant = function_word_nearest(name_text(name, typed));

                if (series_word_find(name->text, name->size))
                        return FAIL(p, name->column, typed, " is a series and takes no ( )");
                if (meant)
                        return FAIL(p, name->column, "unknown function '", typed, "'; did you mean '", meant, "'?");
                return FAIL(p, name->column, "unknown function '", typed,
                            "'; expected one such as slope, max, p99, increase, leak");
        }
        lexer_next(&p->lexer); /* ( */
        if ((n->function->takes_quantile && !parse_quantile(p, n)) || !parse_subject(p, n) || !parse_window(p, n) ||
            !parser_expect(p, ")", "a closing )"))
                return NULL;
        if (!function_type(n->function, n->series->type, &n->type))
                return FAIL(p, n->column, "the powers of bytes and seconds grow too large here");
        return n;
}

const struct node *parse_named(struct parser *p)
{
        struct token name = p->lexer.token;

        lexer_next(&p->lexer);
        return lexer_is(&p->lexer, "(") ? parse_call(p, &name) : parse_series(p, &name);
}
