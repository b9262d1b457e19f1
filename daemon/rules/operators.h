/* SPDX-License-Identifier: BSD-3-Clause */
/* operators.h - names and precedence of the operators, for parser and printer. */
#ifndef HW_DAEMON_RULES_OPERATORS_H
#define HW_DAEMON_RULES_OPERATORS_H

#include "daemon/rules/expr.h"

/* From loosest to tightest. */
enum level { LEVEL_OR = 1, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARE, LEVEL_ADD, LEVEL_MULTIPLY, LEVEL_SIGN, LEVEL_PRIMARY };

/* "or", "<=" ... */
const char *operator_name(enum operator op);

/* The same in words: "is above". */
const char *operator_words(enum operator op);

enum level operator_level(enum operator op);

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

#endif
