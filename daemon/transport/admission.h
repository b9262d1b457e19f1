/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * admission.h - who may connect over TCP, by keys.
 *
 * The directory of keys has `server.key`, by which clients recognise this daemon, and `authorized.yaml`, whose keys are
 * let in and with which role (proto/keys/). Every TCP endpoint is CURVE: encrypted, both ends authenticated. Whoever
 * has no key that is listed there gets no further than the handshake.
 *
 * Both files are read again by admission_reload: a key that is new is let in from then on; one that is gone is let in
 * no more, what it still asks is refused, and its connections are shut down. A new server key holds for new
 * connections, those there are go on; the port is open all the while.
 *
 * Nothing here waits, but for the disk while keys are read. On the loop's thread.
 */
#ifndef HW_DAEMON_TRANSPORT_ADMISSION_H
#define HW_DAEMON_TRANSPORT_ADMISSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zmq.h>

#include "proto/keys/key.h"

struct admission;
struct error;
struct event_base;

struct admission_options {
        struct event_base *base;
        void *context;                /* of ZeroMQ */
        void *sockets[2];             /* publish, request: what is bound to `listen` and the port above it */
        const char *listen;           /* tcp://ADDRESS:PORT */
        const char *keys;             /* the directory */
        const char *const *ipc_paths; /* two: for connections.h */
};

/* Reads the keys and listens. NULL with a sentence. */
struct admission *admission_new(const struct admission_options *options, struct error *error);
void admission_destroy(struct admission **a);

/* Reads the keys again. False with a sentence: a file has a mistake, and all is as it was. */
bool admission_reload(struct admission *a, struct error *error);

/* Who sent a message. */
struct guest {
        char name[KEY_NAME_MAX + 1]; /* of its key; "" over ipc, and when it was revoked */
        enum key_role role;
        bool revoked; /* the key is not authorised any more */
        int fd;       /* -1: not known */
};

/* `a` NULL: there is no TCP with keys. What comes over ipc is ours, and may control. */
void admission_who(struct admission *a, zmq_msg_t *message, struct guest *ret);

struct admission_stats {
        uint64_t admitted;   /* handshakes */
        uint64_t refused;    /* handshakes, for want of an authorised key */
        uint64_t failed;     /* handshakes that were none: no CURVE, another server key, broken off */
        uint64_t shut;       /* connections, when keys were revoked */
        uint64_t authorized; /* keys that are let in now */
};

const struct admission_stats *admission_stats(const struct admission *a);
const char *admission_listens(const struct admission *a); /* "tcp://0.0.0.0:7700" */

#endif
