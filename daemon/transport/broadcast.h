/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * broadcast.h - updates to all subscribers, by a thread of its own.
 *
 * Whom a message is for, ZeroMQ finds in a trie of all subscriptions, and it walks all of that trie for each connection
 * that ends. How much that is, clients decide; the loop that reads programs' logs must not pay for it.
 *
 * A connection may have LIMIT_SUBSCRIPTIONS_OF_ONE of them, all together LIMIT_SUBSCRIPTIONS: which makes more is
 * disconnected, and that is counted and logged.
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

/* To be bound before broadcast_start, and left alone afterwards but between broadcast_pause and broadcast_resume. */
void *broadcast_socket(const struct broadcast *b);

/* `endpoints`: what it was bound to, "" for none; copied. */
bool broadcast_start(struct broadcast *b, const char *const endpoints[2]);

/* Waits until the thread has done what it is at. */
void broadcast_pause(struct broadcast *b);
void broadcast_resume(struct broadcast *b);

/* Never waits. 0: the message is taken over; else -errno, and it is the caller's still. */
int broadcast_send(struct broadcast *b, const char *topic, size_t topic_size, zmq_msg_t *message);

/* Those there are now, of all connections; and how many connections were closed because they had too many. */
uint64_t broadcast_subscriptions(const struct broadcast *b);
uint64_t broadcast_disconnected(const struct broadcast *b);

/* Passes on what waits and ends the thread, if there is one; NULL is allowed. The socket is the caller's again. */
void broadcast_stop(struct broadcast *b);

/* Also closes its sockets. */
void broadcast_destroy(struct broadcast **b);

#endif
