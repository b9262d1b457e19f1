/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * broadcast.h - sends updates to all subscribers, on a thread of its own.
 *
 * ZeroMQ looks up the subscribers of a message in a trie of all subscriptions, and walks the whole trie whenever a
 * connection ends. Clients decide how large it is; the loop that reads the programs' logs must not pay for it.
 *
 * A connection may have LIMIT_SUBSCRIPTIONS_OF_ONE subscriptions, all connections together as many as broadcast_start
 * is given. One that exceeds this is shut down, which is counted and logged. How fast they may come is connections.h's.
 */
#ifndef HW_DAEMON_TRANSPORT_BROADCAST_H
#define HW_DAEMON_TRANSPORT_BROADCAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zmq.h>

struct broadcast;

/* NULL when out of memory or descriptors. `high_water_mark`: messages a subscriber. */
struct broadcast *broadcast_new(void *context, int high_water_mark);

/* The XPUB. The caller binds it before broadcast_start and uses it afterwards only between _pause and _resume. */
void *broadcast_socket(const struct broadcast *b);

/* `most`: subscriptions of all connections. */
bool broadcast_start(struct broadcast *b, unsigned most);

/* Waits until the thread has finished its current turn and leaves the XPUB alone. */
void broadcast_pause(struct broadcast *b);
void broadcast_resume(struct broadcast *b);

/* Never blocks. 0: takes ownership of the message; else -errno, and the caller keeps it. */
int broadcast_send(struct broadcast *b, const char *topic, size_t topic_size, zmq_msg_t *message);

/* Current subscriptions of all connections; connections closed so far because they had too many. */
uint64_t broadcast_subscriptions(const struct broadcast *b);
uint64_t broadcast_disconnected(const struct broadcast *b);

/* Sends what is queued and ends the thread, if it runs; NULL is allowed. The XPUB is the caller's again. */
void broadcast_stop(struct broadcast *b);

/* Also closes its sockets. */
void broadcast_destroy(struct broadcast **b);

#endif
