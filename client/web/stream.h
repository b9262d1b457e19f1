/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream.h - server-sent events for the browsers that follow, in the form of
 * docs/WEB.md ("The stream").
 *
 * Nothing waits for a browser. What is queued for one is bounded; one that is
 * too far behind misses updates and gets the whole state when it has caught up;
 * one that reads nothing at all is closed.
 */
#ifndef HW_CLIENT_WEB_STREAM_H
#define HW_CLIENT_WEB_STREAM_H

#include <event2/event.h>
#include <event2/http.h>

#include "client/api/state_json.h"
#include "client/http/connections.h"

#define STREAMS_MOST           64
#define STREAM_BEHIND_BYTES    ((size_t)8 << 20) /* queued for one browser; then it misses updates */
#define STREAM_CAUGHT_UP_BYTES ((size_t)64 << 10)
#define STREAM_BATCH_BYTES     ((size_t)8 << 20) /* updates of one tenth of a second; beyond, all get the state */
#define STREAM_STALLED_S       30                /* without reading anything; then closed */

struct streams;

/* `source` and `connections` are borrowed and outlive it. NULL: out of memory. */
struct streams *streams_new(struct event_base *base, const struct state_source *source,
                            struct connections *connections);

/* Ends all streams. Call before evhttp_free. */
void streams_destroy(struct streams **s);

/* Begins a stream on this request, starting with the state; or answers 503. */
void streams_begin(struct streams *s, struct evhttp_request *req, const struct detail *detail);

/* What happened. Cheap when nobody listens. */
void streams_update(struct streams *s, size_t daemon, const Hw__Update *update);
void streams_daemon(struct streams *s, size_t daemon);   /* it went silent, or is back */
void streams_forget(struct streams *s, size_t daemon);   /* it was restarted */
void streams_end(struct streams *s, const char *reason); /* files: everything was read */

#endif
