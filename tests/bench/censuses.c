/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agent's decisions when to take a census, for simulated programs: a library that the benchmark of the early
 * warning loads (tests/leaklab/fast/sim.py).
 */
#include <stdlib.h>

#include "agent/pace.h"

#define SHARE 0.0005

struct timetable *censuses_begin(int64_t now);
bool censuses_due(struct timetable *t, int64_t now, const struct census_facts *facts);

/* NULL without memory; to be freed by free(3). Times in ns. */
struct timetable *censuses_begin(int64_t now)
{
        struct timetable *t = calloc(1, sizeof(*t));

        if (t != NULL) {
                t->interval_ns = INT64_C(1000000000);
                budget_begin(&t->budget, now, SHARE, 0);
                timetable_set_profile(t, now, 'T');
        }
        return t;
}

/* What the agent does four times a second. */
bool censuses_due(struct timetable *t, int64_t now, const struct census_facts *facts)
{
        budget_learn(&t->budget, now, facts);
        return timetable_census(t, now);
}
