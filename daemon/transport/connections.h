/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connections.h - who is connected to the daemon's sockets, by descriptor.
 *
 * libzmq neither reports who connects nor can end the connection of one peer. But it accepts through our accept4()
 * (daemon/loop/accept.h), and gives the descriptor of each message. So the user of each ipc connection is checked, and
 * one that is neither ours nor root is closed, whatever the directory's mode has become; and TCP connections are
 * recorded, so that they can be shut down when their key is revoked, which libzmq sees as the peer's end.
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

#include "proto/keys/key.h"

#define PEER_TEXT 64 /* "192.0.2.7:40312", "[2001:db8::1]:40312", "uid 1000" */

/* The listeners: two paths (NULL: none) and two TCP ports (0: none). One set per process; the paths are copied. */
void connections_begin(const char *const paths[2], const uint16_t ports[2]);
void connections_end(void);

/* The peer of this descriptor; "?" if it is not a connection to our listeners. Returns `out`. */
const char *connections_peer(int fd, char out[PEER_TEXT]);

/* A message with this key came from this descriptor. */
void connections_note_key(int fd, const uint8_t public[KEY_BYTES]);

/*
 * Shuts down all TCP connections whose key is not known to hold. Returns how many. A subscriber sends no messages, so
 * its key is not known: it is shut down too, and connects again by itself.
 */
size_t connections_shut(bool (*holds)(const void *ctx, const uint8_t public[KEY_BYTES]), const void *ctx);

/* Connections over ipc that were closed because another user made them, since the start. */
uint64_t connections_of_other_users(void);

#endif
