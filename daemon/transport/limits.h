/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - what waits in sockets, and the priorities of the loop. */
#ifndef HW_DAEMON_TRANSPORT_LIMITS_H
#define HW_DAEMON_TRANSPORT_LIMITS_H

#define LOOP_PRIORITIES             3 /* of the event loop: events are LOOP_PRIORITIES / 2 unless they say ... */
#define LOOP_FIRST                  0 /* ... that they go before: requests, signals, the heartbeat; or last (zloop.c) */
#define LIMIT_SUBSCRIPTION_BYTES    128               /* one subscription, longer than any topic: then no connection */
#define LIMIT_PUMP_NS               5000000u          /* one turn of a socket: then the others get theirs ... */
#define PUMP_REST                   3u                /* ... for so many times as long, while they have work */
#define LIMIT_UPDATES_WAITING_BYTES ((size_t)8 << 20) /* for slow subscribers: larger updates are left out then */
#define LIMIT_SMALL_UPDATE_BYTES    1024u             /* up to this they go on: bounded by the high-water mark */
#define LIMIT_REQUESTS_WAITING      1000              /* per client, in ZeroMQ's queue: the client waits */
#define LIMIT_REQUESTS_PER_S        500u              /* of one client; told so beyond them ... */
#define LIMIT_REQUESTS_BURST        1000u             /* ... after so many at once */
#define LIMIT_COST_PERCENT          50u               /* of a processor, for one client's requests; told so beyond it */
#define LIMIT_COST_BURST_NS         UINT64_C(2000000000)
#define LIMIT_REPLIES_WAITING       65536 /* messages per client: the rest of the answer is dropped and counted */
#define LIMIT_REPLIES_WAITING_BYTES ((size_t)64 << 20) /* over all clients: the same */

#endif
