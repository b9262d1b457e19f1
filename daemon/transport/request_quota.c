/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/transport/request_quota.h"

#include "daemon/transport/limits.h"
#include "proto/base/time.h"

uint64_t request_quota_ask(struct peers *clients, uint64_t client, uint64_t now_ns, enum request_quota_why *ret_why)
{
        const uint64_t request_ns = NS_PER_S / LIMIT_REQUESTS_PER_S;
        uint64_t *full_ns = peers_find(clients, client, now_ns)->full_ns;
        const uint64_t by_rate =
                bucket_wait(full_ns[REQUEST_QUOTA_RATE], now_ns, request_ns, LIMIT_REQUESTS_BURST * request_ns);
        const uint64_t by_cost =
                bucket_wait(full_ns[REQUEST_QUOTA_COST], now_ns, 0, LIMIT_COST_BURST_NS * 100 / LIMIT_COST_PERCENT);

        *ret_why = by_cost > by_rate ? REQUEST_QUOTA_COST : REQUEST_QUOTA_RATE;
        if (by_rate == 0 && by_cost == 0)
                bucket_spend(&full_ns[REQUEST_QUOTA_RATE], now_ns, request_ns);
        return by_cost > by_rate ? by_cost : by_rate;
}

void request_quota_spend(struct peers *clients, uint64_t client, uint64_t now_ns, uint64_t cost_ns)
{
        bucket_spend(&peers_find(clients, client, now_ns)->full_ns[REQUEST_QUOTA_COST], now_ns,
                     cost_ns * 100 / LIMIT_COST_PERCENT);
}
