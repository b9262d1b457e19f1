/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request_quota.h - rate limits of one client: requests per second, and a share of the loop's time.
 *
 * All requests together have at most a quarter of a busy loop (zloop.h); this protects clients from each other, and
 * gives a client that requests in a loop an error. A connection is a client. Both limits are token buckets (peers.h).
 *
 * Pure: times are arguments.
 */
#ifndef HW_DAEMON_TRANSPORT_REQUEST_QUOTA_H
#define HW_DAEMON_TRANSPORT_REQUEST_QUOTA_H

#include <stdint.h>

#include "daemon/transport/peers.h"

/* Which limit; also the place of its bucket. */
enum request_quota_why { REQUEST_QUOTA_RATE, REQUEST_QUOTA_COST };

/*
 * A request of this client (any number but 0) came. Returns 0 if it may be answered; its cost is reported afterwards
 * with request_quota_spend. Else returns the ns until it could be; nothing was taken from the buckets; *ret_why is
 * which one is empty.
 */
uint64_t request_quota_ask(struct peers *clients, uint64_t client, uint64_t now_ns, enum request_quota_why *ret_why);
void request_quota_spend(struct peers *clients, uint64_t client, uint64_t now_ns, uint64_t cost_ns);

#endif
