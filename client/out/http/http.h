/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * http.h - an HTTP client: one POST with a timeout, by libcurl in an event
 * loop.
 *
 * https with the system's authorities or a file of your own; no redirects, no
 * proxies, no cookies, only http and https. The answer is read up to
 * HTTP_BODY_MAX and only shown in part. A token comes from a file that is read
 * again for each request, and appears in no log and no result.
 *
 * Names are resolved in a thread of libcurl's, which delays nothing here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_BODY_MAX     65536u /* of an answer with its headers; more is an error */
#define HTTP_TOKEN_MAX    8192u  /* bytes of a token's file */
#define HTTP_REQUESTS_MAX 64u    /* pending; further ones are refused, try again later */

#define HTTP_JSON "application/json"

struct error;
struct event_base;
struct http;
struct http_request;

struct http_post {
        const char *url;            /* http:// or https:// */
        const void *body;           /* copied */
        size_t size;                /* of the body */
        const char *type;           /* of the body, for Content-Type */
        const char *const *headers; /* further ones, "Name: value", ended by NULL; NULL: none */
        const char *unix_path;      /* path of a socket to connect to, whatever the host in `url`; NULL: that host */
        const char *bearer_file;    /* a token; NULL: none */
        const char *basic_file;     /* user:password; NULL: none */
        const char *ca_file;        /* NULL: the system's */
        const char *count;          /* a header of the answer whose number is wanted; lives to the end; NULL: none */
        uint64_t timeout_ns;        /* for the whole request */
};

struct http_result {
        bool ok;                 /* a status of 200 to 299 */
        bool again;              /* worth retrying: no answer, a bad certificate, 408, 425, 429, 5xx */
        long status;             /* 0: no answer */
        uint64_t retry_after_ns; /* the server's Retry-After; 0: none */
        uint64_t count;          /* of the wanted header; UINT64_MAX: it is missing or has no number */
        const char *body;        /* of the answer, as it is; borrowed until `done` returns; NULL: none */
        size_t body_size;
        char detail[192]; /* "HTTP 200", "HTTP 503: busy", "connection refused" ...; printable ASCII */
};

typedef void http_done_fn(void *ctx, const struct http_result *result);

/* NULL when out of memory. The first request initialises libcurl. */
struct http *http_new(struct event_base *base);

/* Ends all requests without calling `done`. */
void http_destroy(struct http **http);

/*
 * Starts a request; `done` is called once, from the loop, never from within
 * this call. NULL with a message in `error`: the token cannot be read, too many
 * requests are pending, out of memory.
 */
struct http_request *http_start(struct http *http, const struct http_post *post, http_done_fn *done, void *ctx,
                                struct error *error);

/* The beginning of what a server said, on one line of printable ASCII; at most `size` bytes with the NUL. */
void http_print_text(char *to, size_t size, const char *text, size_t n);

/* Ends a request without calling `done`; clears the pointer. NULL allowed. */
void http_cancel(struct http_request **request);
