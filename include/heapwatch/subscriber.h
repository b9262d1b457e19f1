/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * subscriber.h - follow a heapwatch daemon.
 *
 *     struct hw_subscriber *s = hw_subscriber_new(NULL);
 *     const Hw__Update *u;
 *     int r;
 *     while ((r = hw_subscriber_next(s, 1000, &u)) >= 0)
 *             if (r == HW_SUBSCRIBER_UPDATE)
 *                     use(u);
 *     hw_subscriber_destroy(&s);
 *
 * It subscribes first, then asks for a snapshot, then drops what the snapshot
 * already covers (the zguide's Clone pattern). A gap in a topic's sequence is
 * counted, and the target is resynced by its snapshot; a new epoch (the daemon
 * was restarted) drops everything: HW_SUBSCRIBER_RESET says so. A silent daemon is
 * reported as HW_SUBSCRIBER_STALE and followed again when it is back.
 *
 * Loss that no later message of the topic reveals is found by the topic heads in
 * the target's heartbeat. When the last message of a removed target is lost, an
 * update with STATE_REMOVED and no sequence is made up as soon as the daemon no
 * longer names the target. A snapshot may be refused or slow: it is requested
 * again, with a growing time-out; until it is complete nothing that it covers is
 * delivered. A target with gap after gap is resynced at most every 1 s, then
 * 2 s ... 30 s; its updates are delivered meanwhile.
 *
 * One subscriber follows any number of daemons. Not thread-safe; make it after
 * fork, not before.
 */
#ifndef HEAPWATCH_SUBSCRIBER_H
#define HEAPWATCH_SUBSCRIBER_H

#include "heapwatch/wire.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hw_subscriber;

struct hw_subscriber_options {
        const char *const *endpoints; /* publish endpoints; NULL: the default one. The request endpoint is the
                                           same with "publish" replaced by "request", or port + 1 for tcp */
        size_t n_endpoints;
        const char *const *targets; /* names to follow; NULL: all */
        size_t n_targets;
        const Hw__Kind *kinds; /* kinds to follow; NULL: all. KIND_DAEMON and KIND_TARGET always come */
        size_t n_kinds;
};

enum hw_subscriber_event {
        HW_SUBSCRIBER_NOTHING = 0, /* the time is up */
        HW_SUBSCRIBER_UPDATE = 1,  /* *ret_update: until the next call; longer with hw_update_ref */
        HW_SUBSCRIBER_RESET = 2,   /* first contact or new epoch: forget its targets, a snapshot follows */
        HW_SUBSCRIBER_READY = 3,   /* the snapshot is complete: from now on updates are live */
        HW_SUBSCRIBER_STALE = 4,   /* no sign of life for 3 s; also when there never was one */
        HW_SUBSCRIBER_ALIVE = 5    /* back after STALE, same epoch */
};

/* Returns NULL with errno: ENOMEM, EINVAL (an endpoint is malformed), EPERM (hw_endpoint_check refuses it). Connecting
   happens in the background. */
struct hw_subscriber *hw_subscriber_new(const struct hw_subscriber_options *options);
void hw_subscriber_destroy(struct hw_subscriber **s);

/*
 * The next event, waiting at most timeout_ms (0: not at all, negative: without limit). NOTHING also when a signal
 * came. *ret_update is NULL for all events but UPDATE. Negative errno when it cannot go on.
 */
int hw_subscriber_next(struct hw_subscriber *s, int timeout_ms, const Hw__Update **ret_update);

/* Which daemon the last event is about: index into the endpoints. */
size_t hw_subscriber_daemon(const struct hw_subscriber *s);

/*
 * A descriptor (epoll) that becomes readable when hw_subscriber_next may have something, time-outs included; it
 * needs no timer beside it. It is a hint, and edge-triggered underneath: whenever it is readable, and once before
 * the first wait, call hw_subscriber_next(s, 0, ...) until it returns NOTHING. A caller that stops earlier must
 * come back by itself: the descriptor may stay silent although messages wait. Owned by the subscriber.
 */
int hw_subscriber_fd(const struct hw_subscriber *s);

struct hw_subscriber_stats {
        uint64_t updates;
        uint64_t gaps;      /* holes in a topic's sequence */
        uint64_t lost;      /* messages in them, as far as sequences show */
        uint64_t snapshots; /* requested, including the first */
        uint64_t bad;       /* malformed messages, dropped */
};

const struct hw_subscriber_stats *hw_subscriber_stats(const struct hw_subscriber *s);

#ifdef __cplusplus
}
#endif
#endif
