/* SPDX-License-Identifier: BSD-3-Clause */
/* timetable.h - when the next flush and the next census are due. Pure; all times in ns, of the monotonic clock. */
#ifndef HW_AGENT_TIMETABLE_H
#define HW_AGENT_TIMETABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/budget.h"

struct timetable {
        int64_t flush_ns;    /* between flushes */
        int64_t interval_ns; /* between censuses, at least */
        int64_t next_flush_ns, next_census_ns;
        int64_t last_census_ns; /* requested; once there is one */
        struct census_budget budget;
        char profile;      /* the kind of heap profile that censuses are wanted for; 0: none */
        uint64_t censuses; /* requested */
        uint64_t given;    /* read from outside, by another process */
        int64_t given_ns;  /* the newest of these; once there is one */
};

void timetable_set_flush(struct timetable *s, int64_t now, int64_t flush_ns);
void timetable_set_interval(struct timetable *s, int64_t now, int64_t interval_ns);

/* 0: no census is due from now on. The first one of another kind of profile is due soon. */
void timetable_set_profile(struct timetable *s, int64_t now, char profile);

/* From census to census in the long run: interval_ns, or longer for the budget. */
int64_t timetable_census_every(const struct timetable *s, int64_t now);

/* Whether it is due; the next one is scheduled. */
bool timetable_flush(struct timetable *s, int64_t now);
bool timetable_census(struct timetable *s, int64_t now);

/* Whether one would be due, were its pause not longer than the budget allows at all. */
bool timetable_census_forbidden(const struct timetable *s, int64_t now);

/* One that was not due was requested. */
void timetable_spend_census(struct timetable *s, int64_t now);

/*
 * So many censuses were read from outside so far. The next one of the program's own is due as long after the newest of
 * them as it is, in the long run, after one of its own: never, while they come that often.
 */
void timetable_given(struct timetable *s, int64_t now, uint64_t given);

/* Whether one is wanted: of the kind that can be read from outside, and the interval since the last of them is over. */
bool timetable_accepts(const struct timetable *s, int64_t now);

/* How long until something is due. */
int64_t timetable_until_due(const struct timetable *s, int64_t now);

#endif
