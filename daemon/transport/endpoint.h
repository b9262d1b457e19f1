/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * endpoint.h - where the daemon may listen, checked before ZeroMQ binds.
 *
 * Allowed: ipc in a directory of ours that nobody else can enter, and tcp on
 * loopback. ZeroMQ itself would take any address, and would replace the socket
 * file of a daemon that lives. Start-up only: it may wait a moment for another
 * daemon that starts in the same directory.
 */
#ifndef HW_DAEMON_TRANSPORT_ENDPOINT_H
#define HW_DAEMON_TRANSPORT_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "proto/base/error.h"

#define ENDPOINT_MAX 256

struct endpoint {
        char address[ENDPOINT_MAX]; /* what to give to zmq_bind */
        const char *path;           /* of the ipc socket, inside `address`; NULL for tcp */
        int directory;              /* descriptor of its directory, locked until endpoint_bound; -1 */
        dev_t device;               /* of the socket file that we bound */
        ino_t inode;
};

/*
 * Checks `text`; for ipc makes the directory when it is missing (0700), locks
 * it and removes the socket file of a dead daemon. Returns 0, or with a
 * sentence in `error`: -EINVAL (not understood), -EACCES (not safe),
 * -EADDRINUSE (a living daemon listens there), another -errno.
 */
int endpoint_prepare(struct endpoint *e, const char *text, struct error *error);

/* After zmq_bind: notes which file is ours when it succeeded, and unlocks the directory. */
void endpoint_bound(struct endpoint *e, bool success);

/* Before the socket is closed: removes the socket file when it is still ours. */
void endpoint_remove(struct endpoint *e);

#endif
