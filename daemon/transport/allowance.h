/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allowance.h - what one client may ask: so many requests a second, and so much of the loop's time.
 *
 * All requests together have at most a quarter of a busy loop (zloop.h); this is about one client beside others, and so
 * that one that asks in a circle is told so. A connection is a client. Both bounds are token buckets, kept as the time
 * at which the bucket would be full again (GCRA, as ATM's traffic contracts have it).
 *
 * Pure: times are arguments. ALLOWANCE_CLIENTS are remembered; the one that was silent for longest gives way.
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
        struct allowance of[ALLOWANCE_CLIENTS]; /* zeroed: nobody has asked yet */
};

enum allowance_why { ALLOWANCE_RATE, ALLOWANCE_COST };

/*
 * A request of this client (any number but 0) came. 0: it may be answered; say afterwards what it cost. Else it is not
 * to be answered, nothing was taken from the buckets, and in so many ns it would be; *ret_why says which one is empty.
 */
uint64_t allowance_ask(struct allowances *a, uint64_t client, uint64_t now_ns, enum allowance_why *ret_why);
void allowance_spend(struct allowances *a, uint64_t client, uint64_t now_ns, uint64_t cost_ns);

#endif
