/* SPDX-License-Identifier: BSD-3-Clause */
/* gc_census.c - which collections were made for the heap profile. DESIGN: two small rings. */
#include "daemon/model/gc_private.h"

#include "daemon/model/state.h"
#include "proto/base/process.h"

#define NS_PER_S UINT64_C(1000000000)

void gc_censuses_clear(struct gc_censuses *c)
{
        *c = (struct gc_censuses){ 0 };
        for (uint32_t i = 0; i < GC_CENSUSES; i++)
                c->times_ns[i] = UNKNOWN_U64;
}

/* Its pause counts for the second that it ends in. */
static uint64_t count(struct gc_censuses *c, uint64_t from_ns, uint64_t to_ns)
{
        uint64_t second = to_ns / NS_PER_S, pause_ns = to_ns - from_ns;
        struct gc_census_second *s = &c->seconds[second % GC_CENSUS_SECONDS];

        if (s->second > second)
                return pause_ns; /* too late for it */
        if (s->second < second) {
                s->second = second;
                s->pause_ns = 0;
        }
        s->pause_ns += pause_ns;
        return pause_ns;
}

uint64_t gc_censuses_pause(const struct gc_censuses *c, struct time_range range)
{
        uint64_t sum = 0;

        for (uint32_t i = 0; i < GC_CENSUS_SECONDS; i++)
                if (c->seconds[i].second >= range.from_ns / NS_PER_S && c->seconds[i].second < range.to_ns / NS_PER_S)
                        sum += c->seconds[i].pause_ns;
        return sum;
}

uint64_t gc_census_pause_ns(const struct model *m, struct time_range range)
{
        return gc_censuses_pause(&m->gc_state.censuses, range);
}

uint64_t gc_censuses_collection(struct gc_censuses *c, uint64_t from_ns, uint64_t to_ns)
{
        bool found = false;

        for (uint32_t i = 0; i < GC_CENSUSES; i++) {
                if (c->times_ns[i] < from_ns || c->times_ns[i] > to_ns)
                        continue;
                c->times_ns[i] = UNKNOWN_U64;
                found = true;
        }
        if (found)
                return count(c, from_ns, to_ns);
        c->collections[c->next_collection].from_ns = from_ns;
        c->collections[c->next_collection].to_ns = to_ns;
        c->next_collection = (c->next_collection + 1) % GC_CENSUSES;
        return 0;
}

uint64_t gc_censuses_census(struct gc_censuses *c, uint64_t time_ns)
{
        for (uint32_t i = 0; i < GC_CENSUSES; i++) {
                uint64_t from = c->collections[i].from_ns, to = c->collections[i].to_ns;

                if (!to || time_ns < from || time_ns > to)
                        continue;
                c->collections[i].to_ns = 0;
                return count(c, from, to);
        }
        c->times_ns[c->next_time] = time_ns;
        c->next_time = (c->next_time + 1) % GC_CENSUSES;
        return 0;
}
