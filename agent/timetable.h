/* SPDX-License-Identifier: BSD-3-Clause */
/* timetable.h - when the next flush and the next census are due. Pure; all times in ns, of the monotonic clock. */
#ifndef HW_AGENT_TIMETABLE_H
#define HW_AGENT_TIMETABLE_H

#include <stdbool.h>
#include <stdint.h>

struct timetable {
        int64_t flush_ns;    /* between flushes */
        int64_t interval_ns; /* between censuses, at least */
        double budget;       /* largest share of time in censuses; 0: no limit */
        int64_t next_flush_ns, next_census_ns;
        char profile;      /* the kind of heap profile that censuses are wanted for; 0: none */
        uint64_t censuses; /* requested */
};

void timetable_set_flush(struct timetable *s, int64_t now, int64_t flush_ns);
void timetable_set_interval(struct timetable *s, int64_t now, int64_t interval_ns);

/* 0: no census is due from now on. The first one of another kind of profile is due soon. */
void timetable_set_profile(struct timetable *s, int64_t now, char profile);

/* From census to census: interval_ns, or longer for the budget; pause_ns is what one costs, 0 not known. */
int64_t timetable_census_every(const struct timetable *s, uint64_t pause_ns);

/* Whether it is due; the next one is scheduled. */
bool timetable_flush(struct timetable *s, int64_t now);
bool timetable_census(struct timetable *s, int64_t now, uint64_t pause_ns);

/* How long until something is due. */
int64_t timetable_until_due(const struct timetable *s, int64_t now);

#endif
