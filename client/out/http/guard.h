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
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "proto/cli/keys/key.h"

struct error;

#define TOKEN_LEAST  16
#define TOKEN_MOST   512
#define TOKENS_MOST  32u         /* in one file */
#define TOKEN_COOKIE "heapwatch" /* and "-PORT": cookies know no ports, so each server has its own */

struct guard_token {
        char name[KEY_NAME_MAX + 1]; /* who has it: for the audit */
        enum key_role role;
        char text[TOKEN_MOST + 1];
};

struct guard {
        const char *const *hosts; /* further names that are allowed */
        size_t n_hosts;
        char cookie[32]; /* name of the token's cookie */
        struct guard_token tokens[TOKENS_MOST];
        size_t n_tokens; /* 0: none is needed */
};

/*
 * Whether a request with this Host header (NULL: none) may be answered on a connection to the address `local`, as
 * inet_ntop writes it ("": to a Unix socket).
 */
bool guard_host(const struct guard *g, const char *host, const char *local);

/* Whether the Origin header (NULL: none) is the server that `host` names. */
bool guard_origin(const char *origin, const char *host);

/*
 * The token of a request, from `authorization` (Bearer) or a cookie, of which either may be NULL. NULL: none is known.
 * Where none is needed, one of "anyone" who may read.
 */
const struct guard_token *guard_token(const struct guard *g, const char *authorization, const char *cookie);

/* Compares in a time that does not depend on where they differ. */
bool guard_equal(const char *a, const char *b);

/* The known token with this text, or NULL. */
const struct guard_token *guard_find(const struct guard *g, const char *text);

/*
 * Reads a private file: a token alone in its first line, which may control and is called "token"; or lines NAME ROLE
 * TOKEN, with empty lines and # comments between them. False with a message in `error`, which has nothing of a token.
 */
bool guard_read_token(struct guard *g, const char *path, struct error *error);

/* Makes one that nobody can guess: 48 hexadecimal digits. False with errno. */
bool guard_make_token(struct guard *g);
