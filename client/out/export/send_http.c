/* SPDX-License-Identifier: BSD-3-Clause */
/* send_http.c - a batch is the body of a POST. */
#include "client/out/export/sender.h"

static void send_batch(struct sender *s, const struct batch *batch)
{
        struct attempt_sender *h = (struct attempt_sender *)s;
        struct http_post post = attempt_post(&s->options);

        post.body = batch->bytes;
        post.size = batch->size;
        post.type = s->options.batcher->type;
        attempt_start(&h->attempt, &post);
}

const struct sender_kind sender_http = { .make = attempt_sender_new,
                                         .send = send_batch,
                                         .destroy = attempt_sender_destroy };
