/* SPDX-License-Identifier: BSD-3-Clause */
/* inflow.c - DESIGN: a table with linear search, once per 8 KiB that come (libzmq reads as much at a time). */
#include "daemon/transport/inflow.h"

#include "daemon/transport/limits.h"

#define SECOND_NS UINT64_C(1000000000)

static uint64_t time_of(uint64_t bytes, uint64_t bytes_per_s)
{
        return bytes * SECOND_NS / bytes_per_s;
}

static struct inflow_peer *find(struct inflow *f, uint64_t peer)
{
        struct inflow_peer *oldest = &f->of[0];

        for (unsigned i = 0; i < INFLOW_PEERS; i++) {
                if (f->of[i].peer == peer)
                        return &f->of[i];
                if (f->of[i].came_ns < oldest->came_ns)
                        oldest = &f->of[i];
        }
        *oldest = (struct inflow_peer){ .peer = peer };
        return oldest;
}

/* Takes from a bucket; an empty one stays empty. False: it had less. */
static bool take(uint64_t *full_ns, uint64_t now_ns, uint64_t cost_ns, uint64_t burst_ns)
{
        const uint64_t from_ns = *full_ns > now_ns ? *full_ns : now_ns;
        const bool enough = from_ns + cost_ns <= now_ns + burst_ns;

        *full_ns = enough ? from_ns + cost_ns : now_ns + burst_ns;
        return enough;
}

static bool is_small(const struct inflow_peer *p, uint64_t now_ns)
{
        return p->full_ns <= now_ns + time_of(INFLOW_SMALL_BYTES, INFLOW_BYTES_PER_S);
}

bool inflow_take(struct inflow *f, uint64_t peer, uint64_t now_ns, size_t bytes)
{
        struct inflow_peer *p = find(f, peer);
        const uint64_t size = bytes < INFLOW_ALL_BURST_BYTES ? bytes : INFLOW_ALL_BURST_BYTES;
        const bool of_all = take(&f->full_ns, now_ns, time_of(size, INFLOW_ALL_BYTES_PER_S),
                                 time_of(INFLOW_ALL_BURST_BYTES, INFLOW_ALL_BYTES_PER_S));
        const bool own = take(&p->full_ns, now_ns, time_of(size, INFLOW_BYTES_PER_S),
                              time_of(INFLOW_BURST_BYTES, INFLOW_BYTES_PER_S));

        p->came_ns = now_ns;
        return own && (of_all || is_small(p, now_ns));
}

bool inflow_connects(struct inflow *f, uint64_t peer, uint64_t now_ns)
{
        return inflow_take(f, peer, now_ns, INFLOW_CONNECTION_BYTES);
}
