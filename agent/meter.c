/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/preamble.h"

#include <stdbool.h>

static bool match(struct meter *m, uint64_t census, uint64_t begin, uint64_t end)
{
        if (census < begin || census > end || census == 0)
                return false;
        m->pause_ns = end - begin;
        m->known++;
        return true;
}

void meter_gc_request(struct meter *m, unsigned capability, uint64_t at_ns)
{
        if (capability < AGENT_CAPABILITIES)
                m->gc_request[capability] = at_ns;
}

void meter_gc_begin(struct meter *m, unsigned capability, uint64_t at_ns)
{
        if (capability >= AGENT_CAPABILITIES)
                return;
        const uint64_t request = m->gc_request[capability];
        m->gc_request[capability] = 0;
        m->gc_begin[capability] = request > 0 && request < at_ns ? request : at_ns;
}

void meter_gc_end(struct meter *m, unsigned capability, uint64_t at_ns)
{
        if (capability >= AGENT_CAPABILITIES || m->gc_begin[capability] == 0)
                return;
        uint64_t begin = m->gc_begin[capability];
        m->gc_begin[capability] = 0;
        for (unsigned i = 0; i < METER_KEPT; i++)
                if (match(m, m->censuses[i], begin, at_ns)) {
                        m->censuses[i] = 0;
                        return;
                }
        m->collections[m->next_collection].begin = begin;
        m->collections[m->next_collection].end = at_ns;
        m->next_collection = (m->next_collection + 1) % METER_KEPT;
}

void meter_census(struct meter *m, uint64_t at_ns)
{
        m->taken++;
        for (unsigned i = 0; i < METER_KEPT; i++)
                if (match(m, at_ns, m->collections[i].begin, m->collections[i].end))
                        return;
        m->censuses[m->next_census] = at_ns;
        m->next_census = (m->next_census + 1) % METER_KEPT;
}

void meter_copied(struct meter *m, unsigned generation, uint64_t bytes)
{
        if (generation == 0)
                m->promoted_bytes += bytes / 2;
}

void meter_live(struct meter *m, uint64_t bytes)
{
        m->promoted_before_bytes = m->promoted_bytes;
        m->promoted_bytes = 0;
        m->live_bytes = bytes;
        m->lives++;
}
