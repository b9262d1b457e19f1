/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * quotas.h - what one client may use, so that something is left for the others: of memory, of the loop's time, of what
 * is read from subscribers and of the room in which replies wait. The numbers are those of limits.h.
 *
 * A client, or peer, is a process or a TCP address, however many connections it has; it has a number other than 0.
 * Pure: times are arguments, all in ns of one clock.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------------------ memory */

/*
 * What clients may take of the daemon's memory. Of the budget (daemon/source/loop/memory.h) at most an eighth waits
 * as replies and a 32nd as large updates; a quarter is for subscribers' queues, a 16th each for requesters'
 * connections, for subscriptions, and for requests and subscriptions that are not whole yet: 21 32nds. The rest, and
 * what clients do not use, is the targets'; when these have used it, a snapshot is sent in small parts. Without a
 * budget, and with a large one, the limits of limits.h hold.
 */
struct client_memory {
        size_t replies, updates; /* bytes that wait */
        unsigned mark;           /* messages that a subscriber's queue holds */
        unsigned subscribers;    /* connections */
        unsigned requesters;     /* likewise */
        unsigned subscriptions;
        size_t unread; /* bytes received of each socket's clients, and not yet read as messages */
};

/* `given`: the budget in bytes; 0 or UNKNOWN_U64: none. `mark`: messages that a subscriber's queue may hold. */
struct client_memory client_memory_of(uint64_t given, unsigned mark);

/* ------------------------------------------------------------------- peers */

/*
 * Two token buckets of each peer. A bucket is kept as the time at which it would be full again (GCRA, as in ATM's
 * traffic contracts). PEERS_MAX peers are remembered; the least recently active one is replaced, by a peer with full
 * buckets.
 */
#define PEERS_MAX 128u

struct peer {
        uint64_t who; /* 0: free */
        uint64_t active_ns;
        uint64_t full_ns[2]; /* two buckets */
};

struct peers {
        struct peer of[PEERS_MAX]; /* all bytes 0: no peer has come yet */
};

/* This peer, active now. Valid until the next call. */
struct peer *peers_find(struct peers *p, uint64_t who, uint64_t now_ns);

/* ---------------------------------------------------------------- requests */

/*
 * Requests per second of one client, and its share of the loop's time. All requests together have at most a quarter of
 * a busy loop (zloop.h); this protects clients from each other, and gives a client that requests in a loop an error.
 * Here a connection is a client.
 */
enum request_quota_why { REQUEST_QUOTA_RATE, REQUEST_QUOTA_COST }; /* which limit; also the place of its bucket */

/*
 * A request of this client came. Returns 0 if it may be answered; its cost is reported afterwards with
 * request_quota_spend. Else returns the ns until it could be; nothing was taken from the buckets; *ret_why is which one
 * is empty.
 */
uint64_t request_quota_acquire(struct peers *clients, uint64_t client, uint64_t now_ns,
                               enum request_quota_why *ret_why);
void request_quota_spend(struct peers *clients, uint64_t client, uint64_t now_ns, uint64_t cost_ns);

/* ----------------------------------------------------------- subscriptions */

/*
 * Bytes that subscribers send, of each peer and of all together. What a subscriber sends are subscriptions. libzmq
 * takes in as many as come, in one go, and keeps a note of each until it is read here; one that subscribes and
 * unsubscribes without end, or connects again and again with thousands of them, would use up the thread that publishes,
 * and memory.
 */
struct subscriber_quota { /* all bytes 0: nothing has come yet */
        struct peers peers;
        uint64_t full_ns; /* the bucket of all */
};

/* A new connection of this peer. False: it has used up its share, or all have theirs. */
bool subscriber_quota_admit(struct subscriber_quota *q, uint64_t peer, uint64_t now_ns);

/*
 * So many bytes came. False: that was too much, the connection is to be shut. When all together send too much, those
 * who sent little are left alone.
 */
bool subscriber_quota_charge(struct subscriber_quota *q, uint64_t peer, uint64_t now_ns, size_t bytes);

/* ----------------------------------------------------------------- replies */

/*
 * Bytes of replies that clients have not taken, of each client and in all. A client may have twice as much waiting as
 * is still free for all (a dynamic threshold, as in switches with shared memory). Alone it gets two thirds of the room;
 * one that does not read its replies leaves a third to the others, and several of them leave something, too: at least
 * a small reply for each, as of `status`. A large one then has to wait until those who read nothing are shut down
 * (front.h).
 *
 * The owner's thread adds, any thread removes.
 */
#define BACKLOG_CLIENTS 128u /* with replies waiting; further ones share a place, and its limit */

struct backlog_client {
        uint64_t client; /* whose it was last */
        atomic_size_t bytes;
};

struct backlog {
        struct backlog_client of[BACKLOG_CLIENTS]; /* all bytes 0: nothing waits */
        atomic_size_t bytes;
};

/* Its place, for as long as a reply is made for it. */
struct backlog_client *backlog_find(struct backlog *b, uint64_t client);

/* Whether a reply of `size` may wait, of `room` bytes for all: of any size when the client is ready. */
bool backlog_accepts(const struct backlog *b, const struct backlog_client *c, size_t size, size_t room);

/* Whether it has taken most of what it may have waiting. */
bool backlog_is_ready(const struct backlog *b, const struct backlog_client *c, size_t room);

void backlog_add(struct backlog *b, struct backlog_client *c, size_t size);
void backlog_remove(struct backlog *b, struct backlog_client *c, size_t size);
