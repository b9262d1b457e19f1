/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DESIGN: one recursive walk; NaN is "unknown" for numbers and booleans alike,
 * so arithmetic propagates it by itself and only the logical operators and
 * comparisons check for it.
 *
 * Least squares from co-moments: slope = S_tv / S_tt, R^2 = S_tv^2 / (S_tt S_vv),
 * standard error of the slope = sqrt((S_vv - S_tv^2 / S_tt) / (n - 2) / S_tt)
 * (Draper and Smith, Applied Regression Analysis, 1.4). Its interval is two
 * standard errors either way; it assumes that samples are independent, which
 * those of a heap are not: slope_low(x) without a window is robust.
 */
#include "daemon/judge/rules/eval.h"

#include <math.h>

#include "proto/base/ckd.h"
#include "proto/base/process.h"
#include "proto/base/time.h"

#define UNKNOWN ((double)NAN)

struct eval {
        const struct rule_data *data;
        const struct rule_moment *at;
        uint32_t band;
        uint64_t *still_ns; /* NULL: not wanted */
};

static double eval_node(const struct eval *e, const struct node *n);

/* ------------------------------------------------------------------- series */

static struct rule_subject subject_of(const struct eval *e, const struct node *n)
{
        enum rule_series id = n->series->id;

        return (struct rule_subject){ .id = id, .band = id == RULE_BAND ? e->band : 0 };
}

static void still_for(const struct eval *e, uint64_t ns)
{
        if (e->still_ns && ns < *e->still_ns)
                *e->still_ns = ns;
}

/* Notes for how long a range of a series stays the same; 0 unless it is on the run's clock. */
static void limit_validity_of_range(const struct eval *e, const struct node *n, struct time_range range, bool verdict)
{
        if (!e->still_ns)
                return;
        still_for(e, n->series->flags & SERIES_OF_TARGET
                             ? 0
                             : e->data->still_ns(e->data->ctx, subject_of(e, n), range, verdict));
}

/* The clock that the series is on. */
static uint64_t now_of(const struct eval *e, const struct node *n)
{
        return n->series->flags & SERIES_OF_TARGET ? e->at->target_ns : e->at->time_ns;
}

static double eval_newest(const struct eval *e, const struct node *n)
{
        uint64_t now = now_of(e, n);
        struct trend_cell b;

        if (!(n->series->flags & SERIES_HAS_WINDOWS)) {
                still_for(e, 0);
                return e->data->fact(e->data->ctx, n->series->id, e->at);
        }
        limit_validity_of_range(e, n, (struct time_range){ now, now }, false);
        if (now == UNKNOWN_U64 || !e->data->newest(e->data->ctx, subject_of(e, n), now, &b))
                return UNKNOWN;
        return b.cell.last;
}

static double eval_age(const struct eval *e, const struct node *n)
{
        uint64_t now = now_of(e, n);
        struct trend_cell b;

        still_for(e, 0); /* it grows all the time; compare_age knows more */
        if (now == UNKNOWN_U64 || !e->data->newest(e->data->ctx, subject_of(e, n), now, &b))
                return UNKNOWN;
        return (double)sub_sat(now, b.cell.last_ns) / (double)NS_PER_S;
}

/* ----------------------------------------------------------- window functions */

/* Without a window: all that is kept. */
static struct time_range range_of(const struct eval *e, const struct node *n)
{
        uint64_t now = now_of(e, n);
        double window_ns = n->window ? n->window->value * (double)NS_PER_S : 0;
        struct time_range range = { .from_ns = sub_sat(now, (uint64_t)window_ns), .to_ns = now };

        if (now == UNKNOWN_U64 || !n->window)
                range = (struct time_range){ .from_ns = 0, .to_ns = now == UNKNOWN_U64 ? 0 : now };
        limit_validity_of_range(e, n, range, false);
        if (range.from_ns == 0 && n->window)
                still_for(e, (uint64_t)window_ns - range.to_ns); /* after that its older end begins to move */
        return range;
}

/* The newest sample before the window; without one, the first in it. */
static bool start_of_increase(const struct eval *e, const struct node *n, struct time_range s, double *ret_value,
                              uint64_t *ret_time_ns)
{
        struct trend_cell b;

        if (s.from_ns > 0 && e->data->newest(e->data->ctx, subject_of(e, n), s.from_ns, &b)) {
                *ret_value = b.cell.last;
                *ret_time_ns = b.cell.last_ns;
                return true;
        }
        if (!e->data->oldest(e->data->ctx, subject_of(e, n), s, &b))
                return false;
        *ret_value = n->series->flags & SERIES_CUMULATIVE ? b.cell.min : b.cell.mean;
        *ret_time_ns = u64_sat(b.t_mean * (double)NS_PER_S);
        return true;
}

