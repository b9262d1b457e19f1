/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/judge/rules/expr.h"

const struct operator_text operators[OPERATORS] = {
        [OP_OR] = { "or", "or", LEVEL_OR },
        [OP_AND] = { "and", "and", LEVEL_AND },
        [OP_UNLESS] = { "unless", "unless", LEVEL_AND },
        [OP_LESS] = { "<", "is below", LEVEL_COMPARE },
        [OP_LESS_EQUAL] = { "<=", "is at most", LEVEL_COMPARE },
        [OP_GREATER] = { ">", "is above", LEVEL_COMPARE },
        [OP_GREATER_EQUAL] = { ">=", "is at least", LEVEL_COMPARE },
        [OP_EQUAL] = { "==", "is", LEVEL_COMPARE },
        [OP_NOT_EQUAL] = { "!=", "is not", LEVEL_COMPARE },
        [OP_ADD] = { "+", "plus", LEVEL_ADD },
        [OP_SUBTRACT] = { "-", "minus", LEVEL_ADD },
        [OP_MULTIPLY] = { "*", "times", LEVEL_MULTIPLY },
        [OP_DIVIDE] = { "/", "divided by", LEVEL_MULTIPLY },
};

enum level node_level(const struct node *n)
{
        switch (n->kind) {
        case NODE_BINARY:
                return operators[n->op].level;
        case NODE_NOT:
                return LEVEL_NOT;
        case NODE_NEGATE:
                return LEVEL_SIGN;
        case NODE_NUMBER:
        case NODE_SERIES:
        case NODE_CALL:
                break;
        }
        return LEVEL_PRIMARY;
}
