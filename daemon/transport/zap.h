/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * zap.h - what libzmq asks before it lets a peer in, RFC 27 (ZAP): read, checked and answered. zap_read is pure.
 *
 *      frames: version "1.0", id of the request, domain, address, identity, mechanism, credentials (CURVE: the key)
 */
#ifndef HW_DAEMON_TRANSPORT_ZAP_H
#define HW_DAEMON_TRANSPORT_ZAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/keys/key.h"

#define ZAP_ENDPOINT   "inproc://zeromq.zap.01"
#define ZAP_FRAMES_MAX 8u
#define ZAP_ID_MAX     255u

struct zap_frame {
        const void *data;
        size_t size;
};

struct zap_request {
        const void *id; /* borrowed from its frame: goes back with the answer */
        size_t n_id;
        uint64_t connection; /* the identity: ZMQ_ROUTING_ID of our socket, when it was connected */
        uint8_t public[KEY_BYTES];
};

/*
 * The n frames behind the empty one. NULL and *ret filled, or a static sentence why not; ret->id is there as soon as it
 * could be read, else NULL.
 */
const char *zap_read(const struct zap_frame *frames, size_t n, struct zap_request *ret);

/* Whether it may come in; `wrong`: why the question is none, or NULL. */
typedef bool zap_judge(void *ctx, const struct zap_request *request, const char *wrong);

/* Receives one question of libzmq from a ROUTER bound to ZAP_ENDPOINT, and answers it. 0: there was none. */
int zap_serve(void *socket, zap_judge *judge, void *ctx);

#endif
