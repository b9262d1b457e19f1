/* SPDX-License-Identifier: BSD-3-Clause */
/* send_http.c - a batch is the body of a POST. */
#include <stdlib.h>

#include "client/export/attempt.h"

struct http_sender {
        struct sender base;
        struct attempt attempt;
};

static void on_done(void *ctx, const struct http_result *result)
{
        struct http_sender *h = ctx;
        struct sent sent = attempt_sent(result);

        h->base.options.done(h->base.options.ctx, &sent);
}

static void destroy(struct sender *s)
{
        struct http_sender *h = (struct http_sender *)s;

        attempt_done(&h->attempt);
        free(h);
}

static struct sender *make(const struct sender_options *o)
{
        struct http_sender *h = calloc(1, sizeof(*h));

        if (h && attempt_init(&h->attempt, o, on_done, h))
                return &h->base;
        free(h);
        return NULL;
}

static void send_batch(struct sender *s, const struct batch *batch)
{
        struct http_sender *h = (struct http_sender *)s;
        struct http_post post = attempt_post(&s->options);

        post.body = batch->bytes;
        post.size = batch->size;
        post.type = s->options.batcher->type;
        attempt_start(&h->attempt, &post);
}

const struct sender_kind sender_http = { .make = make, .send = send_batch, .destroy = destroy };
