/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: recursive descent, one function per level of precedence. Types are computed as nodes are made, so that a
 * mistake is reported at the first place that shows it. Depth and text are bounded. The first error is kept; every
 * function returns NULL from then on.
 */
#include "daemon/judge/rules/parser.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/judge/rules/expr.h"
#include "daemon/judge/rules/matcher.h"

#define ARENA_MAX (256u * 1024)

static const struct node *parse_or(struct parser *p);

static const struct node *parse_primary(struct parser *p)
{
        const struct node *n;

        if (p->lexer.token.kind == TOKEN_NUMBER)
                return parse_number(p);
        if (parser_accept(p, "(")) {
                n = parse_or(p);
                return n && parser_expect(p, ")", "a closing )") ? n : NULL;
        }
        if (p->lexer.token.kind != TOKEN_NAME || parser_at_keyword(p))
                return parser_unexpected(p, "a series, a function, a number or (");
        return parse_named(p);
}

static const struct node *make_negation(struct parser *p, enum node_kind kind, uint32_t column, const struct node *of)
{
        struct node *n = of ? parser_node(p, kind, column) : NULL;
        char name[TYPE_NAME_MAX];

        if (!n)
                return NULL;
        if (of->type.boolean != (kind == NODE_NOT))
                return FAIL(p, column, kind == NODE_NOT ? "not" : "-", " is followed by ", type_name(of->type, name),
                            kind == NODE_NOT ? "; expected a condition, such as live > 1GiB" : "; expected a number");
        n->left = of;
        n->type = of->type;
        return n;
}

static const struct node *parse_sign(struct parser *p)
{
        uint32_t column = p->lexer.token.column;
        const struct node *n;

        if (p->depth == EXPR_DEPTH_MAX)
                return FAIL(p, column, "too many levels of ( ), not and -: at most 50");
        if (!lexer_is(&p->lexer, "-"))
                return parse_primary(p);
        lexer_next(&p->lexer);
        p->depth++;
        n = make_negation(p, NODE_NEGATE, column, parse_sign(p));
        p->depth--;
        return n;
}

static bool is_zero(const struct node *n)
{
        return n->kind == NODE_NUMBER && n->value == 0 && n->type.sort == SORT_PLAIN && !n->type.bytes &&
               !n->type.seconds;
}

static const struct node *report_mismatch(struct parser *p, enum operator op, uint32_t column, struct type a,
                                          struct type b)
{
        char left[TYPE_NAME_MAX], right[TYPE_NAME_MAX];

        return FAIL(p, column, operators[op].name, operator_is_comparison(op) ? " compares " : " combines ",
                    type_name(a, left), " with ", type_name(b, right),
                    "; expected the same on both sides (numbers take units: 100MiB, 30s, 5%, 2/min)");
}

static bool binary_type(struct parser *p, const struct node *n, struct type *ret)
{
        struct type a = n->left->type, b = n->right->type;
        bool zero = is_zero(n->left) || is_zero(n->right); /* 0 is the same in every unit */
        char name[TYPE_NAME_MAX];

        if (operator_is_logical(n->op)) {
                *ret = TYPE_BOOLEAN;
                if (a.boolean && b.boolean)
                        return true;
                return REFUSE(p, (a.boolean ? n->right : n->left)->column, operators[n->op].name,
                              " combines conditions, but this is ", type_name(a.boolean ? b : a, name),
                              "; expected a condition, such as live > 1GiB");
        }
        if (a.boolean || b.boolean)
                return REFUSE(p, (a.boolean ? n->left : n->right)->column, operators[n->op].name,
                              " has a condition on one side; expected a number");
        if (n->op == OP_MULTIPLY || n->op == OP_DIVIDE) {
                if ((n->op == OP_MULTIPLY ? type_multiply : type_divide)(a, b, ret))
                        return true;
                return REFUSE(p, n->column, "the powers of bytes and seconds grow too large here");
        }
        if (!type_join(a, b, ret) && !zero) {
                report_mismatch(p, n->op, n->column, a, b);
                return false;
        }
        if (zero)
                *ret = is_zero(n->left) ? b : a;
        if (operator_is_comparison(n->op))
                *ret = TYPE_BOOLEAN;
        return true;
}

static const struct node *make_binary(struct parser *p, enum operator op, uint32_t column, const struct node *left,
                                      const struct node *right)
{
        struct node *n = left && right ? parser_node(p, NODE_BINARY, column) : NULL;

        if (!n)
                return NULL;
        n->op = op;
        n->left = left;
        n->right = right;
        return binary_type(p, n, &n->type) ? n : NULL;
}

