/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connections.h - who is connected to the daemon's sockets, by descriptor.
 *
 * libzmq neither says who connects nor ends the connection of one peer. But it accepts through our accept4()
 * (daemon/loop/accept.h), and says of each message by which descriptor it came. So: whoever comes over an ipc socket is
 * asked for its user, and a user other than ours and root is not let in, whatever became of the directory's mode; and a
 * TCP connection is remembered, so that it can be shut down when its key is revoked. libzmq sees that as an end.
 *
 * Two threads: libzmq's accepts, ours asks and ends; a lock between them. A number is shut down under the lock, and
 * only when the kernel names the same peer for it as when it was accepted: nobody else can have been given it
 * meanwhile.
 */
#ifndef HW_DAEMON_TRANSPORT_CONNECTIONS_H
#define HW_DAEMON_TRANSPORT_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/keys/key.h"

#define PEER_TEXT 64 /* "192.0.2.7:40312", "[2001:db8::1]:40312", "uid 1000" */

/* Of which listeners: two paths (NULL: none) and two TCP ports (0: none). One set a process; the paths are copied. */
void connections_begin(const char *const paths[2], const uint16_t ports[2]);
void connections_end(void);

/* Who is at the other end of this descriptor, as far as it is a connection to us; else "?". Returns `out`. */
const char *connections_peer(int fd, char out[PEER_TEXT]);

/* A message of this key came by this descriptor. */
void connections_note_key(int fd, const uint8_t public[KEY_BYTES]);

/*
 * Shuts down all TCP connections but those whose key is known and still holds. Returns how many. Whose key was never
 * seen (a subscriber sends nothing by which it is known) goes too: it connects again by itself.
 */
size_t connections_shut(bool (*holds)(const void *ctx, const uint8_t public[KEY_BYTES]), const void *ctx);

/* Connections over ipc that were closed because another user made them, since the start. */
uint64_t connections_strangers(void);

#endif
