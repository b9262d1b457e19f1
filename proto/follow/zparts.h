/* SPDX-License-Identifier: BSD-3-Clause */
/* zparts.h - whole ZeroMQ messages and packed ones, without blocking. */
#ifndef HW_PROTO_FOLLOW_ZPARTS_H
#define HW_PROTO_FOLLOW_ZPARTS_H

#include <zmq.h>

#include "heapwatch/wire.h"

/*
 * Takes one message with all its parts; the first two are left in `parts`
 * (always initialised: close both). Returns the number of parts, 0 when there
 * is no message, or -errno.
 */
int zparts_receive(void *socket, zmq_msg_t parts[2]);
void zparts_close(zmq_msg_t parts[2]);

/* Packs and sends in one part. Returns 0, -EAGAIN when no peer takes it now, -ENOMEM or another -errno. */
int zparts_send(void *socket, const ProtobufCMessage *message);

#endif
