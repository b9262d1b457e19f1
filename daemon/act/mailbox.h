/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mailbox.h - messages from one thread to another thread's event loop.
 *
 * Bounded; posting never waits for the receiver (a lock is held for a few
 * instructions by either side). Messages come out in order, in the receiver's loop.
 */
#ifndef HW_DAEMON_ACT_MAILBOX_H
#define HW_DAEMON_ACT_MAILBOX_H

#include <stddef.h>

struct event_base;
struct mailbox;

struct mailbox_options {
        struct event_base *base;                   /* of the receiver */
        size_t capacity;                           /* messages that may wait */
        void (*receive)(void *ctx, void *message); /* takes the message */
        void (*discard)(void *message);            /* frees one that is never received */
        void *ctx;
};

/* NULL when memory or descriptors are short. */
struct mailbox *mailbox_new(const struct mailbox_options *options);

/* When nobody posts any more, by the receiver's thread (or when its loop has ended). */
void mailbox_destroy(struct mailbox **m);

/* Takes the message. Returns 0; or -ENOBUFS, and the message stays the caller's. Any thread. */
int mailbox_post(struct mailbox *m, void *message);

#endif
