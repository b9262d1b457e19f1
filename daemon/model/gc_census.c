/* SPDX-License-Identifier: BSD-3-Clause */
/* gc_census.c - which collections were the heap profile's own. DESIGN: two small rings, the oldest forgotten. */
#include "daemon/model/gc_private.h"

#include "proto/base/process.h"

void gc_censuses_clear(struct gc_censuses *c)
{
        *c = (struct gc_censuses){ 0 };
        for (uint32_t i = 0; i < GC_CENSUSES; i++)
                c->times_ns[i] = UNKNOWN_U64;
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
                return to_ns - from_ns;
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
                return to - from;
        }
        c->times_ns[c->next_time] = time_ns;
        c->next_time = (c->next_time + 1) % GC_CENSUSES;
        return 0;
}
