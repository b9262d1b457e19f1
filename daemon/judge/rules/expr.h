/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * expr.h - an expression of a rule: text to a typed tree, and back.
 *
 *      slope(live, 10m) > 1MiB/min and not crashed
 *
 * Operators from loosest to tightest: or; and, unless; not; comparisons (not
 * chained); + -; * /; sign. docs/RULES.md is the reference of the language.
 *
 * The tree is bounded: EXPR_TEXT_MAX bytes of text, EXPR_DEPTH_MAX levels.
 * It is immutable and lives until expr_destroy.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/judge/rules/type.h"
#include "daemon/judge/rules/vocabulary.h"

#define EXPR_TEXT_MAX  4096u
#define EXPR_DEPTH_MAX 50u
#define EXPR_ERROR_MAX 384u

struct matcher; /* matcher.h */

enum node_kind { NODE_NUMBER, NODE_SERIES, NODE_CALL, NODE_NOT, NODE_NEGATE, NODE_BINARY };

enum operator{
        OP_OR,
        OP_AND,
        OP_UNLESS,
        OP_LESS,
        OP_LESS_EQUAL,
        OP_GREATER,
        OP_GREATER_EQUAL,
        OP_EQUAL,
        OP_NOT_EQUAL,
        OP_ADD,
        OP_SUBTRACT,
        OP_MULTIPLY,
        OP_DIVIDE,
        OPERATORS
};

struct node {
        enum node_kind kind;
        struct type type;
        uint32_t column; /* of its first token, from 1 */

        double value;                         /* NUMBER: in bytes, seconds ... */
        const char *text;                     /* NUMBER: as written, "1.5MiB/min" */
        const struct series_word *series;     /* SERIES; CALL: its series */
        struct matcher *matcher;              /* the same, band{...}: NULL = any band */
        const struct function_word *function; /* CALL */
        double quantile;                      /* CALL of quantile(): 0 .. 1 */
        const char *quantile_text;
        const struct node *window;       /* CALL: a NUMBER in seconds, or NULL */
        enum operator op;                /* BINARY */
        const struct node *left, *right; /* BINARY; NOT and NEGATE: left */
};

struct expr {
        const struct node *root; /* its type is boolean */
        bool of_bands;           /* refers to band{...}: one alert per band */
        bool of_target;          /* refers only to the target and its stream: outlives a run */
        void *memory;
};

struct expr_error {
        uint32_t column;           /* from 1, in characters */
        char text[EXPR_ERROR_MAX]; /* what was wrong, what was expected */
};

/* Parses and checks. False with *ret_error filled. */
bool expr_parse(const char *text, struct expr *ret, struct expr_error *ret_error);
void expr_destroy(struct expr *e);

/* The text in its one normal form: parsing it gives the same tree. False when it does not fit. */
bool expr_print(const struct expr *e, char *out, size_t size);

/* The same in plain words: "the slope of live bytes over 10m is above 1MiB/min". */
bool expr_explain(const struct expr *e, char *out, size_t size);

/* From loosest to tightest. */
enum level { LEVEL_OR = 1, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARE, LEVEL_ADD, LEVEL_MULTIPLY, LEVEL_SIGN, LEVEL_PRIMARY };

/* operators.c: for parser and printer. */
struct operator_text {
        const char *name, *words; /* "<=", "is at most" */
        enum level level;
};

extern const struct operator_text operators[OPERATORS];

static inline bool operator_is_logical(enum operator op)
{
        return op <= OP_UNLESS;
}

static inline bool operator_is_comparison(enum operator op)
{
        return op >= OP_LESS && op <= OP_NOT_EQUAL;
}

/* The precedence of a node. */
enum level node_level(const struct node *n);
