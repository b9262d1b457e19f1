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
#ifndef HW_CLIENT_HTTP_CONNECTIONS_H
#define HW_CLIENT_HTTP_CONNECTIONS_H

#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <stdbool.h>

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

#define CONNECTIONS_MOST      256                /* open at once; beyond, the one that has waited longest is closed */
#define PEER_CONNECTIONS_MOST 64                 /* of one address outside this machine */
#define REQUEST_SECONDS       10                 /* from the first byte of a request to its last; then closed */
#define IDLE_SECONDS          30                 /* without sending or reading anything; then closed */
#define INPUT_MOST_BYTES      ((size_t)16 << 10) /* received on one connection and not parsed yet */
#define HEADERS_MOST_BYTES    8192               /* of one request; answered 400 */
#define BODY_MOST_BYTES       65536              /* answered 413 */
#define ADDRESS_MOST_BYTES    4096               /* answered 414 */
#define WAITING_MOST_BYTES    ((size_t)96 << 20) /* sent and not read, of all together; answered 503 */

#endif
