/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sender.h - how a batch is sent, by HTTP: one at a time.
 */
#ifndef HW_CLIENT_EXPORT_SENDER_H
#define HW_CLIENT_EXPORT_SENDER_H

#include "client/export/batcher.h"
#include "client/export/remote_write.h"
#include "client/http/http.h"
#include "proto/base/error.h"

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

/*
 * attempt.c: one POST at a time, of which each outcome is reported from the loop, also that it could not be started
 * (the token's file is missing, too many requests).
 */

struct attempt {
        struct http *http;
        struct http_request *request;
        struct event *failed; /* there is no request: reports `error`, from the loop */
        struct error error;
        bool again; /* worth another attempt */
        http_done_fn *done;
        void *ctx;
};

/* Address, secrets and timeout of a sender. */
struct http_post attempt_post(const struct sender_options *options);

/* False when out of memory. `done` may start the next one. */
bool attempt_init(struct attempt *a, const struct sender_options *options, http_done_fn *done, void *ctx);
void attempt_done(struct attempt *a);
void attempt_start(struct attempt *a, const struct http_post *post);

/* Reports from the loop that there is nothing to be posted, for good. */
void attempt_refuse(struct attempt *a, const char *why);

/* A result as a delivery expects it. */
struct sent attempt_sent(const struct http_result *result);

/* A sender whose batches are one attempt each. */
struct attempt_sender {
        struct sender base;
        struct attempt attempt;
};

struct sender *attempt_sender_new(const struct sender_options *options);
void attempt_sender_destroy(struct sender *s);

#endif
