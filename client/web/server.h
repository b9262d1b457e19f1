/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * server.h - the HTTP server: libevent's evhttp, guards, and the paths of
 * docs/WEB.md.
 */
#ifndef HW_CLIENT_WEB_SERVER_H
#define HW_CLIENT_WEB_SERVER_H

#include <event2/event.h>

#include "heapwatch/requester.h"
#include "client/http/connections.h"
#include "client/http/guard.h"
#include "client/web/api_archive.h"
#include "client/web/api_diff.h"
#include "client/web/api_history.h"
#include "client/web/control.h"
#include "client/http/listen_address.h"
#include "client/api/state_json.h"
#include "client/web/stream.h"

struct server_options {
        struct listen_address place;
        struct guard guard;
        bool allow_control;
};

/* What it serves. All borrowed; must outlive the server. */
struct server_parts {
        const struct state_source *state;
        struct streams *streams;
        struct api_history *api_history;
        struct archive_source archive;
        struct diff_parts diff;
        struct connections *connections; /* outlives it */
        struct control_parts control;
};

struct error;
struct server;

/* NULL with a message in `error`, for example that the address is in use. */
struct server *server_new(struct event_base *base, const struct server_options *options,
                          const struct server_parts *parts, struct error *error);

/* "http://127.0.0.1:8077/", with the actual port; or "unix:PATH". */
const char *server_url(const struct server *s);

/* Streams must have been ended before. */
void server_destroy(struct server **s);

#endif
