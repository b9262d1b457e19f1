/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sender.h - how a batch is sent, by HTTP: one at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/out/export/batcher.h"
#include "client/out/http/http.h"
#include "proto/base/error.h"

/*
 * remote_write.c: the forms of a Prometheus remote write, and a batch in another of them.
 *
 * Batches are made and queued in the richest form: a receiver may take it when the batch is sent at last.
 */

struct ProtobufCMessage;

enum remote_write_form {
        REMOTE_WRITE_NATIVE, /* 2.0; pauses also as native histograms */
        REMOTE_WRITE_2,      /* 2.0 without them */
        REMOTE_WRITE_1,      /* 1.0: no types, no native histograms */
};

/* A message as a snappy block; malloc'ed, NULL when out of memory. */
void *remote_write_seal(const struct ProtobufCMessage *message, size_t *ret_size);

/* A batch of 2.0 in one of the lesser forms; malloc'ed, NULL when it cannot be decoded or memory is out. */
void *remote_write_recode(const struct batch *batch, enum remote_write_form form, size_t *ret_size);

struct event_base;
struct http;
struct sender;
struct sink_plan;

struct sent {
        bool ok, again;   /* again: worth retrying */
        uint64_t refused; /* if ok: how many of the samples the receiver did not take, as it says */
        uint64_t retry_after_ns;
        const char *detail; /* for people; borrowed */
};

/* Called once for each batch, from the loop, never from within `send`. */
typedef void sent_fn(void *ctx, const struct sent *sent);

bool address_is_http(const char *address);

/* One POST at a time, of which each outcome is reported from the loop, also that it could not be started. */
struct sender {
        const struct sender_kind *kind;
        const struct sink_plan *plan;
        struct http *http;
        sent_fn *done;
        void *ctx;
        struct http_request *request;
        struct event *failed; /* there is no request: reports `error`, from the loop */
        struct error error;
        bool again; /* worth another attempt */
};

/* What a batcher's kind says of how its batches are sent. */
struct sender_kind {
        size_t size; /* of its state, which begins with a struct sender; the rest is zero at first */
        void (*send)(struct sender *s, const struct batch *batch); /* borrows it until the outcome is reported */
        void (*answered)(struct sender *s, const struct http_result *result); /* reports, or starts the next POST */
        void (*release)(struct sender *s); /* frees what its state owns; NULL: nothing */
};

extern const struct sender_kind sender_otlp, sender_remote_write, sender_profile;

/* The plan says where to, with which secrets and in which forms, and outlives it. NULL: out of memory. */
struct sender *sender_new(const struct sink_plan *plan, struct event_base *base, struct http *http, sent_fn *done,
                          void *ctx);
void sender_destroy(struct sender **s);

/* The rest is for the kinds. */

/* A POST to the plan's address, with its secrets and timeout. */
struct http_post sender_post(const struct sender *s, const void *body, size_t size, const char *type);
void sender_start(struct sender *s, const struct http_post *post);

/* Reports from the loop that nothing is to be posted, for good. */
void sender_refuse(struct sender *s, const char *why);

/* A result as a delivery expects it. */
struct sent sender_outcome(const struct http_result *result);

/* Reports it: `answered` of a kind whose batches are one POST each, taken whole or not at all. */
void sender_report(struct sender *s, const struct http_result *result);
