/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connections.h - who is connected, and what each may cost: number, time, bytes.
 *
 * - A request has REQUEST_SECONDS from its first byte to its last, however
 *   slowly it comes.
 * - With CONNECTIONS_MOST open, the one that has waited longest without a whole
 *   request gives way to a new one; so has each address beyond this machine its
 *   own bound, PEER_CONNECTIONS_MOST.
 * - What all together have not read yet is at most about WAITING_MOST_BYTES:
 *   beyond, the one that has most waiting is closed.
 *
 * Whoever is closed sees its connection end; a browser connects again.
 */
#ifndef HW_CLIENT_SERVE_CONNECTIONS_H
#define HW_CLIENT_SERVE_CONNECTIONS_H

#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <stdbool.h>

struct connections;
struct error;
struct place;

/* NULL: out of memory. */
struct connections *connections_new(struct event_base *base);

/*
 * Has the server listen there, and makes its connections from now on. Server and place outlive it or end with it; the
 * caller leaves the place (place_leave). False with a sentence in `error`: nothing listens.
 */
bool connections_listen(struct connections *c, struct evhttp *http, struct place *place, struct event_base *base,
                        struct error *error);

/* After the server is gone. */
void connections_destroy(struct connections **c);

/* A whole request came: call for each. Until it is answered, its connection does not give way. */
void connections_asked(struct connections *c, struct evhttp_request *req);

/* Whether there is room for a large answer to anybody; if not, somebody was closed to make it. */
bool connections_have_room(struct connections *c);

#endif
