/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * budget.h - what censuses may cost the program: a bucket of pauses.
 *
 * It fills with a share of the time that passes, to at most BUDGET_SAVED_NS, and each census takes out its pause: the
 * time for which the program stood still, other work on the machine included. The first one may begin at once, each
 * further one when what it is expected to cost is in the bucket: so at any moment the pauses are within the share of
 * the time since the start, or there was one. While live data rise the bucket fills faster (BUDGET_RISING). What is
 * saved up is for such times: censuses are spaced by the share of the moment.
 *
 * The pause is expected from live data, the last censuses, and how many threads want each processor. One that takes
 * more than BUDGET_SURPRISE times as long, or longer than what is allowed, is the last one of the run, unless all are
 * allowed. Pure; times in ns, of the monotonic clock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether live data rises right now, by the newest collections alone.
 *
 * They do when the lowest live data of each of the last few spans of time are above the highest of the span before,
 * and all together by a twentieth; and when they are above all that has ever been by half, for where they rise fast
 * the collections that tell become rare. Between two of these what is promoted out of the nursery tells: when that,
 * less what was usually garbage by the next collection, makes them a tenth more within 40 s (what rises more slowly,
 * collections show, and a server promotes more when it has more to do). What goes up and down does not rise; how long
 * it has lasted, and whether it is a leak, is the daemon's to say. Pure.
 */

#define RISE_SPAN_NS        INT64_C(5000000000) /* longer where collections are rarer: each has one at least */
#define RISE_SPANS          5                   /* that are over */
#define RISE_LEAST          1.05
#define RISE_RECORD         1.5
#define RISE_NEXT           2.5 /* gaps: an even rise doubles the heap, and so is collected, in twice the gap before */
#define RISE_PROMOTED       0.1 /* of live data */
#define RISE_PROMOTED_NS    INT64_C(40000000000)
#define RISE_PROMOTED_LEAST (UINT64_C(1) << 20) /* bytes */
#define RISE_USUAL_NS       INT64_C(5000000000) /* after so long what was usual before does not count */

struct rise_span {
        uint64_t low, high; /* live data, bytes */
};

struct rise {
        struct rise_span spans[RISE_SPANS]; /* oldest first */
        unsigned n;
        struct rise_span open;   /* high 0: nothing yet */
        int64_t open_ns;         /* its beginning */
        uint64_t record;         /* most of all spans that are over */
        int64_t last_ns, gap_ns; /* of the newest live data, and since those before */
        bool rises;
        uint64_t live;       /* the newest */
        double garbage_rate; /* promoted, and garbage at the next collection that told live data: bytes a second */
        bool is_promoting;   /* by what was promoted since, they have grown */
};

/* Live data after a collection, and what was promoted since the one before; in bytes. */
void rise_add(struct rise *r, int64_t now, uint64_t live, uint64_t promoted);

/* What was promoted since the newest live data, in bytes. */
void rise_promoted(struct rise *r, int64_t now, uint64_t bytes);

/*
 * Until when they rise, as far as is known: while what is promoted tells so, without end; else not after the next
 * collection of a steady rise would have come.
 */
int64_t rise_until(const struct rise *r);

#define BUDGET_SHARE    0.0005             /* of the program's time, on average */
#define BUDGET_RISING   0.01               /* while live data rises; and at most, over any stretch of time */
#define BUDGET_SAVED_NS INT64_C(500000000) /* saved up at most: a target that had no heap profile for long */
#define BUDGET_COSTS    3                  /* censuses whose cost is remembered */
#define BUDGET_PAUSE_NS INT64_C(250000000) /* longest by default */
#define BUDGET_SURPRISE 3                  /* times the expected pause; and */
#define BUDGET_SLICE_NS INT64_C(12000000)  /* how long a thread may wait for a processor beside one other */

/* What the log and the kernel have told so far; counts only rise. */
struct census_facts {
        uint64_t known;                                 /* censuses whose pause is known */
        uint64_t pause_ns;                              /* of the newest of these; 0: none is */
        uint64_t lives;                                 /* collections that told live data */
        uint64_t live_bytes;                            /* of the newest of these */
        uint64_t promoted_bytes, promoted_before_bytes; /* out of the nursery since that, and since the one before it */
        double load;             /* threads that want to run, for each processor; below 1 or not known: none waits */
        uint64_t resident_bytes; /* bounds the live data while no collection has told them; 0: not known */
};

struct census_budget {
        double share;        /* 0: no limit */
        int64_t longest_ns;  /* longer pauses are forbidden; 0: none is */
        int64_t left_ns;     /* below 0: to be made up for */
        int64_t filled_ns;   /* when the share of the time before was added */
        int64_t charged_ns;  /* for the newest census, until its pause is known */
        int64_t expected_ns; /* of the newest census, when it was requested; 0: not known */
        int64_t ended_ns;    /* pause of the last census of this run; 0: there are more */
        struct census_facts seen;
        struct {
                uint64_t pause_ns, live_bytes;
                double load;
        } costs[BUDGET_COSTS]; /* a ring */
        uint64_t n_costs;      /* since the start */
        struct rise rise;
};

void budget_begin(struct census_budget *b, int64_t now, double share, int64_t longest_ns);

/* Another limit of pauses; ends the time without censuses, where one has ended them. */
void budget_set_longest(struct census_budget *b, int64_t longest_ns);
void budget_set_share(struct census_budget *b, int64_t now, double share);

/* What the log tells now. */
void budget_learn(struct census_budget *b, int64_t now, const struct census_facts *facts);

/* What a census would pause the program now, by the last ones and the live data. False: nothing is known of either. */
bool budget_predict(const struct census_budget *b, int64_t *ret_ns);

/* Whether that is longer than allowed, or not known where longer ones are forbidden; or one took too long. */
bool budget_forbids(const struct census_budget *b);

/* How long until a census may begin; 0: it may. */
int64_t budget_wait(const struct census_budget *b, int64_t now);

/* From census to census in the long run, as things are: by the share of now and the predicted pause. */
int64_t budget_period(const struct census_budget *b, int64_t now);

/* Whether live data rises now. */
bool budget_rising(const struct census_budget *b, int64_t now);

/* A census was requested. */
void budget_spend(struct census_budget *b, int64_t now);
