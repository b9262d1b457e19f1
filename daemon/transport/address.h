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

#define PEER_TEXT 64

struct sockaddr_storage;

/* Who is at the other end. */
struct message_sender {
        uint64_t who;         /* the process, or the TCP address, as a number; never 0 */
        bool is_root;         /* over ipc */
        char name[PEER_TEXT]; /* "uid 1000 pid 4711" over ipc, "192.0.2.7" */
};

/* Of the connection `fd`, whose other end is `peer`; AF_UNIX: the kernel is asked for the process. Padding is zero. */
void address_sender(int fd, const struct sockaddr_storage *peer, struct message_sender *ret);

/* The same for logs: "uid 1000 pid 4711", "192.0.2.7:40312", "[2001:db8::1]:40312". */
void address_print(const struct sockaddr_storage *peer, const struct message_sender *sender, char out[2 * PEER_TEXT]);

#endif
