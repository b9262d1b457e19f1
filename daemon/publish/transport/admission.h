/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * admission.h - who may connect over TCP, by keys.
 *
 * The directory of keys has `server.key`, by which clients recognise this daemon, and `authorized.yaml`, the keys that
 * may connect and their roles (proto/cli/keys/). Connections to keyed listeners are CURVE: encrypted, both ends
 * authenticated. A client without an authorised key gets no further than the handshake.
 *
 * admission_reload reads both files again. A new key may connect from then on. A removed one may no longer: its
 * requests are refused, and its connections are closed. A new server key is used for new connections; existing ones
 * continue.
 *
 * Nothing here blocks, except on the disk while keys are read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zmq.h>

#include "proto/cli/keys/key.h"

struct admission;
struct error;
struct front_identity;
struct zap_request;

/* Reads the keys in the directory `keys`, for who connects to `listen`. NULL with a sentence. */
struct admission *admission_new(const char *listen, const char *keys, struct error *error);
void admission_destroy(struct admission **a);

/*
 * Reads the keys again. False with a sentence: a file has a mistake, and nothing has changed. True: connections whose
 * keys do not hold any more are to be closed.
 */
bool admission_reload(struct admission *a, struct error *error);

/* By any thread: whether this key may connect; `wrong`: why the question is none, or NULL. */
bool admission_judge(struct admission *a, const struct zap_request *r, const char *wrong, const char *from);

/* By any thread: whether a key that could connect still may; a connection was closed because it may not. */
bool admission_holds(struct admission *a, const uint8_t public[KEY_BYTES]);
void admission_count_shut(struct admission *a, const char *from);

/* By any thread: a handshake was not completed. */
void admission_count_failed(struct admission *a, const char *from, bool protocol);

/* By any thread: what is connected from now on uses CURVE with the server's key. */
bool admission_set_key(struct admission *a, void *socket);

/* Who sent a message. */
struct principal {
        char name[KEY_NAME_MAX + 1]; /* of its key; "": over ipc, or its key was revoked */
        enum key_role role;
        bool revoked; /* the key is not authorised any more */
};

/* Whoever has no key came over ipc, is this user or root, and has the role control. */
void admission_who(const struct admission *a, const struct front_identity *sender, struct principal *ret);

struct admission_stats {
        uint64_t admitted;   /* handshakes */
        uint64_t refused;    /* handshakes without an authorised key */
        uint64_t failed;     /* handshakes not completed: no CURVE, another server key, broken off */
        uint64_t shut;       /* connections shut down because their keys were revoked */
        uint64_t authorized; /* keys that may connect now */
};

struct admission_stats admission_stats(struct admission *a);
const char *admission_listens(const struct admission *a); /* "tcp://0.0.0.0:7700" */

/*
 * zap.c: what libzmq asks before it lets a peer in, RFC 27 (ZAP): read, checked and answered. zap_read is pure.
 *
 *      frames: version "1.0", id of the request, domain, address, identity, mechanism, credentials (CURVE: the key)
 */

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
