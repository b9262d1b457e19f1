/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/follow/clone.h"

#include <errno.h>
#include <stdlib.h>

int queue_push(struct queue *q, enum hw_subscriber_event event, Hw__Update *update, size_t bytes)
{
        struct queue_item *item = malloc(sizeof(*item));

        if (!item) {
                hw_update_unref(update);
                return -ENOMEM;
        }
        *item = (struct queue_item){ .event = event, .update = update, .bytes = bytes };
        if (q->last)
                *q->last = item;
        else
                q->first = item;
        q->last = &item->next;
        q->count++;
        q->bytes += bytes;
        return 0;
}

struct queue_item *queue_pop(struct queue *q)
{
        struct queue_item *item = q->first;

        if (!item)
                return NULL;
        q->first = item->next;
        if (!q->first)
                q->last = NULL;
        q->count--;
        q->bytes -= item->bytes;
        item->next = NULL;
        return item;
}

void queue_item_free(struct queue_item *item)
{
        if (!item)
                return;
        hw_update_unref(item->update);
        free(item);
}

void queue_clear(struct queue *q)
{
        for (struct queue_item *item; (item = queue_pop(q));)
                queue_item_free(item);
}
