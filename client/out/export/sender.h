/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sender.h - how a batch is sent, by HTTP: one at a time.
 */
#ifndef HW_CLIENT_OUT_EXPORT_SENDER_H
#define HW_CLIENT_OUT_EXPORT_SENDER_H

#include <stdbool.h>
#include <stddef.h>

#include "client/out/export/batcher.h"
#include "client/out/http/http.h"
#include "proto/base/error.h"

/*
 * remote_write.c: the forms of a Prometheus remote write, and a batch in another of them.
 *
 * Batches are made and queued in the richest form: a receiver may take it when the batch is sent at last. A batch of
 * 1.0, which a journal of heapwatch 1.x may have, stays as it is.
 */

struct batch;
struct ProtobufCMessage;

enum remote_write_form {
        REMOTE_WRITE_NATIVE, /* 2.0; pauses also as native histograms */
        REMOTE_WRITE_2,      /* 2.0 without them */
        REMOTE_WRITE_1,      /* 1.0: no types, no native histograms */
};

/* A message as a snappy block; malloc'ed, NULL when out of memory. */
void *remote_write_seal(const struct ProtobufCMessage *message, size_t *ret_size);

/* Whether the bytes of a batch are of 1.0. */
bool remote_write_is_1(const struct batch *batch);

/* A batch of 2.0 in one of the lesser forms; malloc'ed, NULL when it cannot be decoded or memory is out. */
void *remote_write_recode(const struct batch *batch, enum remote_write_form form, size_t *ret_size);

struct event_base;
struct http;
struct sender;

struct sent {
        bool ok, again;   /* again: worth retrying */
        uint64_t refused; /* if ok: how many of the samples the receiver did not take, as it says */
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
        /* Of attempt_sender: how much a receiver did not take of what it accepted, and why; NULL: all or nothing. */
        uint64_t (*refused)(const struct http_result *result, char *why, size_t size);
};

struct sender {
        const struct sender_kind *kind;
        struct sender_options options;
};

extern const struct sender_kind sender_otlp, sender_remote_write, sender_profile;

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
