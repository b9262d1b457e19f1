/* SPDX-License-Identifier: BSD-3-Clause */
/* endpoint_keys.h - which keys this process has for which publish endpoint (heapwatch/keys.h). */
#ifndef HW_PROTO_WIRE_ENDPOINT_KEYS_H
#define HW_PROTO_WIRE_ENDPOINT_KEYS_H

#include "heapwatch/keys.h"

struct endpoint_keys {
        char *publish;
        uint8_t secret[HW_KEY_BYTES], public[HW_KEY_BYTES];
        uint8_t server[HW_SERVER_KEYS][HW_KEY_BYTES];
        size_t n_server;
};

/* NULL: it is met without keys. Borrowed; until the next hw_endpoint_keys. */
const struct endpoint_keys *endpoint_keys_of(const char *publish);

#endif
