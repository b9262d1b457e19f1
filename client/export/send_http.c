/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * send_http.c - a batch is the body of a POST. A request that cannot even be started (the token's file is missing, too
 * many requests) is reported from the loop, like any other failure.
 */
#include <event2/event.h>
#include <stdlib.h>

#include "client/export/sender.h"
#include "client/post/http.h"
#include "proto/base/error.h"

struct http_sender {
        struct sender base;
        struct http_request *request;
        struct event *refused; /* it could not be started */
        struct error error;
};

static void on_refused(evutil_socket_t fd, short what, void *ctx)
{
        struct http_sender *h = ctx;
        struct sent sent = { .again = true, .detail = h->error.text };

        (void)fd;
        (void)what;
        h->base.options.done(h->base.options.ctx, &sent);
}

static void on_done(void *ctx, const struct http_result *result)
{
        struct http_sender *h = ctx;
        struct sent sent = { .ok = result->ok,
                             .again = result->again,
                             .retry_after_ns = result->retry_after_ns,
                             .detail = result->detail };

        h->request = NULL;
        h->base.options.done(h->base.options.ctx, &sent);
}

static void destroy(struct sender *s)
{
        struct http_sender *h = (struct http_sender *)s;

        http_cancel(&h->request);
        if (h->refused)
                event_free(h->refused);
        free(h);
}

static struct sender *make(const struct sender_options *o)
{
        struct http_sender *h = calloc(1, sizeof(*h));

        if (!h)
                return NULL;
        h->refused = evtimer_new(o->base, on_refused, h);
        if (!h->refused) {
                free(h);
                return NULL;
        }
        return &h->base;
}

static void send_batch(struct sender *s, const struct batch *batch)
{
        static const struct timeval now = { 0, 0 };
        struct http_sender *h = (struct http_sender *)s;
        const struct sender_options *o = &s->options;
        struct http_post post = { .url = o->address,
                                  .body = batch->bytes,
                                  .size = batch->size,
                                  .type = o->batcher->type,
                                  .headers = o->batcher->headers,
                                  .bearer_file = o->bearer_file,
                                  .basic_file = o->basic_file,
                                  .ca_file = o->ca_file,
                                  .timeout_ns = o->timeout_ns };

        h->request = http_start(o->http, &post, on_done, h, &h->error);
        if (!h->request)
                (void)event_add(h->refused, &now);
}

const struct sender_kind sender_http = { .make = make, .send = send_batch, .destroy = destroy };
