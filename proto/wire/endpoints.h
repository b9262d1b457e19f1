/* SPDX-License-Identifier: BSD-3-Clause */
/* endpoints.h - from a daemon's publish endpoint to the endpoint that answers requests. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "heapwatch/keys.h"

#define ENDPOINT_MAX 512 /* bytes, NUL included */

/*
 * The request endpoint beside `publish`: for ipc the last "publish" replaced by
 * "request", for tcp the next port. Returns 0, -EINVAL (neither, or nothing to
 * replace) or -ENAMETOOLONG.
 */
int endpoint_request(char *ret_request, size_t size, const char *publish);

/* endpoint_keys.c: which keys this process has for which publish endpoint (heapwatch/keys.h). */

struct endpoint_keys {
        char *publish;
        uint8_t secret[HW_KEY_BYTES], public[HW_KEY_BYTES];
        uint8_t server[HW_SERVER_KEYS][HW_KEY_BYTES];
        size_t n_server;
};

/* NULL: it is met without keys. Borrowed; until the next hw_endpoint_keys. */
const struct endpoint_keys *endpoint_keys_of(const char *publish);

/*
 * trust.c: whose socket this is: checked before a client connects, and before a daemon binds.
 *
 * A socket is as safe as its directory, and that as the directories above it:
 * whoever owns one of them, or may write to it without the sticky bit, can put
 * another directory in this one's place. hw_endpoint_check (heapwatch/wire.h)
 * is the whole check of a client.
 */

struct error;

/*
 * Whether nobody but root, this process's user and `owner` can replace `directory`, whose last part may be missing.
 * False with a sentence in `error`. Links are followed in all parts but the last.
 */
bool trust_parents(const char *directory, uid_t owner, struct error *error);

/* Whether a client may talk to whoever listens at this endpoint: 0, -EPERM or -EACCES with a sentence in `error`. */
int trust_endpoint(const char *endpoint, struct error *error);

/* state_path.c: where a program keeps what it must not forget about the daemon at an endpoint. */

#define STATE_PATH_MAX 4096u

/*
 * heapwatch/NAME.json below $XDG_STATE_HOME, else /var/lib for root, else ~/.local/state; NAME-HASH.json for a daemon
 * at another endpoint than the default. NULL: of no daemon in particular. Returns 0, -ENAMETOOLONG or -ENOENT (no
 * home).
 */
int state_path(char *out, size_t size, const char *name, const char *publish_endpoint);

/*
 * In the same place heapwatch/daemon, the directory of the daemon that a client starts; daemon-HASH for another
 * endpoint than that of the user's login, or root's, so that no two daemons of a user share one. Returns as
 * state_path().
 */
int state_directory(char *out, size_t size, const char *publish_endpoint);
