/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/judge/rules/parser.h"
#include "proto/base/array.h"

#include <string.h>

static int is_digit(char c)
{
        return c >= '0' && c <= '9';
}

static int is_letter(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Takes `size` bytes as a token; columns count characters, not the bytes inside one. */
static void set_token(struct lexer *l, enum token_kind kind, size_t size)
{
        l->token = (struct token){ .kind = kind, .text = l->at, .size = (uint32_t)size, .column = l->column };
        for (size_t i = 0; i < size; i++)
                l->column += ((unsigned char)l->at[i] & 0xc0) != 0x80;
        l->at += size;
}

static void bad(struct lexer *l, const char *error)
{
        l->error = error;
        set_token(l, TOKEN_BAD, *l->at != '\0');
}

/* digits [. digits] [e [+-] digits] */
static void number(struct lexer *l)
{
        const char *p = l->at;

        while (is_digit(*p))
                p++;
        if (*p == '.') {
                if (!is_digit(p[1])) {
                        bad(l, "expected digits after the decimal point");
                        return;
                }
                for (p++; is_digit(*p); p++)
                        ;
        }
        if ((*p == 'e' || *p == 'E') && (is_digit(p[1]) || ((p[1] == '+' || p[1] == '-') && is_digit(p[2]))))
                for (p += 2; is_digit(*p); p++)
                        ;
        set_token(l, TOKEN_NUMBER, (size_t)(p - l->at));
}

static void string(struct lexer *l)
{
        const char *p = l->at + 1;

        while (*p && *p != '"') {
                if (*p == '\\' && p[1])
                        p++;
                p++;
        }
        if (!*p)
                bad(l, "the string that begins here has no closing quote");
        else
                set_token(l, TOKEN_STRING, (size_t)(p + 1 - l->at));
}

static void symbol(struct lexer *l)
{
        static const char *const pairs[] = { "<=", ">=", "==", "!=", "=~", "!~" };

        for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
                if (!strncmp(l->at, pairs[i], 2)) {
                        set_token(l, TOKEN_SYMBOL, 2);
                        return;
                }
        }
        if (strchr("(){},+-*/%<>=", *l->at))
                set_token(l, TOKEN_SYMBOL, 1);
        else
                bad(l, "this character has no meaning here");
}

void lexer_next(struct lexer *l)
{
        while (*l->at == ' ' || *l->at == '\t' || *l->at == '\n' || *l->at == '\r') {
                l->at++;
                l->column++;
        }
        if (*l->at == '\0') {
                set_token(l, TOKEN_END, 0);
        } else if (is_digit(*l->at)) {
                number(l);
        } else if (is_letter(*l->at)) {
                const char *p = l->at;
                while (is_letter(*p) || is_digit(*p))
                        p++;
                set_token(l, TOKEN_NAME, (size_t)(p - l->at));
        } else if (*l->at == '"') {
                string(l);
        } else {
                symbol(l);
        }
}

void lexer_init(struct lexer *l, const char *text)
{
        *l = (struct lexer){ .at = text, .column = 1 };
        lexer_next(l);
}

int lexer_is(const struct lexer *l, const char *text)
{
        return (l->token.kind == TOKEN_SYMBOL || l->token.kind == TOKEN_NAME) && strlen(text) == l->token.size &&
               !memcmp(l->token.text, text, l->token.size);
}
