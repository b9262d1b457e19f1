/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peers.h - token buckets of each peer: what request_quota.h and subscriber_quota.h limit.
 *
 * A bucket is kept as the time at which it would be full again (GCRA, as in ATM's traffic contracts); what is taken
 * from it is given as the time in which that much flows in. PEERS_MAX peers are remembered; the least recently active
 * one is replaced, by a peer with full buckets.
 *
 * Pure: times are arguments, all in ns of one clock.
 */
#ifndef HW_DAEMON_TRANSPORT_PEERS_H
#define HW_DAEMON_TRANSPORT_PEERS_H

#include <stdbool.h>
#include <stdint.h>

#define PEERS_MAX 128u

struct peer {
        uint64_t who; /* 0: free */
        uint64_t active_ns;
        uint64_t full_ns[2]; /* two buckets */
};

struct peers {
        struct peer of[PEERS_MAX]; /* all bytes 0: nobody has come yet */
};

/* This peer (any number but 0), active now. Valid until the next call. */
struct peer *peers_find(struct peers *p, uint64_t who, uint64_t now_ns);

/* How long until this cost could be taken; 0: now. */
uint64_t bucket_wait(uint64_t full_ns, uint64_t now_ns, uint64_t cost_ns, uint64_t burst_ns);

/* Takes from a bucket; what it does not have it owes. */
void bucket_spend(uint64_t *full_ns, uint64_t now_ns, uint64_t cost_ns);

/* Takes from a bucket; what it does not have is forgiven. False: it had less. */
bool bucket_take(uint64_t *full_ns, uint64_t now_ns, uint64_t cost_ns, uint64_t burst_ns);

#endif
