/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wakeup.h - one descriptor for a caller's loop: readable when a ZeroMQ socket
 * may have something, or when a time has come.
 *
 * ZeroMQ's descriptors are edge-triggered and only hints: they say "look at
 * ZMQ_EVENTS again" once, and a send may swallow that. The timer is not: it
 * stays readable until it is set again. So whoever stops before ZMQ_EVENTS is
 * empty, or has sent something, sets the time to WAKEUP_NOW.
 */
#ifndef HW_PROTO_FOLLOW_WAKEUP_H
#define HW_PROTO_FOLLOW_WAKEUP_H

#include <stdint.h>

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

#endif
