/* SPDX-License-Identifier: BSD-3-Clause */
/* address.h - a socket URI as a socket address. No names are looked up. */
#ifndef HW_DAEMON_SOURCE_ADDRESS_H
#define HW_DAEMON_SOURCE_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "daemon/source/uri.h"

struct address {
        struct sockaddr_storage storage;
        socklen_t size;
};

/* `second` asks for localhost's other address: ::1 instead of 127.0.0.1. */
void address_of(const struct source_uri *uri, bool second, struct address *ret_address);

/* A nonblocking, close-on-exec stream socket for it; -1 with errno. */
int address_socket(const struct address *address);

#endif
