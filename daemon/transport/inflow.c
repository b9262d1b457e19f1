/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/transport/inflow.h"

#include "daemon/transport/limits.h"

#define SECOND_NS UINT64_C(1000000000)

static uint64_t time_of(uint64_t bytes, uint64_t bytes_per_s)
{
        return bytes * SECOND_NS / bytes_per_s;
}

static bool is_small(uint64_t full_ns, uint64_t now_ns)
{
        return full_ns <= now_ns + time_of(INFLOW_SMALL_BYTES, INFLOW_BYTES_PER_S);
}

bool inflow_take(struct inflow *f, uint64_t peer, uint64_t now_ns, size_t bytes)
{
        uint64_t *own_ns = &peers_find(&f->peers, peer, now_ns)->full_ns[0];
        const uint64_t size = bytes < INFLOW_ALL_BURST_BYTES ? bytes : INFLOW_ALL_BURST_BYTES;
        const bool of_all = bucket_take(&f->full_ns, now_ns, time_of(size, INFLOW_ALL_BYTES_PER_S),
                                        time_of(INFLOW_ALL_BURST_BYTES, INFLOW_ALL_BYTES_PER_S));
        const bool own = bucket_take(own_ns, now_ns, time_of(size, INFLOW_BYTES_PER_S),
                                     time_of(INFLOW_BURST_BYTES, INFLOW_BYTES_PER_S));

        return own && (of_all || is_small(*own_ns, now_ns));
}

bool inflow_connects(struct inflow *f, uint64_t peer, uint64_t now_ns)
{
        return inflow_take(f, peer, now_ns, INFLOW_CONNECTION_BYTES);
}
