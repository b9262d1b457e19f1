/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/out/export/delivery.h"

#include <stdlib.h>

void queue_init(struct send_queue *q)
{
        *q = (struct send_queue){ .last = &q->first };
}

void queue_done(struct send_queue *q)
{
        while (q->first)
                queue_drop(q);
}

bool queue_add(struct send_queue *q, struct batch *batch)
{
        struct queued *e = malloc(sizeof(*e));

        if (!e) {
                free(batch->bytes);
                return false;
        }
        *e = (struct queued){ .batch = *batch };
        *q->last = e;
        q->last = &e->next;
        q->bytes += batch->size;
        q->samples += batch->samples;
        return true;
}

bool queue_overdue(const struct send_queue *q, uint64_t most_bytes, uint64_t since_wall_ns)
{
        return q->first && (q->bytes > most_bytes || q->first->batch.wall_ns < since_wall_ns);
}

const struct batch *queue_oldest(const struct send_queue *q)
{
        return q->first ? &q->first->batch : NULL;
}

void queue_drop(struct send_queue *q)
{
        struct queued *e = q->first;

        q->first = e->next;
        if (!q->first)
                q->last = &q->first;
        q->bytes -= e->batch.size;
        q->samples -= e->batch.samples;
        free(e->batch.bytes);
        free(e);
}
