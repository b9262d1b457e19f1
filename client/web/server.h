/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * server.h - the HTTP server: libevent's evhttp with guards in front and the
 * addresses of docs/WEB.md behind.
 */
#ifndef HW_CLIENT_WEB_SERVER_H
#define HW_CLIENT_WEB_SERVER_H

#include <event2/event.h>

#include "heapwatch/requester.h"
#include "client/web/guard.h"
#include "client/web/pasts.h"
#include "client/api/state_json.h"
#include "client/web/stream.h"

#define CONNECTIONS_MOST   256   /* more wait in the kernel's queue until one ends */
#define HEADERS_MOST_BYTES 8192  /* of one request; answered 400 */
#define BODY_MOST_BYTES    65536 /* answered 413 */
#define ADDRESS_MOST_BYTES 4096  /* answered 414 */
#define IDLE_SECONDS       30    /* a connection that sends or takes nothing: closed */

struct server_options {
        const char *listen; /* ADDRESS:PORT */
        struct guard guard;
        bool allow_control;
};

/* What it serves. All borrowed; must outlive the server. */
struct server_parts {
        const struct state_source *state;
        struct streams *streams;
        struct pasts *pasts;
        struct hw_requester *requester; /* NULL: files */
        size_t n_daemons;
};

struct server;

/* NULL with a sentence in `error`: what is wrong with the address, or that it is in use. */
struct server *server_new(struct event_base *base, const struct server_options *options,
                          const struct server_parts *parts, char *error, size_t size);

/* "http://127.0.0.1:8077/", with the port that is listened on. */
const char *server_url(const struct server *s);

/* Streams must have been ended before. */
void server_destroy(struct server **s);

/* Whether ADDRESS:PORT is loopback, or malformed (which server_new tells). */
bool server_is_loopback(const char *listen);

#endif
