/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lexer.h - an expression's text as tokens. Borrows the text; allocates nothing.
 */
#ifndef HW_DAEMON_RULES_LEXER_H
#define HW_DAEMON_RULES_LEXER_H

#include <stdint.h>

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

#endif
