/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: people want one number: the left side of the comparison that the alert is about. That is the first one; in
 * `a > 1 or b > 2` the first of the side that holds. In `a > 1 and b > 2` it is `a` also when `b > 2` alone holds, as
 * when an alert is over: the texts are about `a`. Under a `not` no side counts as holding.
 */
#include <math.h>

#include "daemon/judge/rules/eval.h"
#include "daemon/judge/rules/expr.h"

struct search {
        const struct rule_data *data;
        const struct rule_moment *at;
        uint32_t band;
        const struct node *series, *judged; /* first series; first one with a verdict */
};

static double value_of(const struct search *s, const struct node *n)
{
        const struct expr part = { .root = n };

        return expr_eval(&part, s->data, s->at, s->band, NULL);
}

static void find_series(struct search *s, const struct node *n)
{
        if (!n)
                return;
        if (n->series) {
                if (!s->series)
                        s->series = n;
                if (!s->judged && n->series->flags & SERIES_HAS_VERDICT)
                        s->judged = n;
        }
        find_series(s, n->left);
        find_series(s, n->right);
}

/* NULL: there is none. */
static const struct node *comparison_of(const struct search *s, const struct node *n, bool negated)
{
        const bool binary = n && n->kind == NODE_BINARY;

        if (!n || (binary && operator_is_comparison(n->op)))
                return n;
        const struct node *left = comparison_of(s, n->left, negated != (n->kind == NODE_NOT));
        const struct node *right = comparison_of(s, n->right, negated != (binary && n->op == OP_UNLESS));
        const bool choice = binary && n->op == OP_OR && !negated && right;
        return !left || (choice && value_of(s, n->left) != 1 && value_of(s, n->right) == 1) ? right : left;
}

void expr_headline(const struct expr *e, const struct rule_data *data, const struct rule_moment *at, uint32_t band,
                   struct headline *ret)
{
        struct search s = { .data = data, .at = at, .band = band };
        const struct node *comparison = comparison_of(&s, e->root, false), *subject;

        *ret = (struct headline){ .value = (double)NAN, .threshold = (double)NAN };
        find_series(&s, e->root);
        if (comparison) {
                ret->has_value = ret->has_threshold = true;
                ret->value = value_of(&s, comparison->left);
                ret->threshold = value_of(&s, comparison->right);
                ret->type = comparison->left->kind == NODE_NUMBER ? comparison->right->type : comparison->left->type;
        } else if (s.series) {
                struct node newest = { .kind = NODE_SERIES,
                                       .series = s.series->series,
                                       .type = s.series->series->type };

                if (!newest.type.boolean) {
                        ret->has_value = true;
                        ret->type = newest.type;
                        ret->value = value_of(&s, &newest);
                }
        }
        subject = s.judged ? s.judged : s.series;
        if (!subject)
                return;
        ret->subject_has_verdict = subject->series->flags & SERIES_HAS_VERDICT;
        ret->subject = (struct rule_subject){ .id = subject->series->id };
        if (ret->subject.id == RULE_BAND)
                ret->subject.band = band;
}
