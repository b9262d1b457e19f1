/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * budget.h - what censuses may cost the program: a bucket of pauses.
 *
 * It fills with a share of the time that passes, to at most BUDGET_SAVED_NS, and each census takes its pause out. A
 * census may begin while something is left, also one that costs more: then the next one waits until that is made up
 * for. So the average holds whatever a census costs, and the first one is not held up by its cost. While live data
 * rise the bucket fills faster (BUDGET_RISING), and no census begins before the pause of the last one is within that
 * share of the time since. What is saved up is for such times: otherwise censuses that pause longer than a collection
 * of the nursery are spaced by the share itself, after the first two, so that one request in a thousand does not meet
 * one. Pure; times in ns, of the monotonic clock.
 */
#ifndef HW_AGENT_BUDGET_H
#define HW_AGENT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/rise.h"

#define BUDGET_SHARE    0.0005             /* of the program's time, on average */
#define BUDGET_RISING   0.01               /* while live data rises; and at most, over any stretch of time */
#define BUDGET_SAVED_NS INT64_C(500000000) /* saved up at most: a target that had no heap profile for long */
#define BUDGET_FIRST_NS INT64_C(100000000) /* at the start: for the first looks at a program */
#define BUDGET_SHORT_NS INT64_C(5000000)   /* as long as collections of the nursery are in any program */
#define BUDGET_COSTS    3                  /* censuses whose cost is remembered */

/* What the log has told so far; counts only rise. */
struct census_facts {
        uint64_t known;                                 /* censuses whose pause is known */
        uint64_t pause_ns;                              /* of the newest of these; 0: none is */
        uint64_t lives;                                 /* collections that told live data */
        uint64_t live_bytes;                            /* of the newest of these */
        uint64_t promoted_bytes, promoted_before_bytes; /* out of the nursery since that, and since the one before it */
};

struct census_budget {
        double share;       /* 0: no limit */
        int64_t longest_ns; /* longer pauses are forbidden; 0: none is */
        int64_t left_ns;    /* below 0: to be made up for */
        int64_t filled_ns;  /* when the share of the time before was added */
        int64_t charged_ns; /* for the newest census, until its pause is known */
        struct census_facts seen;
        struct {
                uint64_t pause_ns, live_bytes;
        } costs[BUDGET_COSTS]; /* a ring */
        uint64_t n_costs;      /* since the start */
        struct rise rise;
};

void budget_begin(struct census_budget *b, int64_t now, double share, int64_t longest_ns);
void budget_set_share(struct census_budget *b, int64_t now, double share);

/* What the log tells now. */
void budget_learn(struct census_budget *b, int64_t now, const struct census_facts *facts);

/* What a census would pause the program now, by the last ones and the live data. False: nothing is known of either. */
bool budget_predict(const struct census_budget *b, int64_t *ret_ns);

/* Whether that is longer than allowed; also where it is not known, if longer ones are forbidden. */
bool budget_forbids(const struct census_budget *b);

/* How long until a census may begin; 0: it may. */
int64_t budget_wait(const struct census_budget *b, int64_t now);

/* From one census to the next at least, whatever is saved up. */
int64_t budget_spacing(const struct census_budget *b, int64_t now);

/* From census to census in the long run, as things are: by the share of now and the predicted pause. */
int64_t budget_period(const struct census_budget *b, int64_t now);

/* Whether live data rises now. */
bool budget_rising(const struct census_budget *b, int64_t now);

/* A census was requested. */
void budget_spend(struct census_budget *b, int64_t now);

#endif
