/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * client_memory.h - what clients may take of the daemon's memory.
 *
 * Of the budget (daemon/loop/memory.h) at most an eighth waits as replies and a 32nd as large updates; a quarter is for
 * subscribers' queues, a 16th each for requesters' connections, for subscriptions, and for requests and subscriptions
 * that are not whole yet: 21 32nds. The rest, and what clients do not use, is the targets'; when these have used it,
 * a snapshot is sent in small parts. Without a budget, and with
 * a large one, the limits of limits.h hold.
 */
#ifndef HW_DAEMON_TRANSPORT_CLIENT_MEMORY_H
#define HW_DAEMON_TRANSPORT_CLIENT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct client_memory {
        size_t replies, updates; /* bytes that wait */
        unsigned mark;           /* messages that a subscriber's queue holds */
        unsigned subscribers;    /* connections */
        unsigned requesters;     /* likewise */
        unsigned subscriptions;
        size_t unread; /* bytes received of each socket's clients, and not yet read as messages */
};

/* `given`: the budget in bytes; 0 or UNKNOWN_U64: none. `mark`: messages that a subscriber's queue may hold. */
struct client_memory client_memory_of(uint64_t given, unsigned mark);

#endif
