/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/timetable.h"

#include "agent/meter.h"

#define FIRST_CENSUS_NS INT64_C(200000000)   /* after the profile began */
#define UNKNOWN_NS      INT64_C(10000000000) /* from census to census while their cost is not known */
#define CENSUSES_FREE   2                    /* taken before their cost must be known */

void timetable_set_flush(struct timetable *s, int64_t now, int64_t flush_ns)
{
        s->flush_ns = flush_ns;
        s->next_flush_ns = now + flush_ns;
}

void timetable_set_interval(struct timetable *s, int64_t now, int64_t interval_ns)
{
        s->interval_ns = interval_ns;
        s->next_census_ns = now + interval_ns;
}

void timetable_set_profile(struct timetable *s, int64_t now, char profile)
{
        if (profile && profile != s->profile)
                s->next_census_ns = now + FIRST_CENSUS_NS;
        s->profile = profile;
}

int64_t timetable_census_every(const struct timetable *s, uint64_t pause_ns)
{
        bool unknown = pause_ns == 0 && s->censuses > CENSUSES_FREE && s->budget > 0;

        if (unknown && s->interval_ns < UNKNOWN_NS)
                return UNKNOWN_NS;
        return meter_interval(s->interval_ns, pause_ns, s->budget);
}

bool timetable_flush(struct timetable *s, int64_t now)
{
        if (now < s->next_flush_ns)
                return false;
        s->next_flush_ns = now + s->flush_ns;
        return true;
}

bool timetable_census(struct timetable *s, int64_t now, uint64_t pause_ns)
{
        if (!s->profile || now < s->next_census_ns)
                return false;
        s->censuses++;
        s->next_census_ns = now + timetable_census_every(s, pause_ns);
        return true;
}

int64_t timetable_until_due(const struct timetable *s, int64_t now)
{
        int64_t at = s->next_flush_ns;

        if (s->profile && s->next_census_ns < at)
                at = s->next_census_ns;
        return at > now ? at - now : 0;
}
