/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * http.h - HTTP out: one POST with a time-out, by libcurl in an event loop.
 *
 * https with the system's authorities or a file of your own; no redirects, no
 * proxies, no cookies, no protocol but http and https. What the server says is
 * read up to HTTP_BODY_MAX and only shown in part. A token comes from a file,
 * read again for each request, and is in no log and no result.
 *
 * Looking up a name happens in a thread of libcurl's and can delay nobody.
 */
#ifndef HW_CLIENT_POST_HTTP_H
#define HW_CLIENT_POST_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_BODY_MAX     65536u /* of an answer, and of its headers: more is an error */
#define HTTP_TOKEN_MAX    8192u  /* bytes of a token's file */
#define HTTP_REQUESTS_MAX 64u    /* under way; beyond: refused, try again later */

#define HTTP_JSON "application/json"

struct error;
struct event_base;
struct http;
struct http_request;

struct http_post {
        const char *url;            /* http:// or https:// */
        const void *body;           /* copied */
        size_t size;                /* of it */
        const char *type;           /* of it, as Content-Type has it */
        const char *const *headers; /* further ones, "Name: value", ended by NULL; NULL: none */
        const char *unix_path;      /* of a socket to connect to, whatever the host in `url`; NULL: that host */
        const char *bearer_file;    /* a token; NULL: none */
        const char *basic_file;     /* user:password; NULL: none */
        const char *ca_file;        /* NULL: the system's */
        uint64_t timeout_ns;        /* for all of it */
};

struct http_result {
        bool ok;                 /* a status of 200 to 299 */
        bool again;              /* it may help to try again: no answer, 408, 425, 429, 5xx */
        long status;             /* 0: no answer */
        uint64_t retry_after_ns; /* the server asks to be left alone so long; 0: it does not say */
        char detail[192];        /* "HTTP 200", "HTTP 503: busy", "connection refused" ...; printable ASCII */
};

typedef void http_done_fn(void *ctx, const struct http_result *result);

/* NULL when out of memory. libcurl is initialised by the first request. */
struct http *http_new(struct event_base *base);

/* Ends all requests without calling anybody. */
void http_destroy(struct http **http);

/*
 * Starts a request; `done` is called once, from the loop, never from within
 * this call. NULL with a sentence in `error`: the token cannot be read, too
 * many are under way, out of memory.
 */
struct http_request *http_start(struct http *http, const struct http_post *post, http_done_fn *done, void *ctx,
                                struct error *error);

/* Ends a request without calling `done`; clears the pointer. NULL allowed. */
void http_cancel(struct http_request **request);

#endif