static double eval_increase(const struct eval *e, const struct node *n, bool per_second)
{
        struct time_range s = range_of(e, n);
        uint64_t start_ns;
        double start;
        struct trend_cell end;

        if (!e->data->newest(e->data->ctx, subject_of(e, n), s.to_ns, &end) ||
            !start_of_increase(e, n, s, &start, &start_ns))
                return UNKNOWN;
        if (!per_second)
                return end.cell.last - start;
        if (end.cell.last_ns <= start_ns)
                return UNKNOWN;
        return (end.cell.last - start) / ((double)(end.cell.last_ns - start_ns) / (double)NS_PER_S);
}

static double fit_line(const struct trend_cell *c, enum function_id id)
{
        double slope = c->cell.n < 3 ? UNKNOWN : trend_cell_slope(c);

        if (id == FN_SLOPE || isnan(slope))
                return slope;
        if (id == FN_FIT)
                return trend_cell_fit(c);
        double rest = fmax(c->m_vv - c->m_tv * slope, 0), se = sqrt(rest / (double)(c->cell.n - 2) / c->m_tt);
        return id == FN_SLOPE_LOW ? slope - 2 * se : slope + 2 * se;
}

static double eval_statistic(const struct eval *e, const struct node *n)
{
        struct time_range s = range_of(e, n);
        enum function_id id = n->function->id;
        struct trend_cell b;

        if (!e->data->span(e->data->ctx, subject_of(e, n), s, &b))
                return UNKNOWN;
        switch (id) {
        case FN_LAST:
                return b.cell.last;
        case FN_MIN:
                return b.cell.min;
        case FN_MAX:
                return b.cell.max;
        case FN_MEAN:
                return b.cell.mean;
        case FN_COUNT:
                return (double)b.cell.n;
        case FN_STDDEV:
                return trend_cell_deviation(&b);
        default:
                return fit_line(&b, id);
        }
}

static double eval_quantile(const struct eval *e, const struct node *n, double q)
{
        struct time_range s = range_of(e, n);

        return e->data->quantile(e->data->ctx, subject_of(e, n), s, q);
}

/* Unknown until the window is full: a program that has just begun is not silent. */
static double eval_absent(const struct eval *e, const struct node *n)
{
        struct time_range s = range_of(e, n);
        uint64_t began = e->data->began_ns(e->data->ctx, n->series->flags & SERIES_OF_TARGET);
        struct trend_cell b;

        if (now_of(e, n) == UNKNOWN_U64)
                return UNKNOWN;
        if (e->data->newest(e->data->ctx, subject_of(e, n), s.to_ns, &b) && b.cell.last_ns >= s.from_ns) {
                still_for(e, b.cell.last_ns - s.from_ns + 1);
                return 0;
        }
        if (began == UNKNOWN_U64 || (double)sub_sat(s.to_ns, began) < n->window->value * (double)NS_PER_S) {
                still_for(e, 0);
                return UNKNOWN;
        }
        return 1;
}

/* ------------------------------------------------------------------ verdicts */

static double eval_verdict(const struct eval *e, const struct node *n)
{
        limit_validity_of_range(e, n, (struct time_range){ 0, now_of(e, n) }, true);
        const enum trend_verdict verdict = e->data->verdict(e->data->ctx, subject_of(e, n));
        if (verdict == TREND_UNKNOWN)
                return UNKNOWN;
        if (n->function->id == FN_LEAK)
                return verdict == TREND_LEAK;
        if (n->function->id == FN_GROWING)
                return verdict >= TREND_GROWING;
        return verdict == TREND_STEADY;
}

static double robust_slope(const struct eval *e, const struct node *n)
{
        struct trend_result r;

        limit_validity_of_range(e, n, (struct time_range){ 0, now_of(e, n) }, true);
        if (!e->data->trend(e->data->ctx, subject_of(e, n), &r) || !r.has_slope)
                return UNKNOWN;
        if (n->function->id == FN_SLOPE)
                return r.slope;
        return n->function->id == FN_SLOPE_LOW ? r.slope_low : r.slope_high;
}

/* A slope without a window is the verdict's where there is one. */
static double eval_slope(const struct eval *e, const struct node *n)
{
        if (!n->window && n->series->flags & SERIES_HAS_VERDICT)
                return robust_slope(e, n);
        return eval_statistic(e, n);
}

