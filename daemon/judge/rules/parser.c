/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/judge/rules/parser.h"

/* Where the message goes: the first error is kept, later ones are discarded. */
char *parser_error(struct parser *p, uint32_t column)
{
        if (p->failed)
                p->error = &p->ignored;
        p->failed = true;
        p->error->column = column;
        return p->error->text;
}

const char *parser_found(const struct parser *p, char out[48])
{
        const struct token *t = &p->lexer.token;
        struct text_out o;

        if (t->kind == TOKEN_END)
                return "the end";
        text_out_init(&o, out, 48);
        text_put(&o, "'");
        text_put_n(&o, t->text, t->size < 40 ? t->size : 40);
        text_put(&o, "'");
        return out;
}

const struct node *parser_unexpected(struct parser *p, const char *expected)
{
        char what[48];

        if (p->lexer.token.kind == TOKEN_BAD)
                return FAIL(p, p->lexer.token.column, p->lexer.error);
        return FAIL(p, p->lexer.token.column, "found ", parser_found(p, what), "; expected ", expected);
}

/* ------------------------------------------------------------------- nodes */

struct node *parser_node(struct parser *p, enum node_kind kind, uint32_t column)
{
        struct node *n = arena_zalloc(&p->memory->arena, sizeof(*n));

        if (!n)
                return (struct node *)FAIL(p, column, "the expression is too large");
        n->kind = kind;
        n->column = column;
        return n;
}

bool parser_accept(struct parser *p, const char *symbol)
{
        if (!lexer_is(&p->lexer, symbol))
                return false;
        lexer_next(&p->lexer);
        return true;
}

bool parser_expect(struct parser *p, const char *symbol, const char *words)
{
        return parser_accept(p, symbol) || parser_refuse(p, words);
}

bool parser_at_keyword(const struct parser *p)
{
        return lexer_is(&p->lexer, "and") || lexer_is(&p->lexer, "or") || lexer_is(&p->lexer, "unless") ||
               lexer_is(&p->lexer, "not");
}
