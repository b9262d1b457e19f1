/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * endpoint.h - where the daemon may listen, checked before ZeroMQ binds.
 *
 * Allowed: ipc in a directory of ours that nobody else can enter, and tcp on
 * loopback. ZeroMQ itself would accept any address, and would replace the
 * socket file of a running daemon. For start-up only: it may wait a moment for
 * another daemon that is starting in the same directory.
 */
#ifndef HW_DAEMON_TRANSPORT_ENDPOINT_H
#define HW_DAEMON_TRANSPORT_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "proto/base/error.h"

#define ENDPOINT_MAX 256

struct endpoint {
        char address[ENDPOINT_MAX]; /* for zmq_bind */
        const char *path;           /* of the ipc socket, inside `address`; NULL for tcp */
        int directory;              /* descriptor of its directory, locked until endpoint_bound; -1 */
        dev_t device;               /* of the socket file that we bound */
        ino_t inode;
};

/*
 * Checks `text`; for ipc creates the directory if missing (0700), locks it and
 * removes the socket file of a dead daemon. Returns 0, or with a sentence in
 * `error`: -EINVAL (invalid), -EACCES (not safe), -EADDRINUSE (a running daemon
 * listens there), another -errno.
 */
int endpoint_prepare(struct endpoint *e, const char *text, struct error *error);

/* After zmq_bind: remembers which file is ours if it succeeded, and unlocks the directory. */
void endpoint_bound(struct endpoint *e, bool success);

/* Before the socket is closed: removes the socket file if it is still ours. */
void endpoint_remove(struct endpoint *e);

#endif