static double eval_call(const struct eval *e, const struct node *n)
{
        struct time_range s;

        switch (n->function->id) {
        case FN_AGE:
                return eval_age(e, n);
        case FN_RATE:
                return eval_increase(e, n, true);
        case FN_INCREASE:
                return eval_increase(e, n, false);
        case FN_QUANTILE:
                return eval_quantile(e, n, n->quantile);
        case FN_P50:
                return eval_quantile(e, n, 0.5);
        case FN_P99:
                return eval_quantile(e, n, 0.99);
        case FN_INTEGRAL:
                s = range_of(e, n);
                still_for(e, 0); /* the newest value is held until now */
                return e->data->integral(e->data->ctx, subject_of(e, n), s);
        case FN_SLOPE:
        case FN_SLOPE_LOW:
        case FN_SLOPE_HIGH:
                return eval_slope(e, n);
        case FN_LEAK:
        case FN_GROWING:
        case FN_STEADY:
                return eval_verdict(e, n);
        case FN_ABSENT:
                return eval_absent(e, n);
        case FN_LAST:
        case FN_MIN:
        case FN_MAX:
        case FN_MEAN:
        case FN_STDDEV:
        case FN_COUNT:
        case FN_FIT:
                return eval_statistic(e, n);
        }
        return UNKNOWN;
}

/* ------------------------------------------------------------------ operators */

static double both_hold(double a, double b)
{
        if (a == 0 || b == 0)
                return 0;
        return isnan(a) || isnan(b) ? UNKNOWN : 1;
}

static double negate_truth(double a)
{
        return isnan(a) ? UNKNOWN : a == 0;
}

static double compare_values(enum operator op, double a, double b)
{
        if (isnan(a) || isnan(b))
                return UNKNOWN;
        switch (op) {
        case OP_LESS:
                return a < b;
        case OP_LESS_EQUAL:
                return a <= b;
        case OP_GREATER:
                return a > b;
        case OP_GREATER_EQUAL:
                return a >= b;
        case OP_EQUAL:
                return a == b;
        default:
                return a != b;
        }
}

/* An age grows with time, so the limit tells when the answer changes. */
static double compare_age(const struct eval *e, const struct node *n, const struct node *aged, double limit)
{
        struct eval quiet = *e;

        quiet.still_ns = NULL;
        double age_s = eval_node(&quiet, aged), left_ns = (limit - age_s) * (double)NS_PER_S;
        limit_validity_of_range(e, aged, (struct time_range){ now_of(e, aged), now_of(e, aged) }, false);
        if (left_ns >= 0 && left_ns < 1e18)
                still_for(e, (uint64_t)left_ns);
        return aged == n->left ? compare_values(n->op, age_s, limit) : compare_values(n->op, limit, age_s);
}

static bool is_age(const struct node *n)
{
        return n->kind == NODE_CALL && n->function->id == FN_AGE;
}

/* Whether the right side alone decides. It is looked at first: most rules begin with the windows, which cost most. */
static bool is_decided(enum operator op, double right)
{
        return op == OP_AND ? right == 0 : (op == OP_OR || op == OP_UNLESS) && !isnan(right) && right != 0;
}

static double eval_binary(const struct eval *e, const struct node *n)
{
        if (operator_is_comparison(n->op) && is_age(n->left) && n->right->kind == NODE_NUMBER)
                return compare_age(e, n, n->left, n->right->value);
        double b = eval_node(e, n->right);
        if (is_decided(n->op, b))
                return n->op == OP_OR;
        double a = eval_node(e, n->left);

        switch (n->op) {
        case OP_OR:
                return negate_truth(both_hold(negate_truth(a), negate_truth(b)));
        case OP_AND:
                return both_hold(a, b);
        case OP_UNLESS:
                return both_hold(a, negate_truth(b));
        case OP_ADD:
                return a + b;
        case OP_SUBTRACT:
                return a - b;
        case OP_MULTIPLY:
                return a * b;
        case OP_DIVIDE:
                return b == 0 ? UNKNOWN : a / b;
        default:
                return compare_values(n->op, a, b);
        }
}

static double eval_node(const struct eval *e, const struct node *n)
{
        switch (n->kind) {
        case NODE_NUMBER:
                return n->value;
        case NODE_SERIES:
                return eval_newest(e, n);
        case NODE_CALL:
                return eval_call(e, n);
        case NODE_NOT:
                return negate_truth(eval_node(e, n->left));
        case NODE_NEGATE:
                return -eval_node(e, n->left);
        case NODE_BINARY:
                return eval_binary(e, n);
        }
        return UNKNOWN;
}

double expr_eval(const struct expr *expr, const struct rule_data *data, const struct rule_moment *at, uint32_t band,
                 uint64_t *ret_still_ns)
{
        struct eval e = { .data = data, .at = at, .band = band, .still_ns = ret_still_ns };

        return eval_node(&e, expr->root);
}

/* ---------------------------------------------------------------------- bands */

static bool all_match(const struct node *n, const char *const texts[BAND_TEXTS])
{
        if (!n)
                return true;
        if (n->matcher && !matcher_matches(n->matcher, texts))
                return false;
        return all_match(n->left, texts) && all_match(n->right, texts);
}

bool expr_selects_band(const struct expr *e, const struct rule_data *data, uint32_t band)
{
        struct band_texts texts;

        return data->band(data->ctx, band, &texts) && all_match(e->root, texts.of);
}
