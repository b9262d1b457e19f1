/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * listen_address.h - where the server listens: ADDRESS:PORT or unix:PATH.
 *
 * A Unix socket is for a reverse proxy on this machine: its mode is 0660, so
 * the owner and the socket's group may connect. A stale one is replaced; it is
 * removed at the end.
 */
#ifndef HW_CLIENT_HTTP_LISTEN_ADDRESS_H
#define HW_CLIENT_HTTP_LISTEN_ADDRESS_H

#include <event2/listener.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

struct error;

#define LISTEN_ADDRESS_TEXT_MOST (sizeof(((struct sockaddr_un *)NULL)->sun_path) + 8)

struct listen_address {
        struct sockaddr_storage address;
        socklen_t length;
};

/* "127.0.0.1:8077", "localhost:8077", "[::1]:8077", "unix:/run/x.sock"; port 0 is any free one. False: malformed. */
bool listen_address_parse(struct listen_address *p, const char *text);

/* Whether only this machine reaches it: loopback, or a Unix socket. */
bool listen_address_is_local(const struct listen_address *p);
bool listen_address_is_unix(const struct listen_address *p);

/* A listener without a callback; p->address then has the port. NULL with a message in `error`. */
struct evconnlistener *listen_address_listen(struct listen_address *p, struct event_base *base, struct error *error);

/* "http://127.0.0.1:8077/" or "unix:PATH". */
void listen_address_name(const struct listen_address *p, char *out, size_t size);

/* The port; 0 for a Unix socket. */
unsigned listen_address_port(const struct listen_address *p);

/* After the listener was freed: removes a Unix socket's file. */
void listen_address_leave(const struct listen_address *p);

/* This end's address of a connection as inet_ntop writes it; "" for a Unix socket. */
void listen_address_of_connection(int fd, char out[INET6_ADDRSTRLEN]);

/* The other end's, if it is on another machine; otherwise "". */
void listen_address_of_peer(int fd, char out[INET6_ADDRSTRLEN]);

#endif
