/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allowance.h - rate limits of one client: requests per second, and a share of the loop's time.
 *
 * All requests together have at most a quarter of a busy loop (zloop.h); this protects clients from each other, and
 * gives a client that requests in a loop an error. A connection is a client. Both limits are token buckets, kept as the
 * time at which the bucket would be full again (GCRA, as in ATM's traffic contracts).
 *
 * Pure: times are arguments. ALLOWANCE_CLIENTS are remembered; the least recently active one is replaced.
 */
#ifndef HW_DAEMON_TRANSPORT_ALLOWANCE_H
#define HW_DAEMON_TRANSPORT_ALLOWANCE_H

#include <stdint.h>

#define ALLOWANCE_CLIENTS 128u

struct allowance {
        uint64_t client;           /* 0: free */
        uint64_t rate_ns, cost_ns; /* when each bucket is full again */
        uint64_t asked_ns;
};

struct allowances {
        struct allowance of[ALLOWANCE_CLIENTS]; /* all bytes 0: no requests yet */
};

enum allowance_why { ALLOWANCE_RATE, ALLOWANCE_COST };

/*
 * A request of this client (any number but 0) came. Returns 0 if it may be answered; its cost is reported afterwards
 * with allowance_spend. Else returns the ns until it could be; nothing was taken from the buckets; *ret_why is which
 * one is empty.
 */
uint64_t allowance_ask(struct allowances *a, uint64_t client, uint64_t now_ns, enum allowance_why *ret_why);
void allowance_spend(struct allowances *a, uint64_t client, uint64_t now_ns, uint64_t cost_ns);

#endif
