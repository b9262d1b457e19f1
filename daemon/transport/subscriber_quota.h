/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * subscriber_quota.h - how much subscribers may send.
 *
 * What a subscriber sends are subscriptions. libzmq takes in as many as come, in one go, and keeps a note of each until
 * we read it; one that subscribes and unsubscribes without end, or connects again and again with thousands of them,
 * would use up the thread that publishes, and memory. So what comes by these connections is limited in bytes: of each
 * peer (a process, or a TCP address), and of all together.
 *
 * Pure: times are arguments.
 */
#ifndef HW_DAEMON_TRANSPORT_SUBSCRIBER_QUOTA_H
#define HW_DAEMON_TRANSPORT_SUBSCRIBER_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/transport/peers.h"

struct subscriber_quota { /* all bytes 0: nothing has come yet */
        struct peers peers;
        uint64_t full_ns; /* the bucket of all */
};

/* A new connection of this peer (any number but 0). False: it has used up its share, or all have theirs. */
bool subscriber_quota_connects(struct subscriber_quota *f, uint64_t peer, uint64_t now_ns);

/*
 * So many bytes came. False: that was too much, the connection is to be shut. When all together send too much, those
 * who sent little are left alone.
 */
bool subscriber_quota_take(struct subscriber_quota *f, uint64_t peer, uint64_t now_ns, size_t bytes);

#endif
