/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/pace.h"

#define FIRST_CENSUS_NS INT64_C(200000000) /* after the profile began */

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

static int64_t longer(int64_t a, int64_t b)
{
        return a > b ? a : b;
}

int64_t timetable_census_every(const struct timetable *s, int64_t now)
{
        return longer(s->interval_ns, budget_period(&s->budget, now));
}

bool timetable_flush(struct timetable *s, int64_t now)
{
        if (now < s->next_flush_ns)
                return false;
        s->next_flush_ns = now + s->flush_ns;
        return true;
}

/* When the next one is due. What the last one cost is known only some time after it. */
static int64_t census_at(const struct timetable *s, int64_t now)
{
        int64_t at = longer(s->next_census_ns, now + budget_wait(&s->budget, now));

        if (s->censuses > 0)
                at = longer(at, s->last_census_ns + budget_period(&s->budget, now));
        if (s->given > 0)
                at = longer(at, s->given_ns + timetable_census_every(s, now));
        return at;
}

void timetable_given(struct timetable *s, int64_t now, uint64_t given)
{
        if (given > s->given)
                s->given_ns = now;
        s->given = given;
}

bool timetable_accepts(const struct timetable *s, int64_t now)
{
        return s->profile == 'T' && (s->given == 0 || now >= s->given_ns + s->interval_ns);
}

bool timetable_census_forbidden(const struct timetable *s, int64_t now)
{
        return s->profile && now >= census_at(s, now) && budget_forbids(&s->budget);
}

void timetable_spend_census(struct timetable *s, int64_t now)
{
        s->censuses++;
        budget_spend(&s->budget, now);
        s->last_census_ns = now;
        s->next_census_ns = now + s->interval_ns;
}

bool timetable_census(struct timetable *s, int64_t now)
{
        if (!s->profile || now < census_at(s, now) || budget_forbids(&s->budget))
                return false;
        timetable_spend_census(s, now);
        return true;
}

int64_t timetable_until_due(const struct timetable *s, int64_t now)
{
        int64_t at = s->next_flush_ns;

        if (s->profile && !budget_forbids(&s->budget) && census_at(s, now) < at)
                at = census_at(s, now);
        return at > now ? at - now : 0;
}