/* The current token as an operator of `level`; OPERATORS when it is not one. */
static enum operator operator_at(const struct parser *p, enum level level)
{
        for (unsigned op = 0; op < OPERATORS; op++)
                if (operators[op].level == level && lexer_is(&p->lexer, operators[op].name))
                        return op;
        return OPERATORS;
}

/* A chain of operators of one level, left-associative. */
static const struct node *parse_row(struct parser *p, enum level level,
                                    const struct node *(*parse_side)(struct parser *p))
{
        const struct node *left = parse_side(p);
        unsigned length = 0;
        enum operator op;

        while (left && (op = operator_at(p, level)) != OPERATORS) {
                uint32_t column = p->lexer.token.column;
                lexer_next(&p->lexer);
                if (level == LEVEL_COMPARE && length)
                        return FAIL(p, column, "comparisons cannot be chained; combine two with and");
                if (++length + p->depth > EXPR_DEPTH_MAX)
                        return FAIL(p, column, "too many operators in a row: at most 50");
                left = make_binary(p, op, column, left, parse_side(p));
        }
        return left;
}

static const struct node *parse_product(struct parser *p)
{
        return parse_row(p, LEVEL_MULTIPLY, parse_sign);
}

static const struct node *parse_sum(struct parser *p)
{
        return parse_row(p, LEVEL_ADD, parse_product);
}

static const struct node *parse_not(struct parser *p)
{
        uint32_t column = p->lexer.token.column;
        const struct node *n;

        if (!lexer_is(&p->lexer, "not"))
                return parse_row(p, LEVEL_COMPARE, parse_sum);
        if (p->depth == EXPR_DEPTH_MAX)
                return FAIL(p, column, "too many levels of ( ), not and -: at most 50");
        lexer_next(&p->lexer);
        p->depth++;
        n = make_negation(p, NODE_NOT, column, parse_not(p));
        p->depth--;
        return n;
}

static const struct node *parse_and(struct parser *p)
{
        return parse_row(p, LEVEL_AND, parse_not);
}

static const struct node *parse_or(struct parser *p)
{
        const struct node *n;

        if (p->depth == EXPR_DEPTH_MAX)
                return FAIL(p, p->lexer.token.column, "too many levels of ( ), not and -: at most 50");
        p->depth++;
        n = parse_row(p, LEVEL_OR, parse_and);
        p->depth--;
        return n;
}

/* --------------------------------------------------------------- interface */

static const struct node *parse_whole(struct parser *p)
{
        const struct node *n;
        char name[TYPE_NAME_MAX];

        if (p->lexer.token.kind == TOKEN_END)
                return FAIL(p, 1, "the expression is empty; expected a condition, such as live > 1GiB");
        n = parse_or(p);
        if (!n)
                return NULL;
        if (p->lexer.token.kind != TOKEN_END)
                return parser_unexpected(p, lexer_is(&p->lexer, "=") ? "== to compare" : "an operator or the end");
        if (!n->type.boolean)
                return FAIL(p, n->column, "the expression is ", type_name(n->type, name),
                            "; expected a condition, such as live > 1GiB");
        return n;
}

bool expr_parse(const char *text, struct expr *ret, struct expr_error *ret_error)
{
        struct parser p = { .error = ret_error };

        *ret = (struct expr){ .root = NULL };
        if (strlen(text) > EXPR_TEXT_MAX)
                return REFUSE(&p, 1, "the expression is longer than 4096 bytes");
        p.memory = calloc(1, sizeof(*p.memory));
        if (!p.memory)
                return REFUSE(&p, 1, "out of memory");
        arena_init(&p.memory->arena, ARENA_MAX);
        ret->memory = p.memory;
        lexer_init(&p.lexer, text);
        ret->root = parse_whole(&p);
        ret->of_bands = p.of_bands;
        ret->of_target = !p.of_run;
        if (!ret->root || p.failed) {
                expr_destroy(ret);
                return false;
        }
        return true;
}

void expr_destroy(struct expr *e)
{
        struct expr_memory *memory = e->memory;

        if (memory) {
                for (size_t i = 0; i < memory->n_matchers; i++)
                        matcher_done(memory->matchers[i]);
                arena_done(&memory->arena);
                free(memory);
        }
        *e = (struct expr){ .root = NULL };
}
