/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/budget.h"

#define LONGEST_NS     INT64_C(3600000000000) /* a census an hour, however expensive */
#define UNKNOWN_NS     INT64_C(5000000)       /* charged for one of which nothing is known: one in ten seconds */
#define FIXED_NS       500000.0               /* of a census, whatever is alive */
#define PER_BYTE_NS    (500000.0 / (1 << 20)) /* until one was measured with MEASURED_BYTES alive */
#define MEASURED_BYTES (UINT64_C(8) << 20)
#define FIRST_LOOKS    2   /* censuses of a program that has just begun: what it has at its start, and what it loads */
#define HELD_UP        2.0 /* times the usual pause: longer ones were held up by other work */

/* ----------------------------------------------------------------- the bucket */

static double share_at(const struct census_budget *b, int64_t now)
{
        return budget_rising(b, now) && b->share < BUDGET_RISING ? BUDGET_RISING : b->share;
}

/* What a stretch of time adds. */
static double filling(const struct census_budget *b, int64_t from, int64_t to)
{
        int64_t until = rise_until(&b->rise);
        int64_t middle = until < from ? from : until > to ? to : until;

        return (double)(middle - from) * share_at(b, from) + (double)(to - middle) * b->share;
}

static int64_t within_limits(const struct census_budget *b, double left)
{
        double least = -b->share * (double)LONGEST_NS;

        return (int64_t)(left > (double)BUDGET_SAVED_NS ? (double)BUDGET_SAVED_NS : left < least ? least : left);
}

static void fill(struct census_budget *b, int64_t now)
{
        if (now > b->filled_ns)
                b->left_ns = within_limits(b, (double)b->left_ns + filling(b, b->filled_ns, now));
        b->filled_ns = now;
}

void budget_begin(struct census_budget *b, int64_t now, double share, int64_t longest_ns)
{
        *b = (struct census_budget){
                .share = share, .longest_ns = longest_ns, .left_ns = BUDGET_FIRST_NS, .filled_ns = now
        };
}

void budget_set_share(struct census_budget *b, int64_t now, double share)
{
        fill(b, now);
        b->share = share;
}

int64_t budget_wait(const struct census_budget *b, int64_t now)
{
        struct census_budget then = *b;

        if (b->share <= 0)
                return 0;
        fill(&then, now);
        return then.left_ns > 0 ? 0 : (int64_t)((double)(1 - then.left_ns) / share_at(b, now)) + 1;
}

void budget_spend(struct census_budget *b, int64_t now)
{
        int64_t cost;

        fill(b, now);
        b->charged_ns = budget_predict(b, &cost) ? cost : UNKNOWN_NS;
        b->left_ns = within_limits(b, (double)(b->left_ns - b->charged_ns));
}

/* ------------------------------------------------------------- what one costs */

/*
 * What is taken out for a pause that is among the costs. On a busy machine a collection of 70 ms may take 2 s, as all
 * of the program is slow then: to make up for that would leave the program without a census for an hour.
 */
static double own_cost(const struct census_budget *b, uint64_t pause_ns)
{
        int64_t usual;

        return budget_predict(b, &usual) && (double)pause_ns > HELD_UP * (double)usual ? (double)usual
                                                                                       : (double)pause_ns;
}

static void learn_cost(struct census_budget *b, int64_t now, const struct census_facts *f)
{
        uint64_t n = f->known - b->seen.known;

        fill(b, now);
        b->costs[b->n_costs % BUDGET_COSTS].pause_ns = f->pause_ns;
        b->costs[b->n_costs % BUDGET_COSTS].live_bytes = f->live_bytes;
        b->n_costs++;
        b->seen.live_bytes = f->live_bytes;
        b->left_ns = within_limits(b, (double)(b->left_ns + b->charged_ns) - own_cost(b, f->pause_ns) * (double)n);
        b->charged_ns = 0;
}

void budget_learn(struct census_budget *b, int64_t now, const struct census_facts *facts)
{
        if (facts->known > b->seen.known)
                learn_cost(b, now, facts);
        fill(b, now);
        if (facts->lives != b->seen.lives)
                rise_add(&b->rise, now, facts->live_bytes, facts->promoted_before_bytes);
        rise_promoted(&b->rise, now, facts->promoted_bytes);
        b->seen = *facts;
}

/* By one census: in proportion to live data, but for what each one costs; a small one says little of a large one. */
static double predict_by(const struct census_budget *b, unsigned i)
{
        double pause = (double)b->costs[i].pause_ns, live = (double)b->seen.live_bytes;
        double then = (double)b->costs[i].live_bytes;

        if (then <= 0 || live <= 0)
                return pause;
        if (b->costs[i].live_bytes >= MEASURED_BYTES || live <= then)
                return pause > FIXED_NS ? FIXED_NS + (pause - FIXED_NS) * live / then : pause;
        double expected = FIXED_NS + live * PER_BYTE_NS;
        return pause > expected ? pause : expected;
}

/* The middle one of three: a single census that was held up by other work decides nothing. */
static double middle(double x, double y, double z)
{
        double least = x < y ? x : y, most = x < y ? y : x;

        return z < least ? least : z > most ? most : z;
}

bool budget_predict(const struct census_budget *b, int64_t *ret_ns)
{
        double v[BUDGET_COSTS];

        if (b->n_costs == 0) {
                *ret_ns = (int64_t)(FIXED_NS + (double)b->seen.live_bytes * PER_BYTE_NS);
                return b->seen.lives > 0;
        }
        for (unsigned i = 0; i < BUDGET_COSTS; i++)
                v[i] = i < b->n_costs ? predict_by(b, i) : 0;
        if (b->n_costs >= BUDGET_COSTS)
                *ret_ns = (int64_t)middle(v[0], v[1], v[2]);
        else
                *ret_ns = (int64_t)(v[0] > v[1] ? v[0] : v[1]);
        return true;
}

bool budget_forbids(const struct census_budget *b)
{
        int64_t cost;

        return b->longest_ns > 0 && (!budget_predict(b, &cost) || cost > b->longest_ns);
}

/* What one costs by the least of the last ones: what they took beyond that, other work on the machine took. */
static int64_t usual_cost(const struct census_budget *b)
{
        double least = 0;
        int64_t cost;

        for (unsigned i = 0; i < BUDGET_COSTS && i < b->n_costs; i++)
                if (i == 0 || predict_by(b, i) < least)
                        least = predict_by(b, i);
        if (b->n_costs > 0)
                return (int64_t)least;
        return budget_predict(b, &cost) ? cost : UNKNOWN_NS;
}

static int64_t spread(const struct census_budget *b, double share)
{
        if (b->share <= 0)
                return 0;
        double ns = (double)usual_cost(b) / share;
        return ns < (double)LONGEST_NS ? (int64_t)ns : LONGEST_NS;
}

int64_t budget_spacing(const struct census_budget *b, int64_t now)
{
        const bool is_short = b->n_costs > 0 && usual_cost(b) <= BUDGET_SHORT_NS;
        const bool may_hurry = is_short || b->n_costs < FIRST_LOOKS;

        return spread(b, may_hurry && b->share < BUDGET_RISING ? BUDGET_RISING : share_at(b, now));
}

int64_t budget_period(const struct census_budget *b, int64_t now)
{
        return spread(b, share_at(b, now));
}

bool budget_rising(const struct census_budget *b, int64_t now)
{
        return now < rise_until(&b->rise);
}
