/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * admission.h - who may connect over TCP, by keys.
 *
 * The directory of keys has `server.key`, by which clients recognise this daemon, and `authorized.yaml`, the keys that
 * may connect and their roles (proto/keys/). Every TCP endpoint is CURVE: encrypted, both ends authenticated. A client
 * without an authorised key gets no further than the handshake.
 *
 * admission_reload reads both files again. A new key may connect from then on. A removed one may no longer: its
 * requests are refused, and its connections are shut down. A new server key is used for new connections; existing ones
 * continue, and the port stays open throughout.
 *
 * Nothing here blocks, except on the disk while keys are read. Runs on the loop's thread.
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
        void *context;      /* of ZeroMQ */
        void *sockets[2];   /* publish, request: what is bound to `listen` and the port above it */
        const char *listen; /* tcp://ADDRESS:PORT */
        const char *keys;   /* the directory */
};

/* Reads the keys and listens. NULL with a sentence. */
struct admission *admission_new(const struct admission_options *options, struct error *error);
void admission_destroy(struct admission **a);

/* Reads the keys again. False with a sentence: a file has a mistake, and nothing has changed. */
bool admission_reload(struct admission *a, struct error *error);

/* Who sent a message. */
struct principal {
        char name[KEY_NAME_MAX + 1]; /* of its key; "": over ipc, or its key was revoked */
        enum key_role role;
        bool revoked; /* the key is not authorised any more */
        int fd;       /* -1: not known */
};

/* `a` NULL: TCP with keys is not in use. Senders over ipc are this user or root, and have the role control. */
void admission_who(struct admission *a, zmq_msg_t *message, struct principal *ret);

struct admission_stats {
        uint64_t admitted;   /* handshakes */
        uint64_t refused;    /* handshakes without an authorised key */
        uint64_t failed;     /* handshakes not completed: no CURVE, another server key, broken off */
        uint64_t shut;       /* connections shut down because their keys were revoked */
        uint64_t authorized; /* keys that may connect now */
};

const struct admission_stats *admission_stats(const struct admission *a);
const char *admission_listens(const struct admission *a); /* "tcp://0.0.0.0:7700" */

#endif
