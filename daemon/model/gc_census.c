/* SPDX-License-Identifier: BSD-3-Clause */
/* gc_census.c - which collections were made for the heap profile. DESIGN: small rings. */
#include "daemon/model/gc_private.h"

#include "daemon/model/state.h"
#include "proto/base/process.h"

static const uint64_t widths_ns[GC_CENSUS_RINGS] = { UINT64_C(1000000000), UINT64_C(10000000000) };

void gc_censuses_clear(struct gc_censuses *c)
{
        *c = (struct gc_censuses){ 0 };
        for (uint32_t i = 0; i < GC_CENSUSES; i++)
                c->times_ns[i] = UNKNOWN_U64;
}

/* Its pause counts for the intervals that it ends in, unless it is too late for them. */
void gc_censuses_count(struct gc_censuses *c, uint64_t from_ns, uint64_t to_ns)
{
        for (unsigned ring = 0; ring < GC_CENSUS_RINGS; ring++) {
                const uint64_t number = to_ns / widths_ns[ring];
                struct gc_census_cell *cell = &c->cells[ring][number % GC_CENSUS_CELLS];

                if (cell->number < number)
                        *cell = (struct gc_census_cell){ .number = number };
                if (cell->number == number)
                        cell->pause_ns += to_ns - from_ns;
        }
}

uint64_t gc_censuses_pause(const struct gc_censuses *c, struct time_range range)
{
        const unsigned ring = range.to_ns - range.from_ns > GC_CENSUS_CELLS * widths_ns[0];
        const uint64_t from = range.from_ns / widths_ns[ring], to = range.to_ns / widths_ns[ring];
        uint64_t sum = 0;

        for (uint32_t i = 0; i < GC_CENSUS_CELLS; i++)
                if (c->cells[ring][i].number >= from && c->cells[ring][i].number < to)
                        sum += c->cells[ring][i].pause_ns;
        return sum;
}

uint64_t gc_census_pause_ns(const struct model *m, struct time_range range)
{
        return gc_censuses_pause(&m->gc_state.censuses, range);
}

bool gc_censuses_collection(struct gc_censuses *c, uint64_t from_ns, uint64_t to_ns)
{
        bool found = false;

        for (uint32_t i = 0; i < GC_CENSUSES; i++) {
                if (c->times_ns[i] < from_ns || c->times_ns[i] > to_ns)
                        continue;
                c->times_ns[i] = UNKNOWN_U64;
                found = true;
        }
        if (found)
                return true;
        c->collections[c->next_collection].from_ns = from_ns;
        c->collections[c->next_collection].to_ns = to_ns;
        c->next_collection = (c->next_collection + 1) % GC_CENSUSES;
        return false;
}

bool gc_censuses_census(struct gc_censuses *c, uint64_t time_ns, struct time_range *ret)
{
        for (uint32_t i = 0; i < GC_CENSUSES; i++) {
                uint64_t from = c->collections[i].from_ns, to = c->collections[i].to_ns;

                if (!to || time_ns < from || time_ns > to)
                        continue;
                c->collections[i].to_ns = 0;
                *ret = (struct time_range){ from, to };
                return true;
        }
        c->times_ns[c->next_time] = time_ns;
        c->next_time = (c->next_time + 1) % GC_CENSUSES;
        return false;
}
