/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connections.h - who is connected, with limits of number, time and bytes.
 *
 * - A request has REQUEST_SECONDS from its first byte to its last.
 * - With CONNECTIONS_MOST open, the one that has waited longest without a
 *   complete request is closed for a new one; in the same way each address
 *   outside this machine has its own limit, PEER_CONNECTIONS_MOST.
 * - What all together have not read yet is at most about WAITING_MOST_BYTES:
 *   beyond that, the one with most unread bytes is closed.
 *
 * A closed client sees its connection end; a browser connects again.
 */
#pragma once

#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

struct connections;
struct error;
struct listen_address;

/* NULL: out of memory. */
struct connections *connections_new(struct event_base *base);

/*
 * Makes the server listen there, and creates its connections from now on. Server and address outlive it or end with it;
 * the caller calls place_leave. False with a message in `error`: nothing listens.
 */
bool connections_listen(struct connections *c, struct evhttp *http, struct listen_address *address,
                        struct event_base *base, struct error *error);

/* After the server was destroyed. */
void connections_destroy(struct connections **c);

/* Call for each complete request. Until it is answered, its connection is not closed for another. */
void connections_on_request(struct connections *c, struct evhttp_request *req);

/* Whether there is room for a large answer to anybody; if not, one connection was closed to make room. */
bool connections_have_room(struct connections *c);

/* What all clients may cost together. */

#define CONNECTIONS_MOST      256                /* open at once, fewer with few descriptors; see above */
#define PEER_CONNECTIONS_MOST 64                 /* of one address outside this machine */
#define REQUEST_SECONDS       10                 /* from the first byte of a request to its last; then closed */
#define IDLE_SECONDS          30                 /* without sending or reading anything; then closed */
#define INPUT_MOST_BYTES      ((size_t)16 << 10) /* received on one connection and not parsed yet */
#define HEADERS_MOST_BYTES    8192               /* of one request; answered 400 */
#define BODY_MOST_BYTES       65536              /* answered 413 */
#define ADDRESS_MOST_BYTES    4096               /* answered 414 */
#define WAITING_MOST_BYTES    ((size_t)96 << 20) /* sent and not read, of all together; answered 503 */

/*
 * listen_address.c: where the server listens: ADDRESS:PORT or unix:PATH.
 *
 * A Unix socket is for a reverse proxy on this machine: its mode is 0660, so
 * the owner and the socket's group may connect. A stale one is replaced; it is
 * removed at the end.
 */

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
