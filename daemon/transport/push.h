/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * push.h - the lossless way out of `heapwatchd --once`: a PUSH socket connected
 * to the client that started us. A send waits for the client; it gives up with
 * -EPIPE when that client (our parent) is gone.
 */
#ifndef HW_DAEMON_TRANSPORT_PUSH_H
#define HW_DAEMON_TRANSPORT_PUSH_H

#include <stddef.h>

#include "daemon/publish/outlet.h"

struct once;

/* Connects to an ipc endpoint. NULL with a sentence in `error`. */
struct once *once_new(const char *endpoint, char *error, size_t error_size);

/* Waits until all is delivered (or the client is gone), then closes. */
void once_destroy(struct once **once);

struct outlet once_outlet(struct once *once);

#endif
