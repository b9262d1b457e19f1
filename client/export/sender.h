/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sender.h - how a batch is sent, by HTTP: one at a time.
 */
#ifndef HW_CLIENT_EXPORT_SENDER_H
#define HW_CLIENT_EXPORT_SENDER_H

#include "client/export/batcher.h"
#include "client/export/remote_write.h"

struct event_base;
struct http;
struct sender;

struct sent {
        bool ok, again;   /* again: worth retrying */
        uint64_t refused; /* if ok: how many of the samples the receiver did not take */
        uint64_t retry_after_ns;
        const char *detail; /* for people; borrowed */
};

/* Called once for each batch, from the loop, never from within sender_send. */
typedef void sent_fn(void *ctx, const struct sent *sent);

bool address_is_http(const char *address);

struct sender_options {
        const char *name; /* of the sink, for logs */
        struct event_base *base;
        struct http *http;
        const struct batcher_kind *batcher;
        const char *address;
        const char *bearer_file, *basic_file, *ca_file; /* NULL: none */
        uint64_t timeout_ns;
        enum remote_write_form best, least; /* of remote writes: what is tried first, and last */
        sent_fn *done;
        void *ctx;
};

/* What `options` points to outlives it. NULL: out of memory. */
struct sender *sender_new(const struct sender_options *options);
void sender_destroy(struct sender **s);

/* Borrows the batch until `done`. */
void sender_send(struct sender *s, const struct batch *batch);

/* What the kinds of senders implement. A batcher's kind says which one is used. */
struct sender_kind {
        struct sender *(*make)(const struct sender_options *options);
        void (*send)(struct sender *s, const struct batch *batch);
        void (*destroy)(struct sender *s);
};

struct sender {
        const struct sender_kind *kind;
        struct sender_options options;
};

extern const struct sender_kind sender_http, sender_remote_write, sender_profile;

#endif
