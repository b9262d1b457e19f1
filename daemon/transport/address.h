/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * address.h - who is at the other end of a connection: as a number, by which
 * shares are counted, and as people read it. Over ipc that is a process, over
 * TCP an address.
 */
#ifndef HW_DAEMON_TRANSPORT_ADDRESS_H
#define HW_DAEMON_TRANSPORT_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#define PEER_TEXT 64 /* "192.0.2.7:40312", "[2001:db8::1]:40312", "uid 1000 pid 4711" */

struct sockaddr_storage;

/* 0: it has none. */
uint16_t address_port(const struct sockaddr_storage *a);

/* Both are of TCP. */
bool address_same(const struct sockaddr_storage *a, const struct sockaddr_storage *b);

/* Of the connection `fd`, whose other end is `peer` (AF_UNIX: the kernel is asked for the process). Never 0. */
uint64_t address_who(int fd, const struct sockaddr_storage *peer);

/* The same as people read it; "?" when it is not known. Returns `out`. */
const char *address_text(int fd, const struct sockaddr_storage *peer, char out[PEER_TEXT]);

/* Whom a message came from. */
struct message_sender {
        uint64_t who;         /* the process, or the TCP address, as a number; 0: not known */
        bool is_root;         /* over ipc */
        char name[PEER_TEXT]; /* "uid 1000 pid 4711" over ipc, "192.0.2.7"; "?": not known */
};

/*
 * By libzmq's "Peer-Address" of the message: "NAME:UID:GID:PID" over ipc. The descriptor that it came by may be another
 * connection's by now, of another user.
 */
void address_sender(const char *address, struct message_sender *ret);

#endif
