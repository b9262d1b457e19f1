/* SPDX-License-Identifier: BSD-3-Clause */
/* peers.c - DESIGN: a table with linear search, once per request, and once per 8 KiB that subscribers send. */
#include "daemon/transport/peers.h"

struct peer *peers_find(struct peers *p, uint64_t who, uint64_t now_ns)
{
        struct peer *found = &p->of[0];

        for (unsigned i = 0; i < PEERS_MAX && found->who != who; i++)
                if (p->of[i].who == who || p->of[i].active_ns < found->active_ns)
                        found = &p->of[i];
        if (found->who != who)
                *found = (struct peer){ .who = who };
        found->active_ns = now_ns;
        return found;
}

static uint64_t after(uint64_t full_ns, uint64_t now_ns, uint64_t cost_ns)
{
        return (full_ns > now_ns ? full_ns : now_ns) + cost_ns;
}

uint64_t bucket_wait(uint64_t full_ns, uint64_t now_ns, uint64_t cost_ns, uint64_t burst_ns)
{
        const uint64_t then_ns = after(full_ns, now_ns, cost_ns);

        return then_ns > now_ns + burst_ns ? then_ns - now_ns - burst_ns : 0;
}

void bucket_spend(uint64_t *full_ns, uint64_t now_ns, uint64_t cost_ns)
{
        *full_ns = after(*full_ns, now_ns, cost_ns);
}

bool bucket_take(uint64_t *full_ns, uint64_t now_ns, uint64_t cost_ns, uint64_t burst_ns)
{
        const bool enough = bucket_wait(*full_ns, now_ns, cost_ns, burst_ns) == 0;

        *full_ns = enough ? after(*full_ns, now_ns, cost_ns) : now_ns + burst_ns;
        return enough;
}
