/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * endpoint.h - where the daemon may listen, checked, and the listening sockets.
 *
 * Allowed: ipc in a directory of ours that nobody else can enter, and tcp on
 * loopback; the socket file of a running daemon is left alone. With keys, any
 * address of TCP. Not for the loop's thread: it may wait a moment for
 * another daemon that is starting in the same directory.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "proto/base/error.h"

#define LISTEN_MAX 256

struct endpoint {
        char address[LISTEN_MAX]; /* for endpoint_listen */
        const char *path;         /* of the ipc socket, inside `address`; NULL for tcp */
        int directory;            /* descriptor of its directory, locked until endpoint_bound; -1 */
        int passed;   /* the service manager listens there, with this descriptor, and goes on when we end; -1 */
        dev_t device; /* of the socket file that we bound */
        ino_t inode;
        bool is_lost; /* which was said */
};

/*
 * Checks `text`; for ipc creates the directory if missing (0700), locks it and
 * removes the socket file of a dead daemon. Returns 0, or with a sentence in
 * `error`: -EINVAL (invalid), -EACCES (not safe), -EADDRINUSE (a running daemon
 * listens there), -EWOULDBLOCK (another holds the lock), another -errno.
 */
int endpoint_prepare(struct endpoint *e, const char *text, struct error *error);

/* endpoint_prepare, endpoint_listen and endpoint_bound. The listening socket, or -errno with a sentence. */
int endpoint_open(struct endpoint *e, const char *text, struct error *error);

/*
 * When the socket file that we bound is gone, or another one is in its place, no client finds us: listens there again.
 * The listening socket; -1: nothing is lost, or it cannot be made yet. When another daemon has come meanwhile, this
 * process ends as by SIGTERM: there are not to be two.
 */
int endpoint_restore(struct endpoint *e);

/* A listening socket at the address of an endpoint, or -1 with a sentence. */
int endpoint_listen(const char *address, struct error *error);

/* "tcp://ADDRESS:PORT" into the addresses of publishing and of requests, one port above. False with a sentence. */
bool endpoint_split(const char *listen, char ret_addresses[2][LISTEN_MAX], struct error *error);

/*
 * After endpoint_listen: remembers which file is ours if it succeeded, and unlocks the directory. The file of a socket
 * that was passed is the manager's.
 */
void endpoint_bound(struct endpoint *e, bool success);

/* Before the socket is closed: removes the socket file if it is still ours. */
void endpoint_remove(struct endpoint *e);
