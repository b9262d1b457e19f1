/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attempt.h - one POST at a time, of which each outcome is reported from the loop, also that it could not be started
 * (the token's file is missing, too many requests).
 */
#ifndef HW_CLIENT_EXPORT_ATTEMPT_H
#define HW_CLIENT_EXPORT_ATTEMPT_H

#include "client/export/sender.h"
#include "client/http/http.h"
#include "proto/base/error.h"

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
