/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * asker.h - requests to one daemon inside a libevent loop, any number under
 * way, nothing blocks. For requests that have one reply (history, control).
 */
#ifndef HW_CLIENT_WEB_ASKER_H
#define HW_CLIENT_WEB_ASKER_H

#include <event2/event.h>

#include "heapwatch/wire.h"

#define ASKER_WAITING 2000 /* requests under way: more are refused */
#define ASKER_SECONDS 5u   /* then there is no answer */

struct asker;

/* Called once per request. reply NULL: none came, and `error` says why. Both borrowed. */
typedef void asker_done(void *ctx, const Hw__Reply *reply, const char *error);

/* For the daemon of this publish endpoint. NULL: out of memory or the endpoint is malformed. */
struct asker *asker_new(struct event_base *base, const char *publish_endpoint);

/* Open requests are answered with an error first. */
void asker_destroy(struct asker **a);

/* Sends; the request is borrowed, its id is set. `done` may be called before this returns. */
void asker_ask(struct asker *a, Hw__Request *request, asker_done *done, void *ctx);

#endif
