/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.h - what may wait in sockets, and the priorities of the loop. */
#pragma once

#define LOOP_PRIORITIES             3            /* of the event loop: LOOP_PRIORITIES / 2 by default ... */
#define LOOP_FIRST                  0            /* ... or first: requests, signals, the heartbeat; or last (zloop.c) */
#define LIMIT_SUBSCRIPTION_BYTES    128          /* of one subscription; beyond, ZeroMQ closes the connection */
#define LIMIT_KEYED_SUBSCRIPTION    512          /* over TCP: messages of the CURVE handshake are as long */
#define LIMIT_SUBSCRIPTIONS_OF_ONE  2048u        /* of one connection ... */
#define LIMIT_SUBSCRIPTIONS         8192u        /* ... and of all; a connection that makes more is shut down */
#define SUBSCRIBER_BYTES_PER_S      (32u << 10)  /* what subscribers of one peer may send ... */
#define SUBSCRIBER_BURST_BYTES      (512u << 10) /* ... after so many at once: all its subscriptions, and again */
#define SUBSCRIBER_ALL_BYTES_PER_S  (128u << 10) /* likewise, all together; ... */
#define SUBSCRIBER_ALL_BURST_BYTES  (2u << 20)
#define SUBSCRIBER_SMALL_BYTES      (16u << 10)       /* ... who has sent less is not held liable for others */
#define SUBSCRIBER_CONNECTION_BYTES 2048u             /* what a new connection counts for */
#define LIMIT_UPDATES_WAITING       65536             /* for the front; beyond, updates are dropped */
#define LIMIT_PUMP_NS               5000000u          /* one turn of a socket; then it rests ... */
#define PUMP_REST                   3u                /* ... for this many times as long while others have work */
#define LIMIT_UPDATES_WAITING_BYTES ((size_t)8 << 20) /* for slow subscribers; beyond, large updates are left out */
#define LIMIT_SMALL_UPDATE_BYTES    1024u             /* smaller ones go out: the high-water mark bounds them */
#define LIMIT_REQUESTS_WAITING      1000              /* per client, in ZeroMQ's queue: the client waits */
#define LIMIT_REQUESTS_PER_S        500u              /* of one client; beyond, it gets an error ... */
#define LIMIT_REQUESTS_BURST        1000u             /* ... after this many at once */
#define LIMIT_COST_PERCENT          50u               /* of a processor, for one client's requests; likewise */
#define LIMIT_COST_BURST_NS         UINT64_C(2000000000)
#define LIMIT_REPLIES_WAITING       65536 /* messages per client; the rest of the answer is dropped and counted */
#define LIMIT_REPLIES_WAITING_BYTES ((size_t)64 << 20) /* over all clients; likewise (quotas.h) */
#define HELD_BACK_BYTES             (32u << 10)        /* of one client, while memory is full: it gets the next then */
#define LIMIT_CONNECTIONS           1024u              /* of each socket; half of them of one peer */
#define LIMIT_UNREAD_BYTES          (512u << 10)       /* received of a connection, and not yet read as messages */
#define UNREAD_GROWS                32u                /* in libzmq: 64 bytes for an empty part, which comes as 2 */
#define RELAY_BYTES                 (16u << 10)        /* for one end of a connection; then the other waits */
#define MESSAGE_OVERHEAD_BYTES      64u                /* of a message on the wire, at most: framing, CURVE */
#define HEARTBEAT_BYTES_PER_S       32u                /* of a TCP connection, at most */
#define QUEUED_MESSAGE_BYTES        128u               /* a place in a subscriber's queue: two frames of libzmq */
#define CONNECTION_BYTES            (32u << 10)        /* of an idle requester; 31.7 kB as measured, ... */
#define SUBSCRIPTION_BYTES          5120u /* ... and 4.3 kB in its trie: test_clients_cost_what_is_reckoned */
#define LEAST_UNREAD_BYTES          ((size_t)128 << 10)
#define MOST_UNREAD_BYTES           ((size_t)4 << 20)
#define LEAST_REPLIES_WAITING_BYTES ((size_t)4 << 20) /* however small the budget */
#define LEAST_UPDATES_WAITING_BYTES ((size_t)1 << 20)
#define LEAST_CONNECTIONS           32u
#define LEAST_QUEUED                256u /* messages of a subscriber's queue */
#define LEAST_SUBSCRIPTIONS         512u
#define STUCK_NS                    UINT64_C(2000000000)  /* taking nothing so long while others wait: shut, ... */
#define STUCK_KNOWN_NS              UINT64_C(60000000000) /* ... and has so long ... */
#define STUCK_PART                  4u                    /* ... only this part of the memory for replies */
#define STUCK_LOOK_NS               UINT64_C(100000000)   /* between two looks for them */
#define LINGER_MS                   200                   /* to send what is waiting when the daemon ends */
#define HANDSHAKE_MS                5000                  /* how long a silent connection may hold descriptors */
#define HEARTBEAT_MS                5000                  /* TCP: a peer is asked for a sign of life so often ... */
#define HEARTBEAT_LOST_MS           15000                 /* ... and is gone when none came in that time */
