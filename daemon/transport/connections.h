/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connections.h - who is connected to the daemon's sockets, by descriptor.
 *
 * libzmq neither reports who connects nor can end the connection of one peer. But it accepts through our accept4()
 * (daemon/loop/accept.h), and gives the descriptor of each message. So the user of each ipc connection is checked, and
 * one that is neither ours nor root is closed, whatever the directory's mode has become; and TCP connections are
 * recorded, so that they can be shut down when their key is revoked, which libzmq sees as the peer's end.
 *
 * Each listener has a number of places, half of which one peer may take (a process, or a TCP address); further
 * connections are closed at once. What clients send passes through our recv() (daemon/loop/receive.h): the rate of
 * subscribers is limited (subscriber_quota.h), and so is what was received of any connection and not yet read as
 * messages. libzmq itself would take in a message of endless parts until memory is used up. A connection that sends too
 * much is shut down; and so is one that takes nothing while others wait for the memory that its messages have: what it
 * took is what passed through our send() (daemon/loop/send.h) and is no longer in the kernel's queue.
 *
 * Two threads: libzmq's accepts, ours looks up and shuts down; a lock protects the table. A descriptor is shut down
 * under the lock, and only if the kernel still reports the peer that was accepted: it cannot have been reused.
 */
#ifndef HW_DAEMON_TRANSPORT_CONNECTIONS_H
#define HW_DAEMON_TRANSPORT_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/transport/address.h"
#include "proto/keys/key.h"

struct connections_listener {
        const char *address; /* "ipc://PATH", "tcp://HOST:PORT"; copied */
        unsigned places;
        size_t unread; /* bytes of all together; beyond, who holds more than one place's part is shut down */
};

/* The listeners for publishing and for requests. One set per process. */
void connections_begin(const struct connections_listener from[2]);
void connections_end(void);

/* The listeners for those with keys: this port and the one above it. */
void connections_keyed(uint16_t port);

/* Whether the descriptor is a connection to the publisher, of whichever listener. */
bool connections_is_subscriber(int fd);

/* The peer of this descriptor; "?" if it is not a connection to our listeners. Returns `out`. */
const char *connections_peer(int fd, char out[PEER_TEXT]);

/*
 * Somebody waits for memory: shuts down the requesters, or subscribers, that have taken nothing for STUCK_NS of what
 * waits for them; not `but`. To be called again and again meanwhile: who is stuck is seen by comparing. Returns how
 * many.
 */
size_t connections_shut_stuck(bool subscribers, int but);

/* Whether one of this process or address was shut down so within STUCK_KNOWN_NS. */
bool connections_known_stuck(uint64_t who);

/* A message of `size` bytes, or a part of one, was read that came from this descriptor; below 0: not known which. */
void connections_read(int fd, size_t size);

/* A message with this key came from this descriptor. */
void connections_note_key(int fd, const uint8_t public[KEY_BYTES]);

/*
 * Shuts down all connections to keyed listeners whose key is not known to hold. Returns how many. A subscriber sends no
 * messages, so its key is not known: it is shut down too, and connects again by itself.
 */
size_t connections_shut(bool (*holds)(const void *ctx, const uint8_t public[KEY_BYTES]), const void *ctx);

/* Connections over ipc that were closed because another user made them, since the start. */
uint64_t connections_of_other_users(void);

/* Connections closed for want of a place, for their requests or unread replies; subscribers shut down for what they
 * sent or did not read. */
uint64_t connections_refused(void);
uint64_t connections_disconnected(void);

#endif
