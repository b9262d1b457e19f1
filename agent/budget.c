/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/budget.h"

#define LONGEST_NS     INT64_C(3600000000000) /* a census an hour, however expensive */
#define UNKNOWN_NS     INT64_C(5000000)       /* charged for one of which nothing is known: one in ten seconds */
#define FIXED_NS       500000.0               /* of a census, whatever is alive */
#define PER_BYTE_NS    (500000.0 / (1 << 20)) /* until one was measured with MEASURED_BYTES alive */
#define MEASURED_BYTES (UINT64_C(8) << 20)

/* ----------------------------------------------------------------- the bucket */

static double share_at(const struct census_budget *b, int64_t now)
{
        return budget_rising(b, now) && b->share < BUDGET_RISING ? BUDGET_RISING : b->share;
}

/* What a stretch of time adds. */
static double budget_filled_between(const struct census_budget *b, int64_t from, int64_t to)
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

static void fill_budget(struct census_budget *b, int64_t now)
{
        if (now > b->filled_ns)
                b->left_ns = within_limits(b, (double)b->left_ns + budget_filled_between(b, b->filled_ns, now));
        b->filled_ns = now;
}

void budget_begin(struct census_budget *b, int64_t now, double share, int64_t longest_ns)
{
        *b = (struct census_budget){ .share = share, .longest_ns = longest_ns, .filled_ns = now };
}

void budget_set_longest(struct census_budget *b, int64_t longest_ns)
{
        b->longest_ns = longest_ns;
        b->ended_ns = 0;
}

void budget_set_share(struct census_budget *b, int64_t now, double share)
{
        fill_budget(b, now);
        b->share = share;
}

/* What must be in the bucket: the first census is made on credit, and one that costs more than can be saved too. */
static int64_t needed_ns(const struct census_budget *b)
{
        int64_t cost;

        if (b->n_costs == 0 && b->charged_ns == 0)
                return 0;
        cost = budget_predict(b, &cost) ? cost : UNKNOWN_NS;
        return cost < BUDGET_SAVED_NS ? cost : BUDGET_SAVED_NS;
}

int64_t budget_wait(const struct census_budget *b, int64_t now)
{
        struct census_budget then = *b;

        if (b->share <= 0)
                return 0;
        fill_budget(&then, now);
        const int64_t missing = needed_ns(b) - then.left_ns;
        return missing <= 0 ? 0 : (int64_t)((double)missing / share_at(b, now)) + 1;
}

void budget_spend(struct census_budget *b, int64_t now)
{
        int64_t cost;

        fill_budget(b, now);
        b->expected_ns = budget_predict(b, &cost) ? cost : 0;
        b->charged_ns = b->expected_ns > 0 ? b->expected_ns : UNKNOWN_NS;
        b->left_ns = within_limits(b, (double)(b->left_ns - b->charged_ns));
}

/* ------------------------------------------------------------- what one costs */

static double machine_load(const struct census_budget *b)
{
        return b->seen.load > 1 ? b->seen.load : 1;
}

/* On a machine with other work a thread of the collection may wait for its turn, however short the collection is. */
static bool is_surprise(const struct census_budget *b, int64_t pause_ns)
{
        const double slice = (double)BUDGET_SLICE_NS * machine_load(b);

        return b->longest_ns > 0 &&
               (pause_ns > b->longest_ns ||
                ((double)pause_ns > slice && (double)pause_ns > BUDGET_SURPRISE * (double)b->expected_ns));
}

void budget_learn(struct census_budget *b, int64_t now, const struct census_facts *facts)
{
        if (facts->known > b->seen.known) {
                const int64_t pause_ns = (int64_t)facts->pause_ns;
                uint64_t n = facts->known - b->seen.known;

                fill_budget(b, now);
                if (b->expected_ns > 0 && is_surprise(b, pause_ns))
                        b->ended_ns = pause_ns;
                b->costs[b->n_costs % BUDGET_COSTS].pause_ns = facts->pause_ns;
                b->costs[b->n_costs % BUDGET_COSTS].live_bytes = facts->live_bytes;
                b->costs[b->n_costs % BUDGET_COSTS].load = machine_load(b);
                b->n_costs++;
                b->left_ns = within_limits(b, (double)(b->left_ns + b->charged_ns) - (double)pause_ns * (double)n);
                b->charged_ns = 0;
        }
        fill_budget(b, now);
        if (facts->lives != b->seen.lives)
                rise_add(&b->rise, now, facts->live_bytes, facts->promoted_before_bytes);
        rise_promoted(&b->rise, now, facts->promoted_bytes);
        b->seen = *facts;
}

/* What is alive by now at most: what was promoted out of the nursery since a collection told may be, too. */
static double live_bytes(const struct census_budget *b)
{
        return b->seen.lives > 0 ? (double)(b->seen.live_bytes + b->seen.promoted_bytes)
                                 : (double)b->seen.resident_bytes;
}

static double usual_ns(double live)
{
        return FIXED_NS + live * PER_BYTE_NS;
}

/* By one census: in proportion to live data, but for what each one costs; a small one says little of a large one. */
static double predict_by(const struct census_budget *b, unsigned i)
{
        const double pause = (double)b->costs[i].pause_ns, live = live_bytes(b), then = (double)b->costs[i].live_bytes;
        const double busier = machine_load(b) > b->costs[i].load ? machine_load(b) / b->costs[i].load : 1;

        if (then <= 0 || live <= 0)
                return pause * busier;
        if (b->costs[i].live_bytes >= MEASURED_BYTES || live <= then)
                return busier * (pause > FIXED_NS ? FIXED_NS + (pause - FIXED_NS) * live / then : pause);
        const double expected = usual_ns(live) * machine_load(b);
        return pause * busier > expected ? pause * busier : expected;
}

bool budget_predict(const struct census_budget *b, int64_t *ret_ns)
{
        double longest = 0;

        for (unsigned i = 0; i < BUDGET_COSTS && i < b->n_costs; i++) {
                const double ns = predict_by(b, i);
                longest = ns > longest ? ns : longest;
        }
        if (b->n_costs == 0)
                longest = usual_ns(live_bytes(b)) * machine_load(b);
        *ret_ns = longest < (double)LONGEST_NS ? (int64_t)longest : LONGEST_NS;
        return b->n_costs > 0 || live_bytes(b) > 0;
}

bool budget_forbids(const struct census_budget *b)
{
        int64_t cost;

        return b->ended_ns > 0 || (b->longest_ns > 0 && (!budget_predict(b, &cost) || cost > b->longest_ns));
}

int64_t budget_period(const struct census_budget *b, int64_t now)
{
        int64_t cost;

        if (b->share <= 0)
                return 0;
        cost = budget_predict(b, &cost) ? cost : UNKNOWN_NS;
        const double ns = (double)cost / share_at(b, now);
        return ns < (double)LONGEST_NS ? (int64_t)ns : LONGEST_NS;
}

bool budget_rising(const struct census_budget *b, int64_t now)
{
        return now < rise_until(&b->rise);
}
