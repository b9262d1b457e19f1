/* SPDX-License-Identifier: BSD-3-Clause */
/* endpoints.h - from a daemon's publish endpoint to the endpoint that answers requests. */
#ifndef HW_PROTO_WIRE_ENDPOINTS_H
#define HW_PROTO_WIRE_ENDPOINTS_H

#include <stddef.h>

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

#endif
