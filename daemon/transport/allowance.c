/* SPDX-License-Identifier: BSD-3-Clause */
/* allowance.c - DESIGN: a table of 128 places with linear search, once per request. */
#include "daemon/transport/allowance.h"

#include "daemon/transport/limits.h"

#define SECOND_NS UINT64_C(1000000000)

static struct allowance *find(struct allowances *a, uint64_t client)
{
        struct allowance *oldest = &a->of[0];

        for (unsigned i = 0; i < ALLOWANCE_CLIENTS; i++) {
                if (a->of[i].client == client)
                        return &a->of[i];
                if (a->of[i].asked_ns < oldest->asked_ns)
                        oldest = &a->of[i];
        }
        *oldest = (struct allowance){ .client = client };
        return oldest;
}

static uint64_t later(uint64_t a, uint64_t b)
{
        return a > b ? a : b;
}

/* How long until a bucket has room again; 0: now. */
static uint64_t wait_ns(uint64_t full_ns, uint64_t now_ns, uint64_t burst_ns)
{
        return full_ns > now_ns + burst_ns ? full_ns - now_ns - burst_ns : 0;
}

uint64_t allowance_ask(struct allowances *a, uint64_t client, uint64_t now_ns, enum allowance_why *ret_why)
{
        struct allowance *c = find(a, client);
        const uint64_t rate_ns = later(c->rate_ns, now_ns) + SECOND_NS / LIMIT_REQUESTS_PER_S;
        const uint64_t by_rate = wait_ns(rate_ns, now_ns, LIMIT_REQUESTS_BURST * SECOND_NS / LIMIT_REQUESTS_PER_S);
        const uint64_t by_cost = wait_ns(c->cost_ns, now_ns, LIMIT_COST_BURST_NS * 100 / LIMIT_COST_PERCENT);

        c->asked_ns = now_ns;
        *ret_why = by_cost > by_rate ? ALLOWANCE_COST : ALLOWANCE_RATE;
        if (by_rate == 0 && by_cost == 0)
                c->rate_ns = rate_ns;
        return later(by_rate, by_cost);
}

void allowance_spend(struct allowances *a, uint64_t client, uint64_t now_ns, uint64_t cost_ns)
{
        struct allowance *c = find(a, client);

        c->cost_ns = later(c->cost_ns, now_ns) + cost_ns * 100 / LIMIT_COST_PERCENT;
}
