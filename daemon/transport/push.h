/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * push.h - the lossless sink of `heapwatchd --once`: a PUSH socket connected to the client that started us. A send
 * waits for the client, and fails with -EPIPE when that client (our parent) is gone.
 */
#ifndef HW_DAEMON_TRANSPORT_PUSH_H
#define HW_DAEMON_TRANSPORT_PUSH_H

#include <stddef.h>

#include "daemon/publish/update_sink.h"
#include "proto/base/error.h"

struct push;

/* Connects to an ipc endpoint. NULL with a sentence in `error`. */
struct push *push_new(const char *endpoint, struct error *error);

/* Waits until all is delivered (or the client is gone), then closes. */
void push_destroy(struct push **once);

struct update_sink push_sink(struct push *push);

#endif
