/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * guard.h - which requests are allowed. Pure: header texts in, decisions out.
 *
 * A page of another site can make a browser send requests here. It cannot read
 * the answers (no CORS headers), unless its name is made to point here (DNS
 * rebinding), in which case the Host header has its name. So Host must be the
 * address that the connection came to (all loopback addresses and localhost
 * count as one), or a name or address that was given.
 */
#ifndef HW_CLIENT_SERVE_GUARD_H
#define HW_CLIENT_SERVE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

struct error;

#define TOKEN_LEAST  16
#define TOKEN_MOST   512
#define TOKEN_COOKIE "heapwatch" /* and "-PORT": cookies know no ports, so each server has its own */

struct guard {
        const char *const *hosts; /* further names that are allowed */
        size_t n_hosts;
        char cookie[32];            /* name of the token's cookie */
        char token[TOKEN_MOST + 1]; /* empty: none is needed */
};

/*
 * Whether a request with this Host header (NULL: none) may be answered on a connection to the address `local`, as
 * inet_ntop writes it ("": to a Unix socket).
 */
bool guard_host(const struct guard *g, const char *host, const char *local);

/* Whether the Origin header (NULL: none) is the server that `host` names. */
bool guard_origin(const char *origin, const char *host);

/* Whether the request has the token: in `authorization` (Bearer) or in a cookie; either may be NULL. */
bool guard_token(const struct guard *g, const char *authorization, const char *cookie);

/* Compares in a time that does not depend on where they differ. */
bool guard_equal(const char *a, const char *b);

/* Reads a token from a private file's first line. False with a message in `error`. */
bool guard_read_token(struct guard *g, const char *path, struct error *error);

/* Makes one that nobody can guess: 48 hexadecimal digits. False with errno. */
bool guard_make_token(struct guard *g);

#endif
