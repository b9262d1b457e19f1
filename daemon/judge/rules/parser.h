/* SPDX-License-Identifier: BSD-3-Clause */
/* parser.h - what the two halves of the parser share: parse.c (operators) and parse_term.c (operands). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/judge/rules/expr.h"
#include "daemon/judge/rules/type.h"
#include "proto/base/arena.h"
#include "proto/base/text_out.h"

/*
 * An expression's text as tokens. Borrows the text; allocates nothing.
 */

enum token_kind {
        TOKEN_END,
        TOKEN_NUMBER, /* 1.5, 2e3; the unit is a token of its own */
        TOKEN_NAME,   /* letters, digits, _ */
        TOKEN_STRING, /* "..." with \" and \\; text includes the quotes */
        TOKEN_SYMBOL, /* ( ) { } , + - * / % < <= > >= == != = =~ !~ */
        TOKEN_BAD     /* see lexer.error */
};

struct token {
        enum token_kind kind;
        const char *text;
        uint32_t size;   /* bytes */
        uint32_t column; /* from 1, in characters */
};

struct lexer {
        const char *at;
        uint32_t column;
        struct token token; /* the current one */
        const char *error;  /* static sentence, for TOKEN_BAD */
};

/* Reads the first token. `text` is NUL-terminated. */
void lexer_init(struct lexer *l, const char *text);

void lexer_next(struct lexer *l);

/* Whether the current token is this symbol or name. */
int lexer_is(const struct lexer *l, const char *text);

#define MATCHERS_MAX 16u /* band{...} with conditions in one expression */

struct expr_memory {
        struct arena arena;
        struct matcher *matchers[MATCHERS_MAX];
        size_t n_matchers;
};

struct parser {
        struct lexer lexer;
        struct expr_memory *memory;
        struct expr_error *error, ignored;
        unsigned depth;
        bool failed;
        bool of_bands, of_run;
};

/* Sets the error to the concatenation of the texts, unless there is one already. The value is NULL. */
#define FAIL(p, column, ...)                                                                                           \
        ((void)text_join(parser_error(p, column), EXPR_ERROR_MAX, __VA_ARGS__, NULL), (const struct node *)NULL)

/* The same where the value is false. */
#define REFUSE(p, column, ...) ((void)FAIL(p, column, __VA_ARGS__), false)

char *parser_error(struct parser *p, uint32_t column);

/* The current token for a message, cut: "'foo'" or "the end". */
const char *parser_found(const struct parser *p, char out[48]);

/* "found 'x'; expected ..." at the current token; NULL, or false. */
const struct node *parser_unexpected(struct parser *p, const char *expected);
static inline bool parser_refuse(struct parser *p, const char *expected)
{
        (void)parser_unexpected(p, expected);
        return false;
}

/* NULL after an error. */
struct node *parser_node(struct parser *p, enum node_kind kind, uint32_t column);

/* Skips a symbol or word if it is the current token. */
bool parser_accept(struct parser *p, const char *symbol);
bool parser_expect(struct parser *p, const char *symbol, const char *words);

/* and, or, unless, not */
bool parser_at_keyword(const struct parser *p);

/* A number with its unit, a series, a call. NULL after an error. */
const struct node *parse_number(struct parser *p);
const struct node *parse_named(struct parser *p);

/* unit.c: the units that a number in an expression may have. */

struct rule_unit {
        const char *name;
        double factor; /* multiplied by this: bytes, seconds, or a plain number */
        struct type type;
};

/* "MiB", "ms", "%" ...; NULL when there is no such unit. */
const struct rule_unit *unit_find(const char *name, size_t size);

/* What may follow a '/': "s", "min", "h", "d"; its length in seconds. NULL as above. */
const struct rule_unit *unit_find_period(const char *name, size_t size);

/* The unit nearest to a mistyped one, or NULL. */
const char *unit_nearest(const char *name, size_t size);
