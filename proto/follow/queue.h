/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.h - updates in order, each owned by the queue that holds it; also the events a subscriber delivers. */
#ifndef HW_PROTO_FOLLOW_QUEUE_H
#define HW_PROTO_FOLLOW_QUEUE_H

#include "heapwatch/subscriber.h"

struct queue_item {
        struct queue_item *next;
        enum hw_subscriber_event event;
        Hw__Update *update; /* NULL for events without one */
        size_t bytes;       /* of the message as it was sent */
};

struct queue {
        struct queue_item *first, **last; /* `last` is NULL when empty */
        size_t count, bytes;
};

/* Appends; takes `update` in any case. Returns 0 or -ENOMEM. */
int queue_push(struct queue *q, enum hw_subscriber_event event, Hw__Update *update, size_t bytes);

/* Removes the first, for queue_item_free; NULL when empty. */
struct queue_item *queue_pop(struct queue *q);

void queue_item_free(struct queue_item *item);
void queue_clear(struct queue *q);

#endif
