/* SPDX-License-Identifier: BSD-3-Clause */
/* zparts.h - sockets to a daemon; whole ZeroMQ messages and packed ones, without blocking. */
#pragma once

#include <stdint.h>
#include <zmq.h>

#include "heapwatch/wire.h"

/*
 * A SUB or DEALER socket with the options that all of ours need: it never lingers, reconnects by itself, refuses
 * messages that are too long. A DEALER accepts nothing to send while it is not connected. NULL with errno.
 */
void *zparts_open(void *zmq, int type);

/*
 * Gives a new socket our keys for this publish endpoint (heapwatch/keys.h), and of the daemon's the `which`-th, counted
 * in a circle. Returns how many of the daemon's there are, 0: it is met without keys; or -ENOTSUP.
 */
int zparts_key(void *socket, const char *publish, size_t which);

/*
 * Takes one message with all its parts; the first two are left in `parts`
 * (always initialised: close both). Returns the number of parts, 0 without a
 * message, or -errno.
 */
int zparts_receive(void *socket, zmq_msg_t parts[2]);
void zparts_close(zmq_msg_t parts[2]);

/* Sends one part. Returns 0, -EAGAIN when no peer takes it now, or another -errno. */
int zparts_send_bytes(void *socket, const void *bytes, size_t size);

/* Packs and sends. Returns what zparts_send_bytes does, or -ENOMEM. */
int zparts_send(void *socket, const ProtobufCMessage *message);

/*
 * wakeup.c: one descriptor for a caller's loop: readable when a ZeroMQ socket
 * may have something, or when a time has come.
 *
 * ZeroMQ's descriptors are edge-triggered and only hints: they say "look at
 * ZMQ_EVENTS again" once, and a send may swallow that. The timer is not: it
 * stays readable until it is set again. So whoever stops before ZMQ_EVENTS is
 * empty, or has sent something, sets the time to WAKEUP_NOW.
 */

#define WAKEUP_NOW   UINT64_C(1)
#define WAKEUP_NEVER UINT64_MAX

struct wakeup {
        int epoll; /* for the caller to poll; -1: not open */
        int timer;
};

/* Returns 0 or -errno; wakeup_close is needed in any case. */
int wakeup_open(struct wakeup *w);
void wakeup_close(struct wakeup *w);

/* Watches a ZeroMQ socket until it is closed. Returns 0 or -errno. */
int wakeup_add(struct wakeup *w, void *socket);

/* Readable from this time on (monotonic ns); replaces the time set before. */
void wakeup_at(struct wakeup *w, uint64_t at_ns);

/* Waits for it, at most until `until_ns`. Returns 0, or -EINTR when a signal came. */
int wakeup_wait(const struct wakeup *w, uint64_t now_ns, uint64_t until_ns);
