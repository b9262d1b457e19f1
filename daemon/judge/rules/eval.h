/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * eval.h - the value of an expression at one moment, in three-valued logic.
 *
 * Booleans are 1, 0 or NaN for unknown: `and` is 0 when one side is 0, whatever
 * the other; `or` is 1 when one side is 1; everything else with an unknown
 * part is unknown. So is a division by 0.
 */
#pragma once

#include "daemon/judge/rules/data.h"
#include "daemon/judge/rules/expr.h"

/*
 * `band` is 0 for expressions that do not refer to bands. *ret_still_ns, unless NULL, is lowered to the time for which
 * the answer stays the same, on the run's clock, if nothing comes (or to less).
 */
double expr_eval(const struct expr *e, const struct rule_data *data, const struct rule_moment *at, uint32_t band,
                 uint64_t *ret_still_ns);

/* Whether every band{...} of the expression selects the band. */
bool expr_selects_band(const struct expr *e, const struct rule_data *data, uint32_t band);

/* What an alert shows: the deciding comparison, and the series it is about. */
struct headline {
        bool has_value;
        double value; /* NaN = not known */
        struct type type;
        bool has_threshold;
        double threshold;
        struct rule_subject subject; /* first series with a verdict, else first series */
        bool subject_has_verdict;
};

/*
 * The first comparison; of an `or`, that of the side that holds. For an
 * expression without one, the newest value of its first series.
 */
void expr_headline(const struct expr *e, const struct rule_data *data, const struct rule_moment *at, uint32_t band,
                   struct headline *ret);
