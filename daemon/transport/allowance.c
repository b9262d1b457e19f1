/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/transport/allowance.h"

#include "daemon/transport/limits.h"

#define SECOND_NS UINT64_C(1000000000)

uint64_t allowance_ask(struct peers *clients, uint64_t client, uint64_t now_ns, enum allowance_why *ret_why)
{
        const uint64_t request_ns = SECOND_NS / LIMIT_REQUESTS_PER_S;
        uint64_t *full_ns = peers_find(clients, client, now_ns)->full_ns;
        const uint64_t by_rate =
                bucket_wait(full_ns[ALLOWANCE_RATE], now_ns, request_ns, LIMIT_REQUESTS_BURST * request_ns);
        const uint64_t by_cost =
                bucket_wait(full_ns[ALLOWANCE_COST], now_ns, 0, LIMIT_COST_BURST_NS * 100 / LIMIT_COST_PERCENT);

        *ret_why = by_cost > by_rate ? ALLOWANCE_COST : ALLOWANCE_RATE;
        if (by_rate == 0 && by_cost == 0)
                bucket_spend(&full_ns[ALLOWANCE_RATE], now_ns, request_ns);
        return by_cost > by_rate ? by_cost : by_rate;
}

void allowance_spend(struct peers *clients, uint64_t client, uint64_t now_ns, uint64_t cost_ns)
{
        bucket_spend(&peers_find(clients, client, now_ns)->full_ns[ALLOWANCE_COST], now_ns,
                     cost_ns * 100 / LIMIT_COST_PERCENT);
}
