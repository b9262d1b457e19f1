/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * guard.h - who may ask. Pure: header texts in, verdicts out.
 *
 * A page of another site can make a browser send requests here. It cannot
 * read the answers (no CORS headers), unless its name is made to point here
 * (DNS rebinding): then the Host header has its name. Addresses cannot be
 * rebound, so Host may be an address, localhost, or a name that was given.
 */
#ifndef HW_CLIENT_WEB_GUARD_H
#define HW_CLIENT_WEB_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#define TOKEN_LEAST 16
#define TOKEN_MOST  512

struct guard {
        const char *const *hosts; /* further names that are allowed */
        size_t n_hosts;
        char token[TOKEN_MOST + 1]; /* empty: none is asked for */
};

/* Whether this Host header (NULL: none) may be answered. */
bool guard_host(const struct guard *g, const char *host);

/* Whether the Origin header (NULL: none) is the server that `host` names. */
bool guard_origin(const char *origin, const char *host);

/* Whether the request has the token: in `authorization` (Bearer) or in a cookie; either may be NULL. */
bool guard_token(const struct guard *g, const char *authorization, const char *cookie);

/* Compares in a time that does not depend on where they differ. */
bool guard_equal(const char *a, const char *b);

/* Reads a token from a file's first line. False with a sentence in `error`. */
bool guard_read_token(struct guard *g, const char *path, char *error, size_t size);

#endif
