/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/transport/subscriber_quota.h"

#include "daemon/transport/limits.h"
#include "proto/base/time.h"

static uint64_t time_of(uint64_t bytes, uint64_t bytes_per_s)
{
        return bytes * NS_PER_S / bytes_per_s;
}

static bool is_small(uint64_t full_ns, uint64_t now_ns)
{
        return full_ns <= now_ns + time_of(SUBSCRIBER_SMALL_BYTES, SUBSCRIBER_BYTES_PER_S);
}

bool subscriber_quota_take(struct subscriber_quota *f, uint64_t peer, uint64_t now_ns, size_t bytes)
{
        uint64_t *own_ns = &peers_find(&f->peers, peer, now_ns)->full_ns[0];
        const uint64_t size = bytes < SUBSCRIBER_ALL_BURST_BYTES ? bytes : SUBSCRIBER_ALL_BURST_BYTES;
        const bool of_all = bucket_take(&f->full_ns, now_ns, time_of(size, SUBSCRIBER_ALL_BYTES_PER_S),
                                        time_of(SUBSCRIBER_ALL_BURST_BYTES, SUBSCRIBER_ALL_BYTES_PER_S));
        const bool own = bucket_take(own_ns, now_ns, time_of(size, SUBSCRIBER_BYTES_PER_S),
                                     time_of(SUBSCRIBER_BURST_BYTES, SUBSCRIBER_BYTES_PER_S));

        return own && (of_all || is_small(*own_ns, now_ns));
}

bool subscriber_quota_connects(struct subscriber_quota *f, uint64_t peer, uint64_t now_ns)
{
        return subscriber_quota_take(f, peer, now_ns, SUBSCRIBER_CONNECTION_BYTES);
}
