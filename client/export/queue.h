/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.h - batches that wait for one receiver, oldest first, bounded in bytes and in age. Knows no clock. */
#ifndef HW_CLIENT_EXPORT_QUEUE_H
#define HW_CLIENT_EXPORT_QUEUE_H

#include "client/export/batcher.h"

struct queued {
        struct queued *next;
        struct batch batch;
};

struct send_queue {
        struct queued *first, **last;
        uint64_t bytes, samples;
};

void queue_init(struct send_queue *q);
void queue_done(struct send_queue *q);

/* Takes over the bytes. False: out of memory, they are freed. */
bool queue_add(struct send_queue *q, struct batch *batch);

/* Whether to drop the oldest: more than `most_bytes` wait, or it was collected before `since_wall_ns`. */
bool queue_overdue(const struct send_queue *q, uint64_t most_bytes, uint64_t since_wall_ns);

/* NULL: it is empty. */
const struct batch *queue_oldest(const struct send_queue *q);
void queue_drop(struct send_queue *q);

#endif
