/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * zap.h - what libzmq asks before it lets a peer in, RFC 27 (ZAP): read and checked. Pure.
 *
 *      frames: version "1.0", id of the request, domain, address, identity, mechanism, credentials (CURVE: the key)
 */
#ifndef HW_DAEMON_TRANSPORT_ZAP_H
#define HW_DAEMON_TRANSPORT_ZAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/keys/key.h"

#define ZAP_FRAMES_MAX 8u
#define ZAP_ID_MAX     255u

struct zap_frame {
        const void *data;
        size_t size;
};

struct zap_request {
        const void *id; /* borrowed from its frame: goes back with the answer */
        size_t n_id;
        char address[64]; /* of the peer: printable ASCII, no port */
        uint8_t public[KEY_BYTES];
};

/*
 * The n frames behind the empty one. NULL and *ret filled, or a static sentence why not; ret->id is there as soon as it
 * could be read, else NULL.
 */
const char *zap_read(const struct zap_frame *frames, size_t n, struct zap_request *ret);

#endif
